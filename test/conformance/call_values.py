"""Calls to record, and the tensors that they are made of."""

import zlib

import torch

f16, f32, f64 = torch.float16, torch.float32, torch.float64
bf16, i32, i64 = torch.bfloat16, torch.int32, torch.int64
inf, nan = float("inf"), float("nan")


class Call:
    def __init__(self, args, kwargs, grad, tolerance, any_values):
        self.args = args
        self.kwargs = kwargs
        self.grad = grad                # record it if there is one
        self.tolerance = tolerance      # times what is usual for the dtype
        self.any_values = any_values    # results have sizes, no known values


def t(*sizes, dtype=f32, low=-2.0, high=2.0, seed=0):
    """A tensor of numbers that depend on nothing but the arguments."""
    text = f"{sizes} {dtype} {low} {high} {seed}"
    g = torch.Generator().manual_seed(zlib.crc32(text.encode()))
    if dtype.is_floating_point:
        values = torch.rand(sizes, generator=g, dtype=f64)
        return (low + (high - low) * values).to(dtype)
    if dtype is torch.bool:
        return torch.rand(sizes, generator=g) < 0.5
    return torch.randint(int(low), int(high) + 1, sizes, generator=g).to(dtype)


def d(*sizes, **options):
    return t(*sizes, dtype=f64, **options)


def ints(*sizes, low=0, high=9, seed=0):
    return t(*sizes, dtype=i64, low=low, high=high, seed=seed)


def numbers(values, dtype=f32):
    return torch.tensor(values, dtype=dtype)


def empty(dtype=f32):
    return torch.empty(0, dtype=dtype)


def call(name, *args, grad=True, tolerance=1, any_values=False, **kwargs):
    return name, Call(args, kwargs, grad, tolerance, any_values)


def strided(x):
    """The same values, every other element of its storage."""
    out = torch.zeros(*x.shape[:-1], 2 * x.shape[-1], dtype=x.dtype)[..., ::2]
    return out.copy_(x)
