"""Records paddings for padding_test.cpp."""

import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("padding.safetensors")
inputs = {1: (1, 2, 4), 2: (1, 1, 3, 4), 3: (1, 1, 2, 3, 4)}
pads = {1: (1, 2), 2: (2, 0, 1, -1), 3: (3, 1, 2, 0, 1, 0)}
for d in (1, 2, 3):
    for kind in ("Reflection", "Replication", "Circular", "Zero"):
        name = f"{kind}Pad{d}d"
        r.module(name, getattr(nn, name)(pads[d]), r.randn(*inputs[d]))
    r.module(f"ConstantPad{d}d",
             getattr(nn, f"ConstantPad{d}d")(pads[d], 3.5),
             r.randn(*inputs[d]))
r.module("ReflectionPad2d_one", nn.ReflectionPad2d(1), r.randn(1, 2, 3))
r.function("pad", lambda x: F.pad(x, (1, 2, 0, 1)), r.randn(2, 3))
r.function("pad_value", lambda x: F.pad(x, (1, -1), value=2.5), r.randn(2, 3))
for mode in ("reflect", "replicate", "circular"):
    r.function(f"pad_{mode}", lambda x: F.pad(x, (1, 2), mode=mode),
               r.randn(1, 2, 3))
r.write()
