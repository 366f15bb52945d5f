"""Holds `sy model FILE run` against Python on public models.

Usage: check_models.py DIR SY [--modes eager,lazy,compile] [NAME...]
       (Python with torch 2.15, torchvision, transformers and timm)

DIR keeps what was exported and recorded; SY is an installed bin/sy. Outputs are
within 1e-5 of the largest one of their tensor. A gradient is right if it is
that near to Python's. Some are sums whose parts cancel, or have a maximum or a
ReLU beside a tie, so that two right programs differ by more: then it is
compared with the gradient in float64, and is right if it is as near to that as
Python's of float32 is, or nearer than 1e-5 of the model's largest gradient.
"""

import argparse
import collections
import importlib
import json
import pathlib
import re
import subprocess
import zipfile

import torch
from safetensors.torch import load_file, save_file
from torch.export import Dim
from torch.utils import _pytree as pytree

MODES = {"eager": [], "lazy": ["--device", "lazy"], "compile": ["--compile"]}
MOST = 1e-5


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


def record(folder, name):
    from public_models import MODELS
    torch.manual_seed(0)
    module, example, options = MODELS[name]()
    module.train(options.get("train", False))
    arguments = options.get("other", example)
    sizes = None
    if not options.get("static"):
        sizes = ({0: Dim("batch", min=1, max=16)},) * len(example)
        arguments = tuple(torch.cat([t, t[:1]]) for t in arguments)
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


def doubled(value):
    return {torch.float32: torch.float64,
            torch.complex64: torch.complex128}.get(value, value) \
        if isinstance(value, torch.dtype) else value


def in_float64(program):
    """The program's module, which computes in float64."""
    module = program.module(check_guards=False)
    for part in module.modules():
        if not hasattr(part, "graph"):
            continue
        for node in list(part.graph.nodes):
            if "_assert_tensor_metadata" in str(node.target):
                part.graph.erase_node(node)
            elif node.op == "call_function":
                node.args, node.kwargs = pytree.tree_map(
                    doubled, (node.args, node.kwargs))
        part.recompile()
    module.double()
    for part in module.modules():
        for key, value in list(vars(part).items()):
            if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
                setattr(part, key, value.double())
    return module


def exact_gradients(folder, name):
    path = folder / f"{name}.pt2"
    with zipfile.ZipFile(path) as archive:
        texts = {n: archive.read(n).decode() for n in archive.namelist()
                 if n.endswith(".json")}
    text = "".join(texts.values())
    # The types of results that the file names are known to who imports them.
    for module in set(re.findall(r"transformers\.[a-z0-9_.]+(?=\.[A-Z])",
                                 text)):
        importlib.import_module(module)
    program = torch.export.load(path)
    inputs = load_file(folder / f"{name}.in")
    leaves = [None] * program.call_spec.in_spec.num_leaves
    for key, t in inputs.items():
        leaves[int(key.removeprefix("input."))] = \
            t.double() if t.is_floating_point() else t
    arguments, _ = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    found = gradients(in_float64(program), arguments)[1]
    # A parameter of several names is loaded as several parameters.
    weights = json.loads(next(t for n, t in texts.items()
                              if "model_weights_config" in n))["config"]
    sums = collections.Counter()
    for key, grad in found.items():
        sums[weights[key]["path_name"]] += grad
    return {key: sums[w["path_name"]] for key, w in weights.items()
            if w["path_name"] in sums}


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
        self.exact = {}

    def far_gradients(self, name, got, expected):
        """What is wrong with the gradients, "" if nothing is."""
        missing = sorted(expected.keys() - got.keys())
        if missing:
            return f"no gradients of {missing[:3]}"
        far = [k for k in expected if relative(got[k], expected[k]) > MOST]
        if not far:
            return ""
        if name not in self.exact:
            self.exact[name] = exact_gradients(self.folder, name)
        exact = self.exact[name]
        largest = max(t.abs().max().item() for t in exact.values())
        for k in far:
            allowed = max(2 * distance(expected[k], exact[k]), MOST * largest)
            if distance(got[k], exact[k]) > allowed:
                return (f"gradient of {k}: {relative(got[k], exact[k]):.1e} "
                        f"from float64, Python's "
                        f"{relative(expected[k], exact[k]):.1e}")
        return f"near float64 ({len(far)} gradients)"

    def run(self, name, mode):
        files = {k: self.folder / f"{name}.{k}" for k in ("in", "out", "grads")}
        own = {k: self.folder / f"own.{k}" for k in ("out", "grads")}
        said = subprocess.run(
            [self.sy, "model", self.folder / f"{name}.pt2", "run", "--inputs",
             files["in"], "--outputs", own["out"], "--grads", own["grads"],
             *MODES[mode]], capture_output=True, text=True)
        if said.returncode:
            return False, said.stderr.strip()
        got, expected = load_file(own["out"]), load_file(files["out"])
        if got.keys() != expected.keys():
            return False, f"{len(got)} outputs, Python has {len(expected)}"
        for k, t in expected.items():
            if relative(got[k], t) > MOST or got[k].dtype != t.dtype:
                return False, f"{k}: {relative(got[k], t):.1e}"
        why = self.far_gradients(name, load_file(own["grads"]),
                                 load_file(files["grads"]))
        return not why or why.startswith("near"), why


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
        check.exact.clear()
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())))


if __name__ == "__main__":
    main()
