"""Records weight and spectral norm; see record_lib.py."""

from record_lib import Recorder
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

r = Recorder("parametrize.safetensors")
r.module("weight_norm", weight_norm(nn.Linear(4, 3)), r.randn(5, 4))
r.module("weight_norm_dim", weight_norm(nn.Linear(4, 3), dim=1),
         r.randn(5, 4))
r.module("spectral_norm", spectral_norm(nn.Linear(4, 3)), r.randn(5, 4))
r.module("spectral_norm_eval", spectral_norm(nn.Linear(4, 3)).eval(),
         r.randn(5, 4))
r.module("spectral_norm_conv",
         spectral_norm(nn.Conv1d(2, 3, 3), n_power_iterations=3, dim=1),
         r.randn(2, 2, 6))
r.write()
