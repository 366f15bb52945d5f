"""Records orthogonal parametrizations for orthogonal_test.cpp."""

import torch
from torch import nn
from torch.nn.utils.parametrizations import orthogonal

from record_lib import Recorder

torch.manual_seed(0)
r = Recorder("orthogonal.safetensors")


def first_value(name, *sizes, matrix=None, **options):
    """The weight that comes first, from the one before."""
    def weight_of(w):
        module = nn.Module()
        module.weight = nn.Parameter(w.detach().clone())
        return orthogonal(module, **options).weight.detach()
    r.function(name, weight_of, r.randn(*sizes) if matrix is None else matrix)


def layer(name, module, *inputs, **options):
    """A layer whose original has moved; reflections keep their signs."""
    orthogonal(module, **options)
    original = module.parametrizations.weight.original
    with torch.no_grad():
        moved = r.randn(*original.shape) * 0.5
        signs = torch.diagonal(original, dim1=-2, dim2=-1)
        signs = signs * (1 - 2 * (torch.arange(signs.shape[-1]) % 2))
        original.copy_(moved)
        torch.diagonal(original, dim1=-2, dim2=-1).copy_(signs)
        if module.bias is not None:
            module.bias.copy_(r.randn(*module.bias.shape))
    for path, t in module.state_dict().items():
        r.put(f"{name}/param/{path}", t)
    r._run(name, module, inputs)
    for path, p in module.named_parameters():
        r.put(f"{name}/grad/{path}", p.grad)


first_value("first_square", 3, 3)
first_value("first_tall", 4, 2)
first_value("first_wide", 2, 4)
first_value("first_reflections", 3, 2, use_trivialization=False)
first_value("first_reflections_square", 3, 3, orthogonal_map="householder",
            use_trivialization=False)
first_value("first_rotation", 3, 2, orthogonal_map="cayley",
            use_trivialization=False)
q = torch.linalg.qr(r.randn(3, 3))[0]
first_value("first_kept", matrix=q * torch.tensor([1.0, -1.0, 1.0]))

for kind in ("matrix_exp", "cayley", "householder"):
    layer(f"{kind}_tall", nn.Linear(2, 4, bias=False), r.randn(2, 2),
          orthogonal_map=kind)
    layer(f"{kind}_wide", nn.Linear(4, 2, bias=False), r.randn(2, 4),
          orthogonal_map=kind, use_trivialization=False)
layer("default", nn.Linear(3, 3), r.randn(2, 3))
layer("default_batch", nn.Bilinear(2, 3, 2, bias=False), r.randn(2, 2),
      r.randn(2, 3))
r.write()
