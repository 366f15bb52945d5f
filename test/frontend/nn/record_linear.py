"""Records linear layers for linear_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("linear.safetensors")
r.module("Linear", nn.Linear(4, 3), r.randn(5, 4))
r.module("Linear_no_bias", nn.Linear(4, 3, bias=False), r.randn(2, 3, 4))
r.module("Linear_vector", nn.Linear(4, 3), r.randn(4))
r.module("Bilinear", nn.Bilinear(2, 3, 4), r.randn(5, 2), r.randn(5, 3))
r.module("Bilinear_no_bias", nn.Bilinear(2, 3, 2, bias=False),
         r.randn(2, 2), r.randn(2, 3))
r.module("Identity", nn.Identity(), r.randn(2, 3))
r.module("Flatten", nn.Flatten(), r.randn(2, 3, 2))
r.module("Flatten_dims", nn.Flatten(0, 1), r.randn(2, 3, 2))
r.module("Unflatten", nn.Unflatten(1, (2, -1)), r.randn(2, 6))
r.function("linear", F.linear, r.randn(2, 4), r.randn(3, 4))
r.function("linear_bias", F.linear, r.randn(2, 4), r.randn(3, 4), r.randn(3))
r.function("bilinear", F.bilinear, r.randn(2, 2), r.randn(2, 3),
           r.randn(4, 2, 3))
r.function("bilinear_bias", F.bilinear, r.randn(2, 2), r.randn(2, 3),
           r.randn(4, 2, 3), r.randn(4))
r.write()
