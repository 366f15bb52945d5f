"""Some of what cuda_bench measures, by CuPy: lines "NAME <tab> NANOSECONDS".

Usage: cupy_peer.py [--smoke]
"""

import cupy

from clock import SMOKE, Clock, report

SIDE, SORTED = (64, 512) if SMOKE else (8192, 16 << 20)
clock = Clock(cupy.cuda.Device(0).synchronize, cupy.cuda.Event,
              cupy.cuda.get_elapsed_time)
host_time, device_time = clock.host_time, clock.device_time


def main():
    one = cupy.ones(1, dtype=cupy.float32)
    report("submit_add", host_time(lambda: one + one))
    report("submit_sum", host_time(one.sum))
    report("empty", host_time(lambda: cupy.empty(1, dtype=cupy.float32)))
    x, y = (cupy.random.rand(SIDE, SIDE, dtype=cupy.float32)
            for _ in range(2))
    report("add_f32", device_time(lambda: x + y))
    report("mul_f32", device_time(lambda: x * y))
    report("sum_all_f32", device_time(x.sum))
    report("sum_dim0_f32", device_time(lambda: x.sum(0)))
    report("sum_dim1_f32", device_time(lambda: x.sum(1)))
    report("argmax_f32", device_time(lambda: x.argmax(1)))
    report("add_transposed_f32", device_time(lambda: x + y.T))
    keys = cupy.random.rand(SORTED, dtype=cupy.float32)
    # Indices, too, as ours gives.
    report("sort_f32", device_time(lambda: keys[cupy.argsort(keys)]))
    flat = x.ravel()
    report("cumsum_f32", device_time(lambda: cupy.cumsum(flat)))


if __name__ == "__main__":
    main()
