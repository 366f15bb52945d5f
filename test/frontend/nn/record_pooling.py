"""Records pools for pooling_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("pooling.safetensors")
inputs = {1: (2, 8), 2: (1, 2, 6, 4), 3: (1, 1, 3, 4, 5)}
kernels = {1: 3, 2: (3, 2), 3: (2, 3, 2)}
strides = {1: 2, 2: (2, 1), 3: (1, 2, 2)}
pads = {1: 1, 2: (1, 0), 3: (0, 1, 1)}
targets = {1: 3, 2: (None, 3), 3: (2, None, 3)}


def x(d):
    return r.randn(*inputs[d])


for d in (1, 2, 3):
    avg, largest = getattr(nn, f"AvgPool{d}d"), getattr(nn, f"MaxPool{d}d")
    r.module(f"AvgPool{d}d", avg(2), x(d))
    r.module(f"AvgPool{d}d_options",
             avg(kernels[d], strides[d], pads[d], ceil_mode=True,
                 count_include_pad=False), x(d))
    if d > 1:
        r.module(f"AvgPool{d}d_divisor",
                 avg(2, padding=1, divisor_override=5), x(d))
    r.module(f"MaxPool{d}d", largest(2), x(d))
    dilations = {1: 2, 2: (2, 1), 3: (1, 1, 2)}
    full = dict(kernel_size=kernels[d], stride=strides[d], padding=pads[d],
                dilation=dilations[d], ceil_mode=True)
    r.module(f"MaxPool{d}d_options", largest(**full), x(d))
    r.module(f"MaxPool{d}d_indices", largest(return_indices=True, **full),
             x(d))
    r.module(f"AdaptiveAvgPool{d}d",
             getattr(nn, f"AdaptiveAvgPool{d}d")(targets[d]), x(d))
    adaptive = getattr(nn, f"AdaptiveMaxPool{d}d")
    r.module(f"AdaptiveMaxPool{d}d", adaptive(targets[d]), x(d))
    r.module(f"AdaptiveMaxPool{d}d_indices",
             adaptive(2, return_indices=True), x(d))
    r.module(f"LPPool{d}d", getattr(nn, f"LPPool{d}d")(2.0, 2), x(d))
    r.module(f"LPPool{d}d_options",
             getattr(nn, f"LPPool{d}d")(3.0, kernels[d], strides[d],
                                        ceil_mode=True), x(d).abs())

    unpool, pool = (getattr(nn, f"MaxUnpool{d}d"),
                    getattr(F, f"max_pool{d}d_with_indices"))
    even = {1: (2, 6), 2: (1, 2, 4, 2), 3: (1, 1, 2, 2, 4)}[d]
    r.module(f"MaxUnpool{d}d", unpool(2), *pool(r.randn(*even), 2))
    y, places = pool(x(d), 2)
    z = torch.zeros(inputs[d])
    r.module(f"MaxUnpool{d}d_size", unpool(2), y, places,
             call=lambda m, y, p: m(y, p, output_size=z.shape[-d:]))
    if d > 1:
        y, places = pool(x(d), kernels[d], strides[d], pads[d])
        r.module(f"MaxUnpool{d}d_options",
                 unpool(kernels[d], strides[d], pads[d]), y, places,
                 call=lambda m, y, p: m(y, p, output_size=list(z.shape)))

y, places = F.max_pool1d_with_indices(r.randn(2, 7), 3, 2, 1)
r.module("MaxUnpool1d_options", nn.MaxUnpool1d(3, 2, 1), y, places)
# F.avg_pool1d has no divisor; that of two dimensions does the same.
r.function("AvgPool1d_divisor",
           lambda x: F.avg_pool2d(x.unsqueeze(-2), (1, 3), (1, 2), (0, 1),
                                  ceil_mode=True, count_include_pad=False,
                                  divisor_override=5).squeeze(-2), x(1))

for d in (2, 3):
    pool = getattr(nn, f"FractionalMaxPool{d}d")
    samples = torch.rand(1, inputs[d][1], d, generator=r.random)
    size = {2: (3, 2), 3: (1, 2, 3)}[d]
    ratio = {2: (0.7, 0.5), 3: (0.7, 0.6, 0.5)}[d]
    r.module(f"FractionalMaxPool{d}d_size",
             pool(2, output_size=size, _random_samples=samples), x(d))
    r.module(f"FractionalMaxPool{d}d_ratio",
             pool({2: (2, 1), 3: (1, 2, 2)}[d], output_ratio=ratio,
                  return_indices=True, _random_samples=samples), x(d)[0])
r.write()
