"""Exported programs beside Python's torch: one thread, in turns.

Usage: exported_figures.py PREFIX DIR [--python PYTHON] [--rounds N]
       [--seconds S] [NAME...]

PREFIX is what `./sy install` made; PYTHON has torch, torchvision and
transformers. DIR keeps the exported models. Milliseconds are medians of runs,
and of these the least of N rounds; ratios are ours to theirs.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CXX = os.environ.get("CXX", "c++")
ONE = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
NAMES = ("node", "resnet18", "bert", "decoder", "small_bert", "vgg11")

MAKE = """
import sys, torch
from safetensors.torch import save_file
torch.manual_seed(0)
name, base = sys.argv[1:]
words = lambda n: (torch.randint(0, 1000, (1, n)),)
if name in ("resnet18", "vgg11"):
    import torchvision
    module = getattr(torchvision.models, name)(weights=None)
    inputs = (torch.randn(1, 3, 224, 224),)
elif name == "decoder":
    from transformers import LlamaConfig, LlamaForCausalLM
    module = LlamaForCausalLM(LlamaConfig(
        hidden_size=512, intermediate_size=1376, num_hidden_layers=2,
        num_attention_heads=8, vocab_size=1000, use_cache=False))
    inputs = words(128)
else:
    from transformers import BertConfig, BertModel
    small = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=2,
                 intermediate_size=512, vocab_size=1000)
    module = BertModel(BertConfig(**(small if name == "small_bert" else {})))
    inputs = words(128)
exported = torch.export.export(module.eval(), inputs, strict=False)
torch.export.save(exported, base + ".pt2")
save_file({f"input.{i}": t for i, t in enumerate(inputs)}, base + ".in")
"""

TORCH = """
import sys, time
start = time.perf_counter()
import torch
torch.set_num_threads(1)
imported = time.perf_counter()
from safetensors.torch import load_file
base, mode, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
named = load_file(base + ".in")
inputs = [named[f"input.{i}"] for i in range(len(named))]
if "bert" in base or "decoder" in base:
    import transformers.modeling_outputs
if mode == "aoti":
    run = torch._inductor.aoti_load_package(base + ".aoti.pt2")
else:
    begin = time.perf_counter()
    module = torch.export.load(base + ".pt2").module()
    run = lambda *given: module(*given)
def leaves(tree):
    return [t for t in torch.utils._pytree.tree_leaves(tree)
            if isinstance(t, torch.Tensor)]
if mode == "first":
    with torch.no_grad():
        run(*inputs)
    print(1000 * (imported - start), 1000 * (time.perf_counter() - begin))
    sys.exit()
if mode == "train":
    sgd = torch.optim.SGD(module.parameters(), lr=1e-6)
    def step():
        sgd.zero_grad()
        sum(t.sum() for t in leaves(run(*inputs))).backward()
        sgd.step()
else:
    torch.set_grad_enabled(False)
    step = lambda: run(*inputs)
for _ in range(3):
    step()
times, begin = [], time.perf_counter()
while time.perf_counter() - begin < seconds:
    t = time.perf_counter()
    step()
    times.append(1000 * (time.perf_counter() - t))
print(sorted(times)[len(times) // 2])
"""

PACK = """
import sys, torch, transformers.modeling_outputs
base = sys.argv[1]
torch._inductor.aoti_compile_and_package(torch.export.load(base + ".pt2"),
                                         package_path=base + ".aoti.pt2")
"""


def output(command):
    return subprocess.run(command, check=True, text=True, env=ONE,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.split()


class Figures:
    def __init__(self, options):
        self.options = options
        self.folder = options.folder
        self.folder.mkdir(exist_ok=True)
        self.program = self.built("time")

    def built(self, name):
        program = self.folder / name
        prefix = self.options.prefix.resolve()
        subprocess.run(
            [CXX, "-std=c++20", "-O2", f"-I{prefix}/include/switchyard",
             HERE / f"exported/{name}.cpp", "-o", program,
             f"-L{prefix}/lib", "-lswitchyard", f"-Wl,-rpath,{prefix}/lib"],
            check=True)
        return program

    def nodes(self):
        """A node beside the call of its operator."""
        for line in subprocess.run([self.built("node")], check=True, text=True,
                                   env=ONE,
                                   stdout=subprocess.PIPE).stdout.splitlines():
            print(line, flush=True)

    def base(self, name):
        return str(self.folder / name)

    def make(self, name, packed):
        if not os.path.exists(self.base(name) + ".in"):
            output([self.options.python, "-c", MAKE, name, self.base(name)])
        if packed and not os.path.exists(self.base(name) + ".aoti.pt2"):
            output([self.options.python, "-c", PACK, self.base(name)])

    def ours(self, name, mode):
        base = self.base(name)
        return [str(self.program), base + ".pt2", base + ".in", mode,
                str(self.options.seconds)]

    def theirs(self, name, mode):
        return [self.options.python, "-c", TORCH, self.base(name), mode,
                str(self.options.seconds)]

    def least(self, *commands):
        """Of each command, which run in turns."""
        times = [[] for _ in commands]
        for _ in range(self.options.rounds):
            for i, command in enumerate(commands):
                times[i].append(float(output(command)[0]))
        return [min(t) for t in times]

    def row(self, name, what, ours, theirs, other):
        print(f"| {name}, {what} | {ours:.2f} | {theirs:.2f} {other} | "
              f"{ours / theirs:.2f} |", flush=True)

    def runs(self, name):
        eager, compiled, torch, packed = self.least(
            self.ours(name, "eager"), self.ours(name, "compile"),
            self.theirs(name, "eager"), self.theirs(name, "aoti"))
        self.row(name, "eager", eager, torch, "eager")
        self.row(name, "sy::compile", compiled, torch, "eager")
        self.row(name, "sy::compile", compiled, packed, "AOTInductor")
        step, torch = self.least(self.ours(name, "train"),
                                 self.theirs(name, "train"))
        self.row(name, "a training step", step, torch, "eager")

    def first(self, name):
        """From the start of the process to the first output."""
        ours, loads = [], []
        for _ in range(2 * self.options.rounds):
            begin = time.perf_counter()
            output(self.ours(name, "first"))
            ours.append(1000 * (time.perf_counter() - begin))
        for _ in range(self.options.rounds):
            imported, loaded = output(self.theirs(name, "first"))
            loads.append((float(imported), float(loaded)))
        imported, loaded = min(loads)
        print(f"| {name}, start to first output | {min(ours):.1f} | "
              f"{imported:.0f} of import, {loaded:.0f} | "
              f"{min(ours) / (imported + loaded):.3f} |", flush=True)

    def memory(self, name):
        most = float(output(self.ours(name, "first"))[1])
        size = os.path.getsize(self.base(name) + ".pt2")
        print(f"| {name}, resident MB at the first output | {most:.0f} | "
              f"the file has {size / 2**20:.0f} | |", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="exported_figures.py")
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    figures = Figures(options)
    names = options.names or NAMES
    if "node" in names:
        figures.nodes()
    print("| what | ours, ms | torch, ms | ratio |\n|---|---|---|---|")
    if "vgg11" in names:
        figures.make("vgg11", False)
        figures.memory("vgg11")
    for name in ("resnet18", "small_bert"):
        if name in names:
            figures.make(name, False)
            figures.first(name)
    for name in ("resnet18", "bert", "decoder"):
        if name in names:
            figures.make(name, True)
            figures.runs(name)


if __name__ == "__main__":
    main()
