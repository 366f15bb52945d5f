"""Holds `sy model FILE run` against Python on public models.

Usage: check_models.py DIR SY [--modes eager,lazy,compile] [NAME...]
       (Python with torch 2.15, torchvision, transformers and timm)

DIR keeps what was exported and recorded; SY is an installed bin/sy. Outputs and
gradients are within 1e-5 of the largest one of their tensor. Some are sums
whose parts cancel, or have a maximum or a ReLU beside a tie, so that two right
programs differ by more: then the model is exported in float64 too, where both
agree within 1e-6.
"""

import argparse
import collections
import contextlib
import pathlib
import subprocess
import tempfile
from unittest import mock

import torch
# Its table of dtypes is made before float32_is_float64.
import torch._export.serde.serialize
from safetensors.torch import load_file, save_file
from torch.export import Dim
from torch.utils import _pytree as pytree

MODES = {"eager": [], "lazy": ["--device", "lazy"], "compile": ["--compile"]}
MOST = 1e-5
# Some constants of a model are float32 all the same.
MOST_IN_FLOAT64 = 1e-6


def tensors(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def gradients(module, arguments):
    """Results, and gradients of the sum of the floating ones."""
    torch.manual_seed(1)
    own = pytree.tree_map_only(torch.Tensor, torch.clone, arguments)
    results = tensors(module(*own))
    loss = sum(t.sum() for t in results if t.is_floating_point())
    if loss.requires_grad:
        loss.backward()
    return results, {n: p.grad for n, p in module.named_parameters()
                     if p.grad is not None}


def save(path, found):
    save_file({n: t.detach().clone().contiguous() for n, t in found.items()},
              path)


@contextlib.contextmanager
def float32_is_float64():
    """Models that compute in float32 by name do so in float64."""
    with mock.patch.object(torch, "float32", torch.float64), \
            mock.patch.object(torch, "float", torch.float64), \
            mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
        yield


def in_float64(tree):
    return pytree.tree_map_only(
        torch.Tensor, lambda t: t.double() if t.is_floating_point() else t,
        tree)


def record(folder, name, double=False):
    from public_models import MODELS
    torch.manual_seed(0)
    module, example, options = MODELS[name]()
    module.train(options.get("train", False))
    arguments = options.get("other", example)
    if double:
        module.double()
        example, arguments = in_float64(example), in_float64(arguments)
    sizes = None
    if not options.get("static"):
        sizes = ({0: Dim("batch", min=1, max=16)},) * len(example)
        arguments = tuple(torch.cat([t, t[:1]]) for t in arguments)
    with float32_is_float64() if double else contextlib.nullcontext():
        exported = torch.export.export(module, example, dynamic_shapes=sizes,
                                       strict=False)
    torch.export.save(exported, folder / f"{name}.pt2")
    save(folder / f"{name}.in", {
        f"input.{i}": t for i, t in enumerate(pytree.tree_leaves(arguments))
        if isinstance(t, torch.Tensor)})
    results, grads = gradients(exported.module(), arguments)
    save(folder / f"{name}.grads", grads)
    # The last: files are whole if it is there.
    save(folder / f"{name}.out", {f"output.{i}": t
                                  for i, t in enumerate(results)})


def distance(a, b):
    if a.shape != b.shape:
        return float("inf")
    if a.numel() == 0 or torch.equal(a, b):
        return 0.0
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    return torch.where(same, 0.0, (a - b).abs()).max().item()


def relative(a, b):
    most = torch.nan_to_num(b.double(), 0, 0, 0).abs().max().item() \
        if b.numel() else 0
    return distance(a, b) / max(most, 1e-3)


class Check:
    def __init__(self, folder, sy):
        self.folder, self.sy = folder, sy

    def run(self, name, mode):
        """Whether that is right, and what is to be told."""
        why = self.compare(self.folder, name, mode, MOST)
        if not why:
            return True, ""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            folder = pathlib.Path(folder)
            try:
                record(folder, name, double=True)
            except Exception as error:
                return False, f"{why}; no float64: {str(error)[:200]!r}"
            wrong = self.compare(folder, name, mode, MOST_IN_FLOAT64)
        return not wrong, f"{why}; in float64: {wrong or 'right'}"

    def compare(self, folder, name, mode, most):
        """What is wrong, "" if nothing is."""
        files = {k: folder / f"{name}.{k}" for k in ("in", "out", "grads")}
        own = {k: folder / f"own.{k}" for k in ("out", "grads")}
        said = subprocess.run(
            [self.sy, "model", folder / f"{name}.pt2", "run", "--inputs",
             files["in"], "--outputs", own["out"], "--grads", own["grads"],
             *MODES[mode]], capture_output=True, text=True)
        if said.returncode:
            return said.stderr.strip()
        for kind in ("out", "grads"):
            got, expected = load_file(own[kind]), load_file(files[kind])
            if not expected.keys() <= got.keys():
                missing = sorted(expected.keys() - got.keys())
                return f"{len(missing)} {kind} are missing: {missing[:3]}"
            if kind == "out" and got.keys() != expected.keys():
                return f"{len(got)} outputs, Python has {len(expected)}"
            wrong = [k for k, t in expected.items() if got[k].dtype != t.dtype]
            if wrong:
                return f"{wrong[0]}: {got[wrong[0]].dtype}"
            far = {k: relative(got[k], t) for k, t in expected.items()}
            worst = max(far, key=far.get, default=None)
            if worst is not None and far[worst] > most:
                return f"{worst}: {far[worst]:.1e}"
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("sy")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    names = given.names
    if not names:
        from public_models import MODELS
        names = list(MODELS)
    check = Check(given.folder, given.sy)
    counts = collections.Counter()
    for name in names:
        if not (given.folder / f"{name}.out").exists():
            try:
                record(given.folder, name)
            except Exception as error:  # torch.export has its limits
                counts["not exported"] += 1
                print(f"{name}: not exported: {str(error)[:200]!r}", flush=True)
                continue
        for mode in given.modes.split(","):
            right, why = check.run(name, mode)
            kind = ("right" if not why else "near") if right else "WRONG"
            counts[f"{mode} {kind}"] += 1
            print(f"{name} {mode}: {kind} {why}", flush=True)
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())))


if __name__ == "__main__":
    main()
