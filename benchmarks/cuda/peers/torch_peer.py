"""Measures as cuda_bench does, by PyTorch: lines "NAME <tab> NANOSECONDS".

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


def products():
    sizes = [16, 64] if SMOKE else [64, 256, 512, 1024, 2048, 4096, 8192]
    a, b = (torch.rand(64, 64, device=DEVICE) for _ in range(2))
    report("submit_mm_64", host_time(lambda: torch.mm(a, b)))
    for name, dtype in {"f32": torch.float32, "tf32": torch.float32,
                        "f16": torch.float16, "bf16": torch.bfloat16}.items():
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        for n in sizes:
            a, b = (torch.rand(n, n, device=DEVICE).to(dtype)
                    for _ in range(2))
            report(f"mm_{name}_{n}", device_time(lambda: torch.mm(a, b)))


# Channels, kernel, stride and size of the layers of convolutions.cpp.
LAYERS = [
    (3, 64, 7, 2, 224), (64, 64, 1, 1, 56), (64, 64, 3, 1, 56),
    (64, 256, 1, 1, 56), (256, 64, 1, 1, 56), (256, 128, 1, 1, 56),
    (128, 128, 3, 2, 56), (128, 512, 1, 1, 28), (256, 512, 1, 2, 56),
    (512, 128, 1, 1, 28), (128, 128, 3, 1, 28), (512, 256, 1, 1, 28),
    (256, 256, 3, 2, 28), (256, 1024, 1, 1, 14), (512, 1024, 1, 2, 28),
    (1024, 256, 1, 1, 14), (256, 256, 3, 1, 14), (1024, 512, 1, 1, 14),
    (512, 512, 3, 2, 14), (512, 2048, 1, 1, 7), (1024, 2048, 1, 2, 14),
    (2048, 512, 1, 1, 7), (512, 512, 3, 1, 7)]


def layer(a, b, kernel, stride, size, dtype):
    images, side = (1, 8) if SMOKE else (32, size)
    last = dtype == torch.bfloat16

    def random(*sizes):
        t = (torch.rand(*sizes, device=DEVICE) - 0.5).to(dtype)
        return t.to(memory_format=torch.channels_last) if last else t

    x, w = random(images, a, side, side), random(b, a, kernel, kernel)

    def forward():
        return F.conv2d(x, w, None, stride, kernel // 2)

    g = random(*forward().shape)

    def backward(by_x):
        return lambda: torch.ops.aten.convolution_backward(
            g, x, w, None, [stride] * 2, [kernel // 2] * 2, [1, 1], False,
            [0, 0], 1, [by_x, not by_x, False])

    step = "" if stride == 1 else f"s{stride}"
    name = (f"conv_{a}_{b}_{kernel}x{kernel}{step}_{size}_"
            f"{'bf16' if last else 'f32'}")
    report(name + "_fwd", device_time(forward))
    report(name + "_dgrad", device_time(backward(True)))
    report(name + "_wgrad", device_time(backward(False)))


def convolutions():
    torch.backends.cudnn.allow_tf32 = False
    for dtype in (torch.bfloat16, torch.float32):
        for shape in LAYERS:
            if not SMOKE or shape[0] < 128:
                layer(*shape, dtype)


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before = torch.nn.LayerNorm(width)
        self.into = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.between = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.into(self.before(x)).view(
            n, length, 3, width // 64, 64).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        y = x + self.out(a.transpose(1, 2).reshape(n, length, width))
        return y + self.down(F.gelu(self.up(self.between(y))))


def train(name, model, x, y):
    model.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, momentum=0.9)

    def step():
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    report(name, clock.step_time(step))


def train_transformer(name, batch, length, width, blocks):
    model = torch.nn.Sequential(*(Block(width) for _ in range(blocks)),
                                torch.nn.Linear(width, 64),
                                torch.nn.Flatten(0, 1))
    train(name, model, torch.randn(batch, length, width, device=DEVICE),
          torch.randint(64, (batch * length,), device=DEVICE))


def steps():
    nn = torch.nn
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if SMOKE:
        train_transformer("step_transformer_256", 1, 4, 64, 1)
    else:
        train_transformer("step_transformer_256", 8, 128, 256, 4)
        train_transformer("step_transformer_1024", 16, 512, 1024, 4)
    images, side = (1, 8) if SMOKE else (32, 32)
    layers = []
    for i, (a, b) in enumerate([(3, 32), (32, 64), (64, 128)]):
        layers += [nn.Conv2d(a, b, 3, padding=1, bias=False),
                   nn.BatchNorm2d(b), nn.ReLU()]
        layers += [nn.MaxPool2d(2)] if i < 2 else [nn.AdaptiveAvgPool2d(1)]
    train("step_convnet",
          nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 10)),
          torch.randn(images, 3, side, side, device=DEVICE),
          torch.randint(10, (images,), device=DEVICE))


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
    products()
    convolutions()
    with torch.enable_grad():
        steps()


if __name__ == "__main__":
    with torch.no_grad():
        main()
