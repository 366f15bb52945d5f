"""The cost of the schema language: one table of figures.

Parsing and checking PyTorch's YAML beside torchgen's own reader, in turns;
generating all code; lines that an operator takes; loading operators into a
running program; the cost of one in larger and larger files; and, with --edit,
the time from an edit of a schema to a call of the edited operator, for each
kind of operator.

Usage: schema_figures.py [--python PYTHON] [--rounds N] [--edit]
PYTHON is one that can import torchgen and yaml (PyYAML); without it torchgen is
left out. --edit edits files of this checkout, builds, and puts them back.
"""

import argparse
import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "bazel-bin"

TORCHGEN = """
import os, time
import torchgen, torchgen.gen
from torchgen.packaged.autograd import load_derivatives
folder = os.path.join(os.path.dirname(torchgen.__file__), "packaged")
native = folder + "/ATen/native/native_functions.yaml"
tags = folder + "/ATen/native/tags.yaml"
derivatives = folder + "/autograd/derivatives.yaml"
start = time.perf_counter()
parsed = torchgen.gen.parse_native_yaml(native, tags)
functions = time.perf_counter()
load_derivatives.load_derivatives(derivatives, native, tags)
end = time.perf_counter()
print(folder, len(parsed.native_functions), functions - start, end - start)
"""


def run(*command, env=None):
    """Milliseconds, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, check=False, cwd=ROOT, env=env)
    elapsed = (time.perf_counter() - start) * 1e3
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        sys.exit(f"{command[0]}: {lines[-1] if lines else 'failed'}")
    return elapsed, done.stdout


class Table:
    def __init__(self):
        self.rows = []

    def add(self, what, value):
        self.rows.append((what, value))
        print(f"| {what} | {value} |", flush=True)


def schema_files():
    return sorted((ROOT / "schemas/ops").glob("*.yaml")) + [
        ROOT / "schemas/tags.yaml"]


def torchgen(table, sygen, python, rounds):
    best = collections.defaultdict(lambda: float("inf"))
    for _ in range(rounds):
        _, out = run(python, "-c", TORCHGEN)
        folder, count, functions, everything = out.split()
        native = folder + "/ATen/native/native_functions.yaml"
        tags = folder + "/ATen/native/tags.yaml"
        derivatives = folder + "/autograd/derivatives.yaml"
        for name, ms in (
                ("torch functions", float(functions) * 1e3),
                ("torch all", float(everything) * 1e3),
                ("functions", run(sygen, "check", native, tags)[0]),
                ("all", run(sygen, "check", native, tags, derivatives)[0])):
            best[name] = min(best[name], ms)
    for what, files in (("functions", "native_functions.yaml, tags.yaml"),
                        ("all", "and derivatives.yaml")):
        theirs, ours = best["torch " + what], best[what]
        table.add(f"parse, check: {files}",
                  f"{ours:.0f} ms; torchgen {theirs:.0f} ms, without the start "
                  f"of Python; {theirs / ours:.0f} times as fast")
    ours = len(run(sygen, "print", "--autogen", native)[1].splitlines())
    table.add("functions of PyTorch, derived ones too",
              f"{ours}; torchgen {count}")
    return native, derivatives


def generation(table, sygen, rounds):
    files = schema_files()
    overloads = run(sygen, "print", "--autogen", *files)[1].splitlines()
    entries = run(sygen, "print", *files)[1].splitlines()
    best = float("inf")
    lines = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(rounds):
            out = f"{folder}/{i}"
            best = min(best, run(sygen, "emit-all", *files, "--folder", out)[0])
        for path in pathlib.Path(out).rglob("*"):
            if path.is_file():
                kind = "calls" if "docs" in path.parts else "C++"
                lines[kind] += len(path.read_text().splitlines())
    table.add("entries, overloads", f"{len(entries)}, {len(overloads)}")
    table.add("generate all of it, read and checked", f"{best:.0f} ms")
    table.add("lines made", f"{lines['C++']:,} of C++, {lines['calls']:,} of "
              "the reference's calls")
    library = BIN / "libswitchyard.so"
    if library.exists():
        size = library.stat().st_size / 1e6
        table.add("libswitchyard.so", f"{size:.1f} MB, "
                  f"{size * 100 / len(entries):.2f} MB for 100 operators")


def entries_of(path):
    """(func, lines of the entry) of each entry of a YAML list."""
    for entry in re.split(r"(?m)^(?=- (?:func|name):)", path.read_text()):
        head = re.match(r"- (?:func|name): *['\"]?([^('\"]+)\(", entry)
        if head:
            lines = [l for l in entry.splitlines()
                     if l.strip() and not l.lstrip().startswith("#")]
            yield head.group(1), lines


def function_lines(sources):
    """Lines of each C++ function that begins at the start of a line."""
    out = {}
    for path in sources:
        lines = path.read_text().splitlines()
        start = None
        for i, line in enumerate(lines):
            if start is None and re.match(r"[A-Za-z].*\w\(", line):
                start = i
            if start is None:
                continue
            if line == "}":
                name = re.search(r"(\w+)\(", lines[start])
                if name:
                    out[name.group(1)] = i - start + 1
                start = None
            elif line.endswith(";") and line[0] not in " }":
                start = None
    return out


def effort(table, torch_files):
    functions = function_lines(
        [p for folder in ("aten", "backends/cpu", "backends/meta")
         for p in (ROOT / folder).glob("*.cpp")])
    yaml, cpp, ours = [], [], {}
    for path in schema_files()[:-1]:
        for name, lines in entries_of(path):
            text = "\n".join(l for l in lines if "  example:" not in l)
            dispatch = re.search(r"dispatch: \{(.*)\}", text)
            kernels = re.findall(r": (\w+)", dispatch.group(1)) if dispatch else []
            written = sum(functions.get(k, 0) for k in dict.fromkeys(kernels))
            count = len(text.splitlines())
            yaml.append(count)
            cpp.append(written)
            ours[name] = count
    table.add("lines of YAML an entry, median", f"{statistics.median(yaml):.0f}")
    none = sum(1 for c in cpp if c == 0)
    table.add("lines of C++ an entry, median",
              f"{statistics.median(cpp):.0f}; {none * 100 // len(cpp)} % have none, "
              f"the others {statistics.median([c for c in cpp if c]):.0f} "
              "(the kernel that dispatch: names, without what it calls)")
    if torch_files is None:
        return
    theirs = collections.Counter()
    for path in torch_files:
        for name, lines in entries_of(pathlib.Path(path)):
            # PyTorch writes each form down.
            base = re.sub(r"[._](?:\w*_)?out$|\.grad_input$", "", name)
            base = re.sub(r"^(\w*[a-z0-9])_(?=\.|$)", r"\1", base)
            theirs[base] += len(lines)
    shared = [n for n in ours if n in theirs]
    table.add(f"the same {len(shared)} operators in YAML, median",
              f"{statistics.median(ours[n] for n in shared):.0f}; PyTorch "
              f"{statistics.median(theirs[n] for n in shared):.0f}, beside its C++")


def growth(table, sygen):
    """CPU time and peak memory of files of more and more operators."""
    def each(n, *command):
        child = subprocess.Popen([sygen, *command], cwd=ROOT)
        _, status, used = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"{command} failed")
        return (f"{(used.ru_utime + used.ru_stime) / n * 1e6:.0f} us, "
                f"{used.ru_maxrss / n:.1f} KiB")

    for n in (1000, 10000, 150000):
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work, "grown.yaml")
            path.write_text("".join(f"""
- func: grown::p{i}(Tensor self, Tensor other, Scalar alpha=1) -> Tensor
  promote: int_to_float
  pointwise: self * exp(other) + alpha
""" for i in range(n)))
            of = f"of {n} operators, {path.stat().st_size / 1e6:.1f} MB, each"
            table.add(f"check {of}", each(
                n, "check", "--with", "schemas/ops", "--", path))
            if n > 10000:
                continue
            known = [w for f in sorted((ROOT / "schemas/ops").glob("*.yaml"))
                     for w in ("--extra", f)]
            outs = [w for end in ("h", "cpp")
                    for w in ("--out", path.with_suffix("." + end))]
            table.add(f"emit a library {of}", each(
                n, "emit", "--kind", "library", "--input", path, *known, *outs))


def load(table, rounds):
    program = BIN / "examples/runtime_op/runtime_op"
    if not program.exists():
        return
    times = []
    for _ in range(rounds):
        _, out = run(program)
        times.append(float(re.search(r"first result after ([\d.]+) ms", out)[1]))
    table.add("load a schema into a process, to the first result",
              f"{min(times):.1f} to {max(times):.1f} ms")


EDITS = {
    # what: [(file, text, its new form)], operator, its arguments
    "the body of a pointwise operator":
        ([("schemas/ops/activation.yaml", "pointwise: where(self > 0, self, ",
           "pointwise: where(0 < self, self, ")], "leaky_relu", "2x3"),
    "a new pointwise operator":
        ([("schemas/ops/activation.yaml", None, """
- func: _edited(Tensor self) -> Tensor
  pointwise: self * 2 + 1
  derivative: {self: auto}
""")], "_edited", "2x3"),
    "a new reduction":
        ([("schemas/ops/reduction.yaml", None, """
- func: _edited(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  reduce: {map: self * self, identity: 0, combine: a + b}
  derivative: non_differentiable
""")], "_edited", "2x3"),
    "a new composite operator":
        ([("schemas/ops/activation.yaml", None, """
- func: _edited(Tensor self) -> Tensor
  composite: relu(self) + tanh(self)
""")], "_edited", "2x3"),
    "a new view":
        ([("schemas/ops/view.yaml", None, """
- func: _edited(Tensor(a) self) -> Tensor(a)
  view: {sizes: "reversed(self.sizes())", strides: "reversed(self.strides())"}
  derivative: {self: auto}
""")], "_edited", "2x3"),
    "a new kernel in C++":
        ([("schemas/ops/linalg.yaml", None, """
- func: _edited(Tensor self) -> Tensor
  dispatch: {CPU: edited_twice}
  derivative: non_differentiable
"""), ("backends/cpu/linalg.cpp", None, """
namespace sy::cpu {
Tensor edited_twice(const Tensor& self) { return self + self; }
}  // namespace sy::cpu
""")], "_edited", "2x3"),
}


def edits(table):
    build = ["bazel", "build", "--ui_event_filters=-info,-debug",
             "--noshow_progress", "//tools/sy"]
    env = dict(os.environ, SWITCHYARD_EXAMPLES=os.devnull)
    run(*build)
    for what, (changes, operator, words) in EDITS.items():
        kept = {file: (ROOT / file).read_text() for file, _, _ in changes}
        try:
            for file, old, new in changes:
                text = kept[file]
                if old is not None and old not in text:
                    sys.exit(f"{file}: no '{old}' to edit")
                (ROOT / file).write_text(
                    text + new if old is None else text.replace(old, new, 1))
            start = time.perf_counter()
            run(*build)
            run(BIN / "tools/sy/sy", "prove", operator, "--args", words, env=env)
            table.add(f"edit to call: {what}",
                      f"{time.perf_counter() - start:.0f} s")
        finally:
            for file, text in kept.items():
                (ROOT / file).write_text(text)
        run(*build)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python")
    parser.add_argument("--sygen", default=BIN / "codegen/sygen")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--edit", action="store_true")
    args = parser.parse_args()

    table = Table()
    print("| what | figure |\n|---|---|")
    files = None
    if args.python:
        files = torchgen(table, args.sygen, args.python, args.rounds)
    generation(table, args.sygen, args.rounds)
    effort(table, files)
    load(table, args.rounds)
    growth(table, args.sygen)
    if args.edit:
        edits(table)


if __name__ == "__main__":
    main()
