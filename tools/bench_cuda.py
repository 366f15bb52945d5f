"""Runs benchmarks/cuda on the GPU beside PyTorch, CuPy, CUB and cuBLASLt, as far as the
machine has them: ./sy bench --cuda, or bench_cuda.py in a folder that
cuda_bundle.sh made.

The sides take turns; figures are medians over the rounds. `share` is that of a
copy on the device in the same round. The time of calls is the host's, else it is
the device's, by events. Exit 1 if a side failed, not if a goal is missed.
"""

import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import cuda_machine

PEERS = os.path.join(cuda_machine.ROOT, "benchmarks", "cuda", "peers")
SKIP = "SKIPPED benchmarks of CUDA"

# The least share of the copy, in %, by how a name begins; the first counts.
SHARES = [("add_transposed", 80), ("add", 92), ("mul", 92), ("gelu", 92),
          ("sum", 90), ("argmax", 90), ("softmax", 85), ("layer_norm", 85)]
# The least ratio of CUB's time to ours.
OF_CUB = {"sort_f32": 0.98, "cumsum_f32": 0.98}
# Nanoseconds, at most.
TIMES = {"own_add": 350, "empty": 80, "first_pointwise": 100e3,
         "first_reduction": 100e3, "first_other": 100e3}
TIMES["submit_mm_64"] = 4e3
OF_BLAS = 0.99        # the time of cuBLASLt's fastest way / ours, at least
OVER_BARE = TIMES["own_add"]  # that submitting may take beyond the launch
OF_TORCH = 0.5        # of its time to submit, at most
OF_TORCH_STEP = 0.8   # of its time for a step of training, at most
OF_TORCH_CONVOLUTION = 1.0  # torch's time / ours, at least
LIBRARY_MB = 15
SECONDS = 240         # of one program in one round


def pretty(ns):
    if ns is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def read(text):
    """{name: (nanoseconds, bytes)} of lines NAME, NANOSECONDS[, BYTES]."""
    figures = {}
    for line in text.splitlines():
        parts = line.split("\t")
        if len(parts) in (2, 3):
            size = float(parts[2]) if len(parts) == 3 else 0.0
            figures[parts[0]] = (float(parts[1]), size)
    return figures


def output_of(words, variables, seconds):
    """The output of a command, and "" or how it failed."""
    name = " ".join(os.path.basename(w) for w in words)
    try:
        run = subprocess.run(words, env=variables, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True,
                             errors="replace", check=False, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), f"{name}: over {seconds:.0f} s"
    if run.returncode == 0:
        return run.stdout, ""
    said = run.stderr.strip()[-600:]
    return run.stdout, f"{name} ({run.returncode}): {said}"


class Side:
    """A program or several, run once a round. One that fails is left out of
    later rounds."""

    def __init__(self, name, commands):
        self.name = name
        self.commands = commands  # [(words, variables)]
        self.rounds = []
        self.failures = []

    def run(self, smoke, left_of=lambda seconds: seconds):
        figures, left = {}, []
        for words, variables in self.commands:
            seconds = left_of(SECONDS)
            if seconds <= 0:
                break
            text, failure = output_of(words + ["--smoke"] * smoke, variables,
                                      seconds)
            figures.update(read(text))  # what came before a failure, too
            if failure:
                self.failures.append(failure)
            else:
                left.append((words, variables))
        self.commands = left
        self.rounds.append(figures)

    def ns(self, name):
        return self.median(name, lambda figures: figures[name][0])

    def share(self, name):
        """The share of the copy's bandwidth, in %, within a round."""
        def of(figures):
            (ns, size), (copy_ns, copy_size) = figures[name], figures["copy"]
            return 100 * (size / ns) / (copy_size / copy_ns)

        known = any("copy" in r and r.get(name, (0, 0))[1] and r[name][0]
                    for r in self.rounds)
        return self.median(name, of) if known and name != "copy" else None

    def median(self, name, of):
        values = [of(r) for r in self.rounds if name in r]
        return statistics.median(values) if values else None


def ours(built, folder):
    program = built.program("cuda_bench", "benchmarks/cuda")
    # The programs are compiled before the clock runs, but for first calls.
    jit = os.environ.get("SWITCHYARD_CUDA_JIT", "wait")
    steady = built.environment(SWITCHYARD_CUDA_JIT=jit,
                               SWITCHYARD_CUDA_CACHE=folder)
    fresh = built.environment(SWITCHYARD_CUDA_CACHE="")
    return Side("ours", [([program, "host"], steady),
                         ([program, "device"], steady),
                         ([program, "products"], steady),
                         ([program, "convolutions"], steady),
                         ([program, "steps"], steady),
                         ([program, "first"], fresh)])


def python_peer(module, file):
    if importlib.util.find_spec(module) is None:
        return f"no {module} here"
    words = [sys.executable, os.path.join(PEERS, file)]
    return Side(module, [(words, dict(os.environ))])


def compiled_peer(name, folder, *flags):
    """NAME_peer.cu, if nvcc compiles it here."""
    nvcc = cuda_machine.toolkit_program("nvcc")
    if nvcc is None:
        return f"no nvcc here for {name}"
    program = os.path.join(folder, name + "_peer")
    build = subprocess.run(
        [nvcc, "-O3", "-std=c++17", "-arch=native", "-o", program,
         os.path.join(PEERS, name + "_peer.cu"), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    if build.returncode != 0:
        return (f"{name} does not compile here: "
                f"{build.stdout.strip()[-300:]}")
    return Side(name, [([program], dict(os.environ))])


def goal_of(name, side, peers):
    """(the goal as text, whether it is met); ("", None) where there is none or
    what it needs is not here."""
    ns, share = side.ns(name), side.share(name)
    if name == "submit_add" and side.ns("bare_launch") is not None:
        most = side.ns("bare_launch") + OVER_BARE
        torch = peers["torch"].ns(name) if "torch" in peers else None
        met = ns <= most and (torch is None or ns <= OF_TORCH * torch)
        return f"<= {pretty(most)}, {OF_TORCH} of torch", met
    if name in TIMES:
        return f"<= {pretty(TIMES[name])}", ns <= TIMES[name]
    if name in OF_CUB and "cub" in peers and peers["cub"].ns(name):
        ratio = peers["cub"].ns(name) / ns
        return f"CUB / ours >= {OF_CUB[name]}", ratio >= OF_CUB[name]
    if name.startswith("step_") and "torch" in peers and (
            peers["torch"].ns(name)):
        met = ns <= OF_TORCH_STEP * peers["torch"].ns(name)
        return f"<= {OF_TORCH_STEP} of torch", met
    if re.match("conv_.*_bf16_", name) and "torch" in peers and (
            peers["torch"].ns(name)):
        ratio = peers["torch"].ns(name) / ns
        return f"torch / ours >= {OF_TORCH_CONVOLUTION}", (
            ratio >= OF_TORCH_CONVOLUTION)
    if name.startswith("mm_") and not name.endswith("_own") and (
            "blas" in peers and peers["blas"].ns(name)):
        ratio = peers["blas"].ns(name) / ns
        return f"cuBLASLt / ours >= {OF_BLAS}", ratio >= OF_BLAS
    for begin, least in SHARES:
        if name.startswith(begin) and share is not None:
            return f">= {least} %", share >= least
    return "", None


def rows(side, peers, wanted):
    """The rows to print and write, a dict for each name."""
    names = dict.fromkeys(n for r in side.rounds for n in r)
    for name in names:
        if not re.search(wanted, name):
            continue
        goal, met = goal_of(name, side, peers)
        row = {"name": name, "ns": side.ns(name), "share": side.share(name),
               "goal": goal, "met": met}
        for peer in peers.values():
            row[peer.name + "_ns"] = peer.ns(name)
        yield row


def library(built):
    size = os.path.getsize(built.library("cuda"))
    for more in (built.pack(), built.cub()):
        size += os.path.getsize(more) if more else 0
    return {"name": "library", "mb": size / 1e6, "goal": f"<= {LIBRARY_MB} MB",
            "met": size <= LIBRARY_MB * 1e6, "with_pack": bool(built.pack()), "with_cub": bool(built.cub())}


def line_of(row, peers):
    met = {True: "ok", False: "MISSED", None: ""}[row["met"]]
    if "mb" in row:
        value = f"{row['mb']:.1f} MB"
        return f"{row['name']:20} {value:>9}{'':8}{row['goal']}  {met}"
    share = "" if row["share"] is None else f"{row['share']:.0f} %"
    text = f"{row['name']:20} {pretty(row['ns']):>9} {share:>6}"
    for peer in peers.values():
        theirs = row[peer.name + "_ns"]
        ratio = f"{theirs / row['ns']:.2f}" if theirs and row["ns"] else ""
        text += f" {pretty(theirs):>9} {ratio:>6}"
    return f"{text}  {row['goal']:28} {met}".rstrip()


def measure(options, built, folder, about):
    side = ours(built, folder)
    peers = {}
    for peer in ([] if options.alone else
                 [python_peer("torch", "torch_peer.py"),
                  python_peer("cupy", "cupy_peer.py"),
                  compiled_peer("cub", folder),
                  compiled_peer("blas", folder, "-lcublasLt")]):
        if isinstance(peer, str):
            print(peer)
        else:
            peers[peer.name] = peer
    end = time.monotonic() + 60 * (options.minutes or 1e6)

    def left_of(seconds):
        return min(seconds, end - time.monotonic())

    for turn in range(options.rounds):
        for each in [side, *peers.values()]:
            if left_of(1) < 1:
                print(f"round {turn + 1} of {options.rounds}: {each.name}: no "
                      "time left", flush=True)
                continue
            each.run(options.smoke, left_of)
            print(f"round {turn + 1} of {options.rounds}: {each.name}",
                  flush=True)
            if options.json:  # a run may be stopped at any moment
                write(options, about, side, peers,
                      rows(side, peers, options.filter))
    return side, peers


def failures_of(side, peers):
    return [f for s in [side, *peers.values()] for f in s.failures]


def write(options, about, side, peers, table):
    with open(options.json + ".new", "w", encoding="utf-8") as file:
        json.dump({"machine": about, "rounds": options.rounds,
                   "smoke": options.smoke,
                   "failures": failures_of(side, peers),
                   "figures": list(table)}, file, indent=1)
    os.replace(options.json + ".new", options.json)


def main():
    parser = argparse.ArgumentParser(prog="./sy bench --cuda")
    parser.add_argument("--cuda", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--built", default=cuda_machine.ROOT,
                        help="a folder that cuda_bundle.sh made")
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--filter", default="", help="names, as an expression")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, help="all that it may take")
    parser.add_argument("--alone", action="store_true",
                        help="nothing beside ours")
    parser.add_argument("--smoke", action="store_true",
                        help="tiny sizes: whether it runs, not what it takes")
    options = parser.parse_args()
    built = cuda_machine.Built(options.built)
    about = []
    if not cuda_machine.look(built, about.append):
        print(about[-1], SKIP, sep="\n")
        return 0
    print(*about, sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        side, peers = measure(options, built, folder, about)
    header = f"{'':20} {'ours':>9} {'share':>6}"
    for peer in peers:
        header += f" {peer:>9} {'ratio':>6}"
    print(header + "  goal")
    table = [*rows(side, peers, options.filter), library(built)]
    for row in table:
        print(line_of(row, peers))
    failures = failures_of(side, peers)
    if options.json:
        write(options, about, side, peers, table)
    goals = [row["met"] for row in table if row["met"] is not None]
    print(f"{sum(goals)} of {len(goals)} goals met")
    for failure in failures:
        print(f"FAILED {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
