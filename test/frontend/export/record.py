"""Records exported programs, and what Python's run of them gives.

Usage: record.py DIR [NAME...]    (Python with torch 2.15 and transformers)

Writes NAME.pt2 and NAME.safetensors: input.K, output.K, grad.PARAMETER of the
sum of the sines of all floating outputs, buffer.NAME after the call.
"""

import pathlib
import sys

import torch
from safetensors.torch import save_file
from torch import nn
from torch._higher_order_ops.map import map as map_op
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export, save
from torch.export.pt2_archive._package import package_pt2
from torch.utils import _pytree as pytree

PROGRAMS = {}


def program(build):
    """Registers a function that gives module, arguments, and options."""
    PROGRAMS[build.__name__] = build
    return build


def tensors(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def batch(*count):
    """The first dim of so many arguments is dynamic."""
    dim = Dim("B", min=1, max=16)
    return tuple({0: dim} for _ in range(count[0]))


class Nested(nn.Module):
    """Nested inputs and results, tied weights, constants, a branch."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.tied = self.linear.weight
        self.table = nn.Embedding(5, 4)
        self.register_buffer("shift", torch.ones(3))
        self.register_buffer("hidden", torch.full((3,), 2.0), persistent=False)

    def forward(self, x, index, *, scale=2.0, more=None):
        y = self.linear(x + self.table(index)) * scale + self.shift
        y = y + self.hidden + torch.tensor([1.0, 2.0, 3.0])
        n = x.shape[0]
        z = torch.arange(n, device=x.device) + n * 2
        w = torch.cond(y.sum() > 0, torch.sin, torch.cos, (y,))
        return {"y": y.reshape(n * 3), "z": (z, [w, more["q"] * 2])}


@program
def nested():
    dim = Dim("B", min=2, max=16)
    example = (torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 4, 0]))
    more = {"scale": 3.0, "more": {"q": torch.ones(2)}}
    return Nested(), example, {
        "kwargs": more,
        "dynamic_shapes": {"x": {0: dim}, "index": {0: dim}, "scale": None,
                           "more": {"q": None}},
        "other": (torch.randn(3, 4), torch.tensor([4, 4, 1])),
    }


class Convolutions(nn.Module):

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8),
            nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, stride=2, groups=4), nn.Hardswish(),
            nn.ConvTranspose2d(8, 4, 2, stride=2), nn.GroupNorm(2, 4),
            nn.SiLU(inplace=True), nn.AdaptiveAvgPool2d((2, 3)))
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        x = torch.flatten(self.features(x), 1)
        return nn.functional.log_softmax(self.head(x), 1)


@program
def convolutions():
    return Convolutions(), (torch.randn(2, 3, 16, 16),), {
        "dynamic_shapes": batch(1), "other": (torch.randn(5, 3, 16, 16),)}


@program
def convolutions_training():
    return Convolutions(), (torch.randn(4, 3, 16, 16),), {"train": True}


@program
def functional():
    """The form without writes: buffers are results that are stored.

    PyTorch cannot take gradients of it either: what is stored was needed.
    """
    return Convolutions(), (torch.randn(4, 3, 16, 16),), {
        "train": True, "decompose": True, "no_grad": True}


class Recurrent(nn.Module):

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 6, num_layers=2, bidirectional=True,
                            batch_first=True)
        self.gru = nn.GRU(12, 5, batch_first=True)

    def forward(self, words):
        x, (h, c) = self.lstm(self.table(words))
        y, last = self.gru(x)
        return y, h, c, last


@program
def recurrent():
    return Recurrent(), (torch.randint(0, 20, (3, 7)),), {}


class Loops(nn.Module):
    """while_loop, map, scan, and a part without gradients."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, y):
        with torch.no_grad():
            fixed = self.linear(y)
        count, z = while_loop(lambda i, v: i < 3,
                              lambda i, v: (i + 1, self.linear(v).tanh()),
                              (torch.tensor(0), y))
        mapped = map_op(lambda a, b: self.linear(a) + b, x, y)
        last, all_of = scan(lambda c, a: (c + a, (c * a).sin()),
                            torch.zeros(2, 3), x, dim=0)
        return fixed + z, count, mapped, last, all_of


@program
def loops():
    return Loops(), (torch.randn(4, 2, 3), torch.randn(2, 3)), {"no_grad": True}


class Sizes(nn.Module):
    """Sizes that depend on elements, arithmetic of sizes, numbers."""

    def forward(self, x, n):
        k = x.nonzero().size(0)
        a, b = torch.split(x, 2, 0)
        values, places = x.topk(2)
        padded = nn.functional.pad(b, (0, n % 3 + 1))
        half = x[: x.shape[0] // 2 + 1]
        return k, a.to(torch.float64), [padded, values, places], x * n, n + 1, half


@program
def sizes():
    return Sizes(), (torch.tensor([[1.0, 0, 2], [0, 0, 3], [4, 5, 0], [6, 7, 8]]),
                     5), {
        "dynamic_shapes": {"x": None, "n": Dim.DYNAMIC}}


class Attention(nn.Module):

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0,
                                                batch_first=True)
        self.register_buffer("mask", torch.full((6, 6), float("-inf")).triu(1))

    def forward(self, x):
        return self.layer(x, src_mask=self.mask)


@program
def attention():
    return Attention(), (torch.randn(2, 6, 16),), {"train": True}


class Writes(nn.Module):
    """Writes an input and a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(2))

    def forward(self, x):
        x.mul_(2)
        self.steps.add_(1)
        return x.sin(), x[1:], self.steps * 3


@program
def writes():
    return Writes(), (torch.randn(2, 3),), {"decompose": True}


class Effects(nn.Module):
    """Checks of linear algebra, which tokens order."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3) + 4 * torch.eye(3))

    def forward(self, x):
        y = torch.linalg.inv(self.weight)
        return torch.linalg.solve(self.weight + 9 * torch.eye(3), x @ y)


@program
def effects():
    return Effects(), (torch.randn(2, 3, 3),), {
        "decompose": "core", "dynamic_shapes": batch(1),
        "other": (torch.randn(4, 3, 3),)}


class Complex(nn.Module):
    """Turned queries, mixed words, filters of frequencies, spectra."""

    def __init__(self):
        super().__init__()
        turns = torch.outer(torch.arange(6.0), torch.tensor([1.0, 0.01]))
        self.register_buffer("turns", torch.polar(torch.ones(6, 2), turns),
                             persistent=False)
        self.linear = nn.Linear(4, 4)
        self.filter = nn.Parameter(torch.randn(6, 3, 2))
        self.register_buffer("window", torch.hann_window(4))
        self.register_buffer("few", self.turns[0] * 2, persistent=False)

    def forward(self, x):
        n, t, _ = x.shape
        q = torch.view_as_complex(self.linear(x).view(n, t, 2, 2))
        turns = self.turns.to(x.device)[:t].to(x.device, torch.complex64)
        q = q * turns * self.few.to(q).type_as(q)
        q = torch.view_as_real(q).flatten(2)
        mixed = torch.fft.fftn(x, dim=(1, 2)).real
        passed = torch.fft.rfft2(x, norm="ortho")
        passed = torch.fft.irfft2(
            passed * torch.view_as_complex(self.filter), s=(t, 4),
            norm="ortho")
        rows = torch.fft.rfft(q, dim=1)
        alike = torch.fft.irfft(rows * torch.conj(rows), n=9, dim=1)
        long = torch.fft.ifft(torch.fft.fft(x.sum(2), n=150) * 1.5, n=77).abs()
        c = torch.complex(x, x * 2) + 1
        c = (c * x - c.mT.reshape(n, t, 4) / (c + 3)).permute(1, 0, 2)[1:]
        parts = torch.view_as_real(torch.exp(c * 0.1)), c.sum(1).abs()
        spectrum = torch.stft(x.flatten(1), 4, window=self.window,
                              return_complex=True).abs()
        return q, mixed, passed, alike, long, parts, spectrum


@program
def complex_numbers():
    return Complex(), (torch.randn(2, 6, 4),), {
        "dynamic_shapes": batch(1), "other": (torch.randn(3, 6, 4),)}


@program
def complex_core():
    return Complex(), (torch.randn(2, 6, 4),), {
        "decompose": "core", "dynamic_shapes": batch(1),
        "other": (torch.randn(3, 6, 4),)}


class Layouts(nn.Module):
    """Views that Python's strides permit."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(4))

    def forward(self, x, mask):
        n, t, _ = x.shape
        x = x * self.scale
        turned = x.permute(2, 0, 1)
        repeated = turned.unsqueeze(0).repeat(2, 1, 1, 1).view(8, n * t)
        wide = x.permute(2, 1, 0)[:, None].expand(4, 2, t, n)
        filled = wide.masked_fill(mask, 0.5).view(8, -1)
        q = x.view(n, t, 2, 2).transpose(1, 2)
        attended = nn.functional.scaled_dot_product_attention(
            q.contiguous(), q, q).view(n, -1)
        picture = x.view(n, t, 2, 2).permute(0, 3, 1, 2)[:, :, 1:]
        padded = nn.functional.pad(picture, (1, 1, 1, 1))
        padded = padded.permute(0, 2, 3, 1).view(n, -1)
        return repeated, filled, attended, padded


@program
def layouts():
    return Layouts(), (torch.randn(2, 6, 4), torch.rand(6, 2) > 0.5), {}


def hugging_face(name, config, example, **options):
    import transformers
    base = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
            "intermediate_size": 32, "vocab_size": 64,
            "max_position_embeddings": 32}

    def build():
        c = getattr(transformers, config[0])(**{**base, **config[2]})
        c.use_cache = False
        return getattr(transformers, config[1])(c), example(), options

    build.__name__ = name
    program(build)


def words():
    return (torch.randint(0, 64, (2, 10)),)


hugging_face("bert", ("BertConfig", "BertModel", {}), words,
             dynamic_shapes=batch(1), other=(torch.randint(0, 64, (3, 10)),))
# The model of docs/models.md, but for its size.
hugging_face("classifier", ("BertConfig", "BertForSequenceClassification",
                            {"vocab_size": 1000, "hidden_size": 8}),
             lambda: (torch.randint(0, 1000, (2, 16)),),
             dynamic_shapes={"input_ids": {0: torch.export.Dim(
                 "batch", max=64)}},
             other=(torch.randint(0, 1000, (8, 16)),))
hugging_face("mixture", ("MixtralConfig", "MixtralForCausalLM",
                         {"num_key_value_heads": 1, "num_local_experts": 4,
                          "num_hidden_layers": 1}), words)
hugging_face("llama", ("LlamaConfig", "LlamaForCausalLM",
                       {"num_key_value_heads": 1}), words)
hugging_face("vit", ("ViTConfig", "ViTModel",
                     {"image_size": 16, "patch_size": 8}),
             lambda: (torch.randn(2, 3, 16, 16),))


def record(folder, name):
    torch.manual_seed(0)
    module, example, options = PROGRAMS[name]()
    module.train(options.get("train", False))
    kwargs = options.get("kwargs", {})
    exported = export(module, example, kwargs, strict=False,
                      dynamic_shapes=options.get("dynamic_shapes"))
    if options.get("decompose"):
        core = options["decompose"] == "core"
        exported = exported.run_decompositions(None if core else {})
    save(exported, folder / f"{name}.pt2")

    run = exported.module()
    arguments = options.get("other", example)
    found = {f"input.{i}": t.clone() for i, t in
             enumerate(tensors((arguments, kwargs)))}
    own = pytree.tree_map_only(torch.Tensor, torch.clone, arguments)
    with torch.set_grad_enabled(not options.get("no_grad")):
        results = tensors(run(*own, **kwargs))
    found.update((f"output.{i}", t.detach().clone().contiguous())
                 for i, t in enumerate(results))
    # Of sines: sums of normalized results do not depend on anything.
    loss = sum(t.sin().sum() for t in results if t.is_floating_point())
    if loss.requires_grad:
        loss.backward()
    found.update((f"grad.{n}", p.grad.clone().contiguous())
                 for n, p in run.named_parameters() if p.grad is not None)
    found.update((f"buffer.{n}", b.clone().contiguous())
                 for n, b in run.named_buffers() if not b.is_complex())
    save_file(found, folder / f"{name}.safetensors")


def record_two(folder):
    """A file with two programs."""
    torch.manual_seed(0)
    x = (torch.ones(2),)
    package_pt2(folder / "two.pt2", exported_programs={
        "first": export(nn.Linear(2, 2), x),
        "second": export(nn.Linear(2, 3), x)})


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or PROGRAMS:
        record(folder, name)
        print(name)
    record_two(folder)


if __name__ == "__main__":
    main()
