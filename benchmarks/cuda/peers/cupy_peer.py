"""Some of what cuda_bench measures, by CuPy: lines "NAME <tab> NANOSECONDS".

Usage: cupy_peer.py [--smoke]
"""

import statistics
import sys
import time

import cupy

SMOKE = "--smoke" in sys.argv
SIDE, SORTED = (64, 512) if SMOKE else (8192, 16 << 20)
wait = cupy.cuda.Device(0).synchronize


def report(name, nanoseconds):
    print(f"{name}\t{nanoseconds:.1f}", flush=True)


def host_time(f):
    calls, batches = (5, 2) if SMOKE else (400, 30)
    times = []
    for _ in range(batches + 1):
        wait()
        begin = time.perf_counter_ns()
        for _ in range(calls):
            f()
        times.append((time.perf_counter_ns() - begin) / calls)
    wait()
    return statistics.median(times[1:])


def device_time(f):
    turns, calls = (1, 1) if SMOKE else (9, 5)
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    for _ in range(3):
        f()
    times = []
    for _ in range(turns):
        wait()
        begin.record()
        for _ in range(calls):
            f()
        end.record()
        wait()
        times.append(cupy.cuda.get_elapsed_time(begin, end) * 1e6 / calls)
    return statistics.median(times)


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
