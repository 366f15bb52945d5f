"""The cost of a plugin: compile time and size of a small one beside the same
written for libtorch, and the time to load and unload it.

Usage: plugin_figures.py PREFIX [--python PYTHON] [--rounds N]

PREFIX is what `./sy install` made; PYTHON has torch. Medians of N rounds.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugin")
CXX = os.environ.get("CXX", "c++")
FLAGS = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"]


def seconds(command):
    """Seconds of one core, which other work on the machine changes least."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    subprocess.run(command, check=True)
    return used() - before


def compiled(source, out, flags, rounds):
    """Median seconds to compile and link, bytes of the library, stripped."""
    command = [CXX, *FLAGS, os.path.join(HERE, source), "-o", out, *flags]
    took = statistics.median(seconds(command) for _ in range(rounds))
    subprocess.run(["strip", "-o", out + ".stripped", out], check=True)
    return took, os.path.getsize(out), os.path.getsize(out + ".stripped")


def torch_flags(python):
    script = "import torch; print(torch.__path__[0])"
    folder = subprocess.run([python, "-c", script], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    include = os.path.join(folder, "include")
    return [f"-I{include}", f"-I{include}/torch/csrc/api/include",
            f"-L{folder}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]


def row(name, ours, theirs):
    print(f"| {name} | {ours} | {theirs} |")


def main():
    parser = argparse.ArgumentParser(prog="plugin_figures.py")
    parser.add_argument("prefix")
    parser.add_argument("--python", help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    prefix = os.path.abspath(options.prefix)
    ours_flags = [f"-I{prefix}/include/switchyard", f"-L{prefix}/lib",
                  "-lswitchyard"]
    with tempfile.TemporaryDirectory() as work:
        library = os.path.join(work, "libsmall.so")
        ours = compiled("small.cpp", library, ours_flags, options.rounds)
        theirs = None
        if options.python:
            theirs = compiled("small_torch.cpp",
                              os.path.join(work, "libsmall_torch.so"),
                              torch_flags(options.python), options.rounds)
        print("| a plugin of two operators | Switchyard | libtorch |")
        print("|---|---|---|")
        row("compile and link", f"{ours[0]:.2f} s",
            f"{theirs[0]:.2f} s" if theirs else "")
        row("size", f"{ours[1] / 1024:.0f} KiB",
            f"{theirs[1] / 1024:.0f} KiB" if theirs else "")
        row("size, stripped", f"{ours[2] / 1024:.0f} KiB",
            f"{theirs[2] / 1024:.0f} KiB" if theirs else "")
        load = os.path.join(work, "load")
        subprocess.run([CXX, "-std=c++20", "-O2",
                        os.path.join(HERE, "load.cpp"), "-o", load,
                        *ours_flags, f"-Wl,-rpath,{prefix}/lib"], check=True)
        figures = subprocess.run([load, library], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        names = {"notes": "check its headers, read its notes", "first_load": "load, first time",
                 "load_again": "load again", "unload": "unload",
                 "own_call": "call a no-op of the program",
                 "plugin_call": "call a no-op of the plugin"}
        for line in figures.splitlines():
            name, value = line.split()
            is_call = name.endswith("call")
            text = f"{value} ns" if is_call else f"{float(value):.0f} us"
            row(names[name], text, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
