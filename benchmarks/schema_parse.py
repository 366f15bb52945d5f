"""Reading PyTorch's schemas: `sygen check` beside torchgen, in turns.

torchgen parses native_functions.yaml, tags.yaml and derivatives.yaml of its own
package; sygen parses and checks the same files. Each runs in processes of its
own; the times are of the best round, without the start of Python and the
imports of torchgen for the one, with everything for the other.

Usage: schema_parse.py --python PYTHON [--sygen SYGEN] [--rounds N]
PYTHON is one that can import torchgen and yaml (PyYAML).
"""

import argparse
import pathlib
import subprocess
import sys
import time

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


def torchgen(python):
    run = subprocess.run([python, "-c", TORCHGEN], capture_output=True,
                         text=True, check=False)
    if run.returncode:
        sys.exit(f"{python}: {(run.stderr.strip() or 'failed').splitlines()[-1]}")
    folder, count, functions, everything = run.stdout.split()
    return folder, int(count), float(functions) * 1e3, float(everything) * 1e3


def sygen(program, command, files):
    start = time.perf_counter()
    run = subprocess.run([program, *command, *files], capture_output=True,
                         text=True, check=False)
    elapsed = (time.perf_counter() - start) * 1e3
    if run.returncode:
        sys.exit(f"{program}: {run.stderr.strip().splitlines()[0]}")
    return elapsed, len(run.stdout.splitlines())


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--sygen", default=str(root / "bazel-bin/codegen/sygen"))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    best = {}
    counts = {}

    def note(name, milliseconds):
        best[name] = min(best.get(name, milliseconds), milliseconds)

    for _ in range(args.rounds):
        folder, counts["torchgen"], functions, everything = torchgen(args.python)
        note("torchgen functions", functions)
        note("torchgen all", everything)
        native = folder + "/ATen/native/native_functions.yaml"
        tags = folder + "/ATen/native/tags.yaml"
        derivatives = folder + "/autograd/derivatives.yaml"
        note("sygen functions", sygen(args.sygen, ["check"], [native, tags])[0])
        note("sygen all",
             sygen(args.sygen, ["check"], [native, tags, derivatives])[0])
        counts["sygen"] = sygen(args.sygen, ["print", "--autogen"],
                                [native])[1]

    print(f"functions, those added included: torchgen {counts['torchgen']}, "
          f"sygen {counts['sygen']}")
    for what, files in (("functions", "native_functions.yaml, tags.yaml"),
                        ("all", "the same and derivatives.yaml")):
        theirs, ours = best["torchgen " + what], best["sygen " + what]
        print(f"{files}: torchgen {theirs:.0f} ms, sygen {ours:.0f} ms, "
              f"{theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
