"""Records instance norms for instancenorm_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("instancenorm.safetensors")


def with_statistics(m):
    """Running statistics that are not those of a new module."""
    if m.running_mean is not None:
        m.running_mean.copy_(r.randn(*m.running_mean.shape))
        m.running_var.copy_(r.randn(*m.running_var.shape).abs() + 0.5)
    return m


for mode in ("train", "eval"):
    def module(name, m, x):
        r.module(f"{name}_{mode}", with_statistics(m).train(mode == "train"), x)

    module("InstanceNorm1d", nn.InstanceNorm1d(2), r.randn(2, 2, 3))
    module("InstanceNorm1d_affine", nn.InstanceNorm1d(2, affine=True, eps=0.5),
           r.randn(2, 3))
    module("InstanceNorm2d", nn.InstanceNorm2d(2), r.randn(2, 2, 2, 2))
    module("InstanceNorm2d_tracked",
           nn.InstanceNorm2d(2, momentum=0.25, track_running_stats=True),
           r.randn(2, 2, 2, 2))
    module("InstanceNorm3d",
           nn.InstanceNorm3d(2, affine=True, track_running_stats=True),
           r.randn(2, 1, 2, 2))

r.function("instance_norm", F.instance_norm, r.randn(2, 2, 3))


def running(x, m, v, w, b):
    return F.instance_norm(x, m.detach(), v.detach().abs(), w, b,
                           use_input_stats=False, eps=0.5)


def update(x, m, v):
    m, v = m.detach().clone(), v.detach().abs()
    y = F.instance_norm(x, m, v, use_input_stats=True, momentum=0.25)
    return y, m, v


r.function("instance_norm_running", running, r.randn(2, 2, 2), r.randn(2),
           r.randn(2), r.randn(2), r.randn(2))
r.function("instance_norm_update", update, r.randn(2, 2, 3), r.randn(2),
           r.randn(2))
r.write()
