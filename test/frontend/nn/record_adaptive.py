"""Records the adaptive softmax for adaptive_test.cpp."""

import torch
from torch import nn

from record_lib import Recorder

r = Recorder("adaptive.safetensors")
targets = torch.tensor([0, 6, 3, 1, 9, 4])
ASM = nn.AdaptiveLogSoftmaxWithLoss


def both(m, x, target):
    output, loss = m(x, target)
    return output.reshape(-1), loss.reshape(-1)


r.module("forward", ASM(8, 10, [2, 5], div_value=2.0), r.randn(6, 8), targets,
         call=both)
r.module("head_bias", ASM(8, 10, [4], head_bias=True), r.randn(6, 8), targets,
         call=both)
r.module("shortlist_alone", ASM(4, 4, [3]), r.randn(2, 4),
         torch.tensor([2, 0]), call=both)
r.module("vector", ASM(4, 4, [2]), r.randn(4), torch.tensor(3),
         call=both)
r.module("log_prob", ASM(8, 10, [2, 5], div_value=2.0), r.randn(3, 8),
         call=lambda m, x: m.log_prob(x))
r.module("predict", ASM(8, 10, [2, 5], div_value=2.0), r.randn(12, 8),
         call=lambda m, x: m.predict(x))
r.write()
