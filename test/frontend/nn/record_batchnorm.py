"""Records batch norms for batchnorm_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("batchnorm.safetensors")


def with_statistics(m):
    """Running statistics that are not those of a new module."""
    if m.running_mean is not None:
        m.running_mean.copy_(r.randn(*m.running_mean.shape))
        m.running_var.copy_(r.randn(*m.running_var.shape).abs() + 0.5)
        m.num_batches_tracked.fill_(3)
    return m


for mode in ("train", "eval"):
    def module(name, m, x):
        r.module(f"{name}_{mode}", with_statistics(m).train(mode == "train"), x)

    module("BatchNorm1d", nn.BatchNorm1d(3), r.randn(4, 3))
    module("BatchNorm1d_3d", nn.BatchNorm1d(2), r.randn(2, 2, 3))
    module("BatchNorm2d", nn.BatchNorm2d(2), r.randn(2, 2, 2, 3))
    module("BatchNorm2d_options",
           nn.BatchNorm2d(2, eps=0.5, momentum=0.25, affine=False),
           r.randn(2, 2, 2, 1))
    module("BatchNorm2d_cumulative", nn.BatchNorm2d(2, momentum=None),
           r.randn(2, 2, 2, 1))
    module("BatchNorm2d_untracked",
           nn.BatchNorm2d(2, track_running_stats=False), r.randn(2, 2, 2, 1))
    module("BatchNorm3d", nn.BatchNorm3d(2), r.randn(2, 2, 1, 2, 2))

m = nn.BatchNorm1d(2)
r.module("BatchNorm1d_twice", m, r.randn(3, 2), r.randn(3, 2),
         call=lambda m, x, y: [m(x), m(y)])
r.function("batch_norm",
           lambda x, m, v: F.batch_norm(x, m.detach(), v.detach().abs()),
           r.randn(2, 3), r.randn(3), r.randn(3))


def train(x, m, v, w, b):
    m, v = m.detach().clone(), v.detach().abs()
    y = F.batch_norm(x, m, v, w, b, training=True, momentum=0.25, eps=0.5)
    return y, m, v


r.function("batch_norm_options", train, r.randn(3, 2), r.randn(2), r.randn(2),
           r.randn(2), r.randn(2))
r.write()
