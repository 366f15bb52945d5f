"""Records averages of models for swa_test.cpp.

    python3 test/frontend/optim/record_swa.py

Run with PyTorch 2.15. "model/STEP/PATH" is a model after a step, and
"KIND/PATH" the state dict of its average after all of them, or its weights.
"""

import os
import sys

import torch
from torch import nn
from torch.optim import swa_utils

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "nn"))
from record_lib import Recorder  # noqa: E402

r = Recorder("")
r.path = os.path.join(HERE, "swa.safetensors")
model = nn.Sequential(nn.Linear(2, 3, bias=False), nn.BatchNorm1d(3))

KINDS = {
    "swa": {},
    "swa_avg_fn": {"avg_fn": swa_utils.get_swa_avg_fn()},
    "swa_buffers": {"use_buffers": True},
    "ema": {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)},
    "ema_avg_fn": {"avg_fn": swa_utils.get_ema_avg_fn(0.25)},
    "ema_buffers": {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.6),
                    "use_buffers": True},
    "own": {"avg_fn": lambda a, c, n: a + c * n},
}
averages = {k: swa_utils.AveragedModel(model, **o) for k, o in KINDS.items()}
for step in range(4):
    for name, t in model.state_dict().items():
        if t.is_floating_point():
            t.copy_(r.randn(*t.shape))
        else:
            t.fill_(7 * step * step)
        r.put(f"model/{step}/{name}", t)
    for a in averages.values():
        a.update_parameters(model)
for kind, a in averages.items():
    for name, t in a.state_dict().items():
        if kind.endswith("buffers") or name.endswith("weight") or (
                kind == "swa"):
            r.put(f"{kind}/{name}", t)

# Batches of different sizes; the model is in eval mode before and after.
batches = [r.randn(4, 2), r.randn(2, 2), r.randn(3, 2)]
average = averages["swa"].eval()
swa_utils.update_bn([(b, None) for b in batches], average)
for i, b in enumerate(batches):
    r.put(f"batches/{i}", b)
for name, t in average.named_buffers():
    if name.startswith("module."):
        r.put(f"update_bn/{name}", t)
r.put("results/0", average(batches[0]))
r.write()
