"""Records convolutions for conv_test.cpp."""

import torch
import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("conv.safetensors")
r.module("Conv1d", nn.Conv1d(2, 3, 2), r.randn(2, 2, 5))
r.module("Conv1d_options",
         nn.Conv1d(4, 2, 3, stride=2, padding=1, dilation=2, groups=2,
                   bias=False), r.randn(4, 7))
r.module("Conv1d_same", nn.Conv1d(2, 2, 4, padding="same"), r.randn(1, 2, 5))
r.module("Conv1d_circular",
         nn.Conv1d(2, 2, 3, padding=2, padding_mode="circular"),
         r.randn(1, 2, 4))
r.module("Conv2d", nn.Conv2d(2, 3, 2), r.randn(1, 2, 4, 3))
r.module("Conv2d_options",
         nn.Conv2d(2, 4, (1, 3), stride=(2, 1), padding=(0, 2),
                   dilation=(1, 2), groups=2, bias=False),
         r.randn(1, 2, 3, 4))
r.module("Conv2d_valid", nn.Conv2d(1, 2, 2, stride=2, padding="valid"),
         r.randn(1, 1, 4, 5))
r.module("Conv2d_same",
         nn.Conv2d(1, 2, (2, 3), padding="same", dilation=(1, 2)),
         r.randn(1, 1, 4, 5))
r.module("Conv2d_reflect",
         nn.Conv2d(1, 2, 3, padding=(1, 2), padding_mode="reflect"),
         r.randn(1, 1, 3, 4))
r.module("Conv2d_replicate",
         nn.Conv2d(1, 2, 3, padding=(2, 1), stride=2,
                   padding_mode="replicate"), r.randn(1, 1, 3, 4))
r.module("Conv2d_same_circular",
         nn.Conv2d(1, 2, (2, 3), padding="same", padding_mode="circular",
                   dilation=(1, 2)), r.randn(1, 1, 4, 5))
r.module("Conv3d", nn.Conv3d(1, 2, 2), r.randn(1, 1, 3, 2, 3))
r.module("Conv3d_options",
         nn.Conv3d(2, 2, (1, 2, 1), stride=(1, 1, 2), padding=(0, 1, 0),
                   dilation=(1, 2, 1), groups=2, bias=False),
         r.randn(2, 2, 2, 3))
r.module("Conv3d_replicate",
         nn.Conv3d(1, 1, 2, padding=(0, 1, 2), padding_mode="replicate"),
         r.randn(1, 1, 2, 2, 2))

r.module("ConvTranspose1d", nn.ConvTranspose1d(2, 3, 2), r.randn(2, 2, 3))
r.module("ConvTranspose1d_options",
         nn.ConvTranspose1d(4, 2, 3, stride=3, padding=1, output_padding=2,
                            groups=2, bias=False, dilation=2),
         r.randn(1, 4, 3))
r.module("ConvTranspose2d", nn.ConvTranspose2d(2, 1, 2), r.randn(1, 2, 2, 3))
r.module("ConvTranspose2d_options",
         nn.ConvTranspose2d(2, 2, (2, 3), stride=(2, 1), padding=(1, 0),
                            output_padding=(1, 0), groups=2, bias=False,
                            dilation=(1, 2)), r.randn(2, 2, 2))
r.module("ConvTranspose2d_size",
         nn.ConvTranspose2d(1, 1, (2, 3), stride=(3, 2), padding=(1, 0),
                            dilation=(2, 1)), r.randn(1, 1, 2, 2),
         call=lambda m, x: [m(x, output_size=(6, 6)),
                            m(x, output_size=(1, 1, 4, 5))])
r.module("ConvTranspose3d", nn.ConvTranspose3d(1, 2, 2),
         r.randn(1, 1, 2, 1, 2))
r.module("ConvTranspose3d_options",
         nn.ConvTranspose3d(2, 2, (1, 2, 1), stride=(1, 1, 2),
                            padding=(0, 1, 0), output_padding=(0, 0, 1),
                            groups=2, bias=False, dilation=(1, 2, 1)),
         r.randn(1, 2, 2, 2, 2))

r.function("conv1d", F.conv1d, r.randn(1, 2, 4), r.randn(3, 2, 2))
r.function("conv1d_options",
           lambda x, w, b: F.conv1d(x, w, b, 2, 1, 2, 2),
           r.randn(1, 2, 6), r.randn(2, 1, 2), r.randn(2))
r.function("conv1d_same", lambda x, w: F.conv1d(x, w, padding="same"),
           r.randn(1, 1, 5), r.randn(2, 1, 2))
r.function("conv2d", F.conv2d, r.randn(1, 2, 3, 3), r.randn(1, 2, 2, 2))
r.function("conv2d_options",
           lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), (1, 2), 2),
           r.randn(1, 2, 3, 4), r.randn(2, 1, 2, 2), r.randn(2))
r.function("conv3d", F.conv3d, r.randn(1, 1, 2, 3, 2), r.randn(1, 1, 2, 2, 2))
r.function("conv3d_options",
           lambda x, w, b: F.conv3d(x, w, b, (2, 1, 1), (1, 0, 0), (1, 1, 2),
                                    2),
           r.randn(1, 2, 2, 2, 3), r.randn(2, 1, 2, 1, 2), r.randn(2))
r.function("conv_transpose1d", F.conv_transpose1d, r.randn(1, 2, 3),
           r.randn(2, 1, 2))
r.function("conv_transpose1d_options",
           lambda x, w, b: F.conv_transpose1d(x, w, b, 3, 1, 2, 2, 2),
           r.randn(1, 2, 3), r.randn(2, 1, 2), r.randn(2))
r.function("conv_transpose2d", F.conv_transpose2d, r.randn(1, 1, 2, 3),
           r.randn(1, 2, 2, 2))
r.function("conv_transpose2d_options",
           lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 1), (0, 1), (1, 0),
                                              2, (1, 2)),
           r.randn(1, 2, 2, 2), r.randn(2, 1, 2, 2), r.randn(2))
r.function("conv_transpose3d", F.conv_transpose3d, r.randn(1, 1, 2, 1, 2),
           r.randn(1, 1, 2, 2, 1))
r.function("conv_transpose3d_options",
           lambda x, w, b: F.conv_transpose3d(x, w, b, (2, 1, 1), (0, 1, 0),
                                              (1, 0, 0), 2, (1, 2, 1)),
           r.randn(1, 2, 2, 2, 1), r.randn(2, 1, 1, 2, 2), r.randn(2))
r.write()
