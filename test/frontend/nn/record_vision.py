"""Records vision functions for vision_test.cpp."""

import torch
import torch.nn.functional as F

from record_lib import Recorder

r = Recorder("vision.safetensors")
for corners in (False, True):
    name = "_corners" if corners else ""
    r.function(f"affine_grid{name}",
               lambda t: F.affine_grid(t, (2, 1, 2, 3), align_corners=corners),
               r.randn(2, 2, 3))
    r.function(f"affine_grid_3d{name}",
               lambda t: F.affine_grid(t, (1, 2, 2, 1, 3),
                                       align_corners=corners),
               r.randn(1, 3, 4))
r.function("grid_sample",
           lambda x, g: F.grid_sample(x, g, align_corners=False),
           r.randn(1, 2, 3, 4), r.randn(1, 2, 3, 2) * 0.8)
for mode in ("nearest", "bicubic"):
    r.function(f"grid_sample_{mode}",
               lambda x, g: F.grid_sample(x, g, mode=mode,
                                          align_corners=False),
               r.randn(1, 1, 3, 4), r.randn(1, 2, 3, 2) * 0.8)
for padding in ("border", "reflection"):
    r.function(f"grid_sample_{padding}",
               lambda x, g: F.grid_sample(x, g, padding_mode=padding,
                                          align_corners=True),
               r.randn(1, 1, 3, 4), r.randn(1, 2, 3, 2) * 1.5)
r.function("grid_sample_3d",
           lambda x, g: F.grid_sample(x, g, align_corners=False),
           r.randn(1, 1, 2, 3, 2), r.randn(1, 1, 2, 2, 3) * 0.8)
r.write()
