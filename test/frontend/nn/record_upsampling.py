"""Records interpolations for upsampling_test.cpp."""

import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("upsampling.safetensors")
sizes = {3: (1, 2, 3), 4: (1, 1, 2, 3), 5: (1, 1, 2, 1, 3)}
targets = {3: (5,), 4: (3, 5), 5: (3, 2, 4)}
scales = {3: (1.7,), 4: (1.7, 2.4), 5: (1.7, 2.0, 1.4)}
modes = [("nearest", d) for d in (3, 4, 5)]
modes += [("nearest-exact", d) for d in (3, 4, 5)]
modes += [("area", d) for d in (3, 4, 5)]
modes += [("linear", 3), ("bilinear", 4), ("bicubic", 4), ("trilinear", 5)]
for mode, d in modes:
    name = f"{mode}_{d}"
    r.function(f"{name}_size",
               lambda x: F.interpolate(x, size=targets[d], mode=mode),
               r.randn(*sizes[d]))
    r.function(f"{name}_scale",
               lambda x: F.interpolate(x, scale_factor=scales[d], mode=mode),
               r.randn(*sizes[d]))
    if "linear" in mode or mode == "bicubic":
        r.function(f"{name}_corners",
                   lambda x: F.interpolate(x, size=targets[d], mode=mode,
                                           align_corners=True),
                   r.randn(*sizes[d]))
for mode in ("bilinear", "bicubic"):
    r.function(f"{mode}_antialias",
               lambda x: F.interpolate(x, size=(2, 3), mode=mode,
                                       antialias=True), r.randn(1, 1, 5, 4))
r.function("recompute",
           lambda x: F.interpolate(x, scale_factor=(1.7, 2.4),
                                   mode="bilinear",
                                   recompute_scale_factor=True),
           r.randn(1, 1, 2, 3))
r.module("Upsample", nn.Upsample(scale_factor=2.0), r.randn(1, 1, 2, 3))
r.module("Upsample_options",
         nn.Upsample(size=(3, 5), mode="bilinear", align_corners=True),
         r.randn(1, 1, 2, 3))
r.write()
