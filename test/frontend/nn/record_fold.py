"""Records folds for fold_test.cpp."""

import torch.nn.functional as F
from torch import nn

from record_lib import Recorder

r = Recorder("fold.safetensors")
r.module("Fold", nn.Fold((3, 4), 2), r.randn(1, 4, 6))
options = dict(dilation=(1, 2), padding=(1, 0), stride=(2, 1))
blocks = dict(dilation=(2, 1), padding=(1, 0), stride=(2, 1))
r.module("Fold_options", nn.Fold((3, 4), (2, 1), **blocks), r.randn(4, 8))
r.module("Unfold", nn.Unfold(2), r.randn(1, 2, 3, 3))
r.module("Unfold_options", nn.Unfold((2, 3), **options), r.randn(1, 2, 3, 6))
r.module("Unfold_unbatched", nn.Unfold(2), r.randn(2, 3, 3))
r.function("fold", lambda x: F.fold(x, (3, 4), (2, 1), **blocks),
           r.randn(4, 8))
r.function("unfold", lambda x: F.unfold(x, (2, 3), **options),
           r.randn(1, 1, 3, 6))
r.write()
