"""Calls torchvision's operators with random arguments and records what comes.

    python record_ops.py ops.safetensors 20 1       # 20 calls each, seed 1

A few calls are in the tree; compare many by hand:

    python record_ops.py many.safetensors 1000 7
    build/ops_test build/libvision_ops.so many.safetensors

Arguments of case K are tensors "K.i" and words in the metadata: t for a tensor
(T with a gradient), f a float, i an int, b a bool. Results are "K.out.i", the
gradients of a fixed weighing of the floating results "K.grad.i".
"""

import random
import sys

import torch
import torchvision  # defines the operators
from safetensors.torch import save_file

tensors, metadata = {}, {}


def weights(t):
    """The gradient of a result; ops_test.cpp has the same."""
    i = torch.arange(t.numel(), dtype=torch.float64)
    return (((i * 37) % 11 - 5) / 4).reshape(t.shape).to(t.dtype)


def record(name, args, with_grad):
    """One call. `with_grad` has the places of arguments with a gradient."""
    key = str(len(metadata))
    half = any(torch.is_tensor(a) and a.dtype == torch.float16 for a in args)
    words, live = [name], []
    for i, a in enumerate(args):
        if torch.is_tensor(a):
            tensors[f"{key}.{i}"] = a.contiguous().clone()
            words.append("T" if i in with_grad else "t")
            # torchvision rounds each step to 16 bits; the record has the result
            # of float32 on the same arguments.
            a = a.float() if half else a.clone()
            a.requires_grad_(i in with_grad)
        else:
            words.append({float: "f", int: "i", bool: "b"}[type(a)] + repr(
                int(a) if isinstance(a, bool) else a))
        live.append(a)
    out = getattr(torch.ops.torchvision, name)(*live)
    out = out if isinstance(out, tuple) else (out,)
    if with_grad:
        total = sum((o * weights(o)).sum() for o in out if o.requires_grad)
        wanted = [live[i] for i in with_grad]
        for i, g in zip(with_grad, torch.autograd.grad(total, wanted)):
            tensors[f"{key}.grad.{i}"] = (g.half() if half else g).contiguous()
    for i, o in enumerate(out):
        o = o.detach()
        tensors[f"{key}.out.{i}"] = (
            o.half() if half and o.is_floating_point() else o).contiguous()
    metadata[key] = " ".join(words)


def dtype():
    return random.choice([torch.float32, torch.float32, torch.float64])


def numbers(sizes, d):
    # Sixteenths: short in a file, and without ties at the edges of bins.
    return (torch.randn(sizes) * 64).round().div(16).to(d)


def rois(images, size, d):
    rows = []
    for _ in range(random.choice([0, 1, 2, 3, 5])):
        kind = random.random()
        x, y = (random.uniform(-2, size) for _ in range(2))
        w, h = (random.uniform(0.1, size) for _ in range(2))
        if kind < 0.1:
            w = 0
        elif kind < 0.2:
            w, h = 0, 0
        elif kind < 0.3:  # inside out
            w, h = -w, -h / 3
        elif kind < 0.4:  # outside
            x += 2 * size
        elif kind < 0.5:  # much larger
            x, y, w, h = -20 * size, -3 * size, 50 * size, 20 * size
        elif kind < 0.6:
            x, y, w, h = map(round, (x, y, w, h))
        rows.append([random.randrange(images), x, y, x + w, y + h])
    return torch.tensor(rows, dtype=d).reshape(-1, 5)


def roi_case(name, d, position_sensitive, ratio, aligned):
    ph, pw = random.randint(1, 3), random.randint(1, 3)
    images = random.randint(1, 2)
    channels = random.randint(1, 2) * (ph * pw if position_sensitive else 1)
    h, w = random.randint(1, 9), random.randint(1, 9)
    scale = random.choice([1.0, 0.5, 0.3, 0.25])
    args = [numbers((images, channels, h, w), d),
            rois(images, max(h, w) / scale, d), scale, ph, pw]
    if ratio:
        args.append(random.choice([-1, 0, 0, 1, 2, 3]))
    if aligned:
        args.append(random.random() < 0.5)
    record(name, args, [0])


def nms_case(d):
    n = random.choice([0, 1, 2, 5, 12, 25])
    corner = torch.rand(n, 2, dtype=d) * 10
    size = torch.rand(n, 2, dtype=d) * 6
    size[torch.rand(n) < 0.15] = 0
    boxes = torch.cat([corner, corner + size], 1)
    boxes = torch.where(torch.rand(n, 1) < 0.3, boxes.round(), boxes)
    if n > 1:
        boxes[random.randrange(n)] = boxes[random.randrange(n)]
    scores = (torch.rand(n, dtype=d) * 20).round() / 20  # with ties
    threshold = random.choice([0.0, 0.1, 0.3, 0.5, 0.7, 1.0])
    record("nms", [boxes, scores, threshold], [])


def deform_case(d):
    groups, og = random.choice([1, 1, 2]), random.choice([1, 1, 2])
    images = random.choice([0, 1, 1, 2])
    cin, cout = 2 * random.randint(1, 2), groups * random.randint(1, 2)
    kh, kw = random.randint(1, 3), random.randint(1, 3)
    stride = [random.randint(1, 2) for _ in range(2)]
    pad = [random.randint(0, 2) for _ in range(2)]
    dil = [random.randint(1, 2) for _ in range(2)]
    h, w = random.randint(5, 7), random.randint(5, 7)
    oh = (h + 2 * pad[0] - dil[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (w + 2 * pad[1] - dil[1] * (kw - 1) - 1) // stride[1] + 1
    use_mask = random.random() < 0.5
    mask = (numbers((images, og * kh * kw, oh, ow), d) if use_mask
            else torch.zeros(images, 1, dtype=d))
    offset = numbers((images, 2 * og * kh * kw, oh, ow), d) / 2 + 1 / 128
    args = [numbers((images, cin, h, w), d),
            numbers((cout, cin // groups, kh, kw), d), offset, mask,
            numbers((cout,), d), *stride, *pad, *dil, groups, og, use_mask]
    record("deform_conv2d", args, [0, 1, 2, 4] + ([3] if use_mask else []))


def main():
    path, calls, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    random.seed(seed)
    torch.manual_seed(seed)
    for i in range(calls):
        d = torch.float16 if i % 10 == 9 else dtype()
        roi_case("roi_align", d, False, True, True)
        roi_case("roi_pool", d, False, False, False)
        roi_case("ps_roi_align", d, True, True, False)
        roi_case("ps_roi_pool", d, True, False, False)
        nms_case(dtype())
        deform_case(d)
    save_file(tensors, path, metadata)


if __name__ == "__main__":
    main()
