"""Records shuffles for pixelshuffle_test.cpp."""

import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("pixelshuffle.safetensors")
r.module("PixelShuffle", nn.PixelShuffle(2), r.randn(1, 8, 1, 2))
r.module("PixelUnshuffle", nn.PixelUnshuffle(2), r.randn(2, 2, 4))
r.module("ChannelShuffle", nn.ChannelShuffle(3), r.randn(2, 6, 2))
r.function("pixel_shuffle", lambda x: F.pixel_shuffle(x, 3), r.randn(9, 1, 2))
r.function("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 3),
           r.randn(1, 1, 3, 3))
r.function("channel_shuffle", lambda x: F.channel_shuffle(x, 2),
           r.randn(1, 4, 2))
r.write()
