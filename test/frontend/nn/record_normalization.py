"""Records normalizations for normalization_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("normalization.safetensors")
r.module("LayerNorm", nn.LayerNorm(4), r.randn(3, 4))
r.module("LayerNorm_options",
         nn.LayerNorm((2, 3), eps=0.5, elementwise_affine=False),
         r.randn(2, 2, 3))
r.module("LayerNorm_shape", nn.LayerNorm((2, 2)), r.randn(2, 2, 2))
r.module("RMSNorm", nn.RMSNorm(4), r.randn(3, 4) * 1e-4)
r.module("RMSNorm_options",
         nn.RMSNorm((2, 3), eps=0.5, elementwise_affine=False),
         r.randn(2, 2, 3))
r.module("GroupNorm", nn.GroupNorm(2, 4), r.randn(2, 4, 3))
r.module("GroupNorm_options", nn.GroupNorm(3, 6, eps=0.5, affine=False),
         r.randn(1, 6, 2, 1))
r.module("LocalResponseNorm", nn.LocalResponseNorm(2), r.randn(1, 4, 3) * 10)
r.module("LocalResponseNorm_options",
         nn.LocalResponseNorm(3, alpha=0.5, beta=0.25, k=2.0),
         r.randn(2, 4, 2, 2))
r.module("LocalResponseNorm_5d", nn.LocalResponseNorm(3, alpha=0.5),
         r.randn(1, 4, 1, 2, 2))


def cross_map(size, alpha=1e-4, beta=0.75, k=1):
    """The formula of CrossMapLRN2d, whose own gradient is another one."""
    def f(x):
        reach = (size - 1) // 2
        squares, sums = x * x, []
        for c in range(x.shape[1]):
            near = range(max(0, c - reach), min(c + reach + 1, x.shape[1]))
            s = sum(squares[:, i] for i in near)
            sums.append(s + squares[:, 0] if c > reach else s)
        y = x * (k + alpha / size * torch.stack(sums, 1)).pow(-beta)
        theirs = nn.CrossMapLRN2d(size, alpha, beta, k)(x)
        assert torch.allclose(y, theirs, rtol=1e-6)
        return y
    return f


r.function("CrossMapLRN2d", cross_map(3), r.randn(2, 4, 2, 1) * 10)
r.function("CrossMapLRN2d_options", cross_map(4, alpha=0.5, beta=0.25, k=2),
           r.randn(1, 5, 1, 2))
r.function("CrossMapLRN2d_one", cross_map(5, alpha=0.5), r.randn(1, 2, 1, 2))

r.function("layer_norm", lambda x: F.layer_norm(x, (3,)), r.randn(2, 3))
r.function("layer_norm_options",
           lambda x, w, b: F.layer_norm(x, (2, 2), w, b, 0.5),
           r.randn(2, 2, 2), r.randn(2, 2), r.randn(2, 2))
r.function("rms_norm", lambda x: F.rms_norm(x, (3,)), r.randn(2, 3))
r.function("rms_norm_options",
           lambda x, w: F.rms_norm(x, (2, 2), w, 0.5),
           r.randn(2, 2, 2), r.randn(2, 2))
r.function("group_norm", lambda x: F.group_norm(x, 2), r.randn(2, 4, 2))
r.function("group_norm_options",
           lambda x, w, b: F.group_norm(x, 2, w, b, 0.5),
           r.randn(1, 4, 2), r.randn(4), r.randn(4))
r.function("local_response_norm",
           lambda x: F.local_response_norm(x, 3, 0.5, 0.25, 2.0),
           r.randn(1, 4, 2))
r.function("normalize", F.normalize, r.randn(2, 3))
r.function("normalize_options",
           lambda x: F.normalize(x, p=3.0, dim=0, eps=1.5), r.randn(2, 3))
r.module("LayerNorm_no_bias", nn.LayerNorm((2, 2), eps=0.5, bias=False),
         r.randn(3, 2, 2))
r.write()
