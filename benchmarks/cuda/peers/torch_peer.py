"""What cuda_bench measures, by PyTorch: lines "NAME <tab> NANOSECONDS".

Usage: torch_peer.py [--smoke]
"""

import torch
import torch.nn.functional as F

from clock import SMOKE, Clock, report

DEVICE = "cuda:0"
SIDE, ROWS, SORTED = (64, 8, 512) if SMOKE else (8192, 4096, 16 << 20)
COLUMNS = [32, 64] if SMOKE else [1024, 4096, 8192, 32768]
clock = Clock(torch.cuda.synchronize,
              lambda: torch.cuda.Event(enable_timing=True),
              lambda begin, end: begin.elapsed_time(end))
host_time, device_time = clock.host_time, clock.device_time


def on_host():
    x, y = torch.ones(1, device=DEVICE), torch.ones(1, device=DEVICE)
    report("submit_add", host_time(lambda: torch.add(x, y)))
    report("submit_add_", host_time(lambda: x.add_(y)))
    report("submit_sum", host_time(x.sum))
    report("empty", host_time(lambda: torch.empty(1, device=DEVICE)))


def elements(dtype, name):
    x, y = (torch.rand(SIDE, SIDE, device=DEVICE).to(dtype) for _ in range(2))
    for what, f in {
            "copy": None if name != "f32" else lambda: y.copy_(x),
            "add": lambda: x + y,
            "mul": lambda: x * y,
            "gelu": lambda: F.gelu(x),
            "sum_all": x.sum,
            "sum_dim0": lambda: x.sum(0),
            "sum_dim1": lambda: x.sum(1),
            "argmax": lambda: x.argmax(1),
            "add_transposed": lambda: x + y.t()}.items():
        if f is not None:
            report(what if what == "copy" else f"{what}_{name}",
                   device_time(f))


def rows(n):
    x = torch.rand(ROWS, n, device=DEVICE)
    weight, bias = (torch.rand(n, device=DEVICE) for _ in range(2))
    report(f"softmax_{n}", device_time(lambda: x.softmax(1)))
    report(f"layer_norm_{n}",
           device_time(lambda: F.layer_norm(x, (n,), weight, bias)))


def main():
    on_host()
    elements(torch.float32, "f32")
    elements(torch.bfloat16, "bf16")
    for n in COLUMNS:
        rows(n)
    keys = torch.rand(SORTED, device=DEVICE)
    report("sort_f32", device_time(lambda: keys.sort(0)))
    x = torch.rand(SIDE * SIDE, device=DEVICE)
    report("cumsum_f32", device_time(lambda: x.cumsum(0)))


if __name__ == "__main__":
    with torch.no_grad():
        main()
