"""Collectives, and steps of training on two ranks, beside libtorch's with Gloo
and MPI alone.

Both sides run two processes of one thread each and take turns, so that a
machine that slows down slows down both. The time of a call is that of the
slower rank; figures are medians over the calls of a round, then over the rounds.
Needs //benchmarks/distributed:distributed_bench, //tools/sy and mpicxx;
installs torch the first time (as `./sy bench --peer`).
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools"))
import bench  # noqa: E402

OURS = os.path.join(bench.BUILT, "benchmarks", "distributed",
                    "distributed_bench")
SY = os.path.join(bench.BUILT, "tools", "sy", "sy")
CACHE = os.path.join(
    os.environ.get("PEER_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "switchyard-peers"))
PYTHON = os.path.join(CACHE, "venv", "bin", "python")
TORCH = [PYTHON, os.path.join(HERE, "peers", "torch_peer.py")]
MPI_SOURCE = os.path.join(HERE, "peers", "mpi_alone.cpp")
MPI = os.path.join(CACHE, "mpi_alone")

KB, MB = 1 << 10, 1 << 20
SIZES = {"1KB": KB, "4KB": 4 * KB, "1MB": MB, "64MB": 64 * MB}
# Calls before the clock runs, and calls that count.
CALLS = {KB: (100, 1000), 4 * KB: (100, 1000), MB: (20, 200), 64 * MB: (2, 11)}
STEPS = (10, 30)
PIECES = [0] + [KB * n for n in (256, 512, 1024, 2048, 4096)]
MODELS = ("convnet", "transformer")
# Smaller ones than the defaults, whose last holds most gradients of so small a
# model: it can only go when backward is over.
BUCKETS = {"convnet": (16 * KB,), "transformer": (256 * KB,)}
MISMATCHES = ("dtype", "sizes", "operator")
SECOND = 1e9

# The most that a figure may be: of the other side's, or nanoseconds.
RATIOS = {
    "all_reduce_1KB": 0.2,
    "all_reduce_1MB": 0.3,
    "all_reduce_64MB": 0.9,
    "all_reduce_1MB/mpi": 1.1,
    "all_reduce_64MB/mpi": 1.1,
    "check_4KB": 1.05,
    "ddp_convnet": 0.8,
    "ddp_transformer": 0.8,
}
TIMES = {"dead": SECOND, **{f"mismatch_{k}": SECOND for k in MISMATCHES}}
WAITING = 0.1
DEBUG = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}


class Run:
    """The output of a program."""

    def __init__(self, command, env=None, may_fail=False):
        env = {**bench.LIBRARIES, "SWITCHYARD_PLUGINS": bench.BUILT,
               "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore",
               "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               **os.environ, **(env or {})}
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False,
                              timeout=300)
        self.text = done.stdout
        self.figures = {name: float(value) for name, value in re.findall(
            r"^figure (\S+) (\S+)$", done.stdout, re.M)}
        self.notes = re.findall(r"^note (.*)$", done.stdout, re.M)
        if done.returncode != 0 and not may_fail:
            sys.exit(f"compare: {' '.join(command)} failed "
                     f"({done.returncode}):\n{done.stderr[-2000:]}")

    def figure(self, name):
        """None if there is none."""
        return self.figures.get(name)

    def slower(self, name):
        """The largest of both ranks' figures; None if one has none."""
        both = [self.figures.get(f"{name}_rank{r}") for r in range(2)]
        return None if None in both else max(both)

    def losses(self):
        found = re.search(r"^losses (.*)$", self.text, re.M)
        return [float(v) for v in found[1].split()]


def ours(*arguments, env=None, may_fail=False, trace=()):
    return Run([SY, "launch", "-n", "2", "--no-labels", *trace, OURS,
                *map(str, arguments)], env, may_fail)


def torch(*arguments, env=None, may_fail=False):
    return Run(TORCH + [str(a) for a in arguments], env, may_fail)


def mpi(size):
    """By MPI alone in its best piece size, and that size."""
    run = Run(["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none",
               MPI, str(size), *map(str, CALLS[size]),
               *(str(p) for p in PIECES if p < size)])
    return min(run.figures.values()), run


class Row:
    """A figure of ours and the same of another side, round by round."""

    def __init__(self, name, beside):
        self.name, self.beside = name, beside
        self.mine, self.theirs, self.notes = [], [], []

    def add(self, mine, theirs):
        self.mine.append(mine)
        self.theirs.append(theirs)

    @staticmethod
    def median(values):
        return None if None in values else statistics.median(values)

    def figures(self):
        return {"ns": self.median(self.mine),
                "peer_ns": self.median(self.theirs)}

    def goal(self, ns, peer):
        if self.name in TIMES:
            goal = TIMES[self.name]
            return f"< {goal / SECOND:g} s", bench.verdict(ns, goal)
        if self.name in RATIOS and peer:
            goal = RATIOS[self.name]
            return f"{goal:.2f}", bench.verdict(ns / peer, goal)
        return "", ""

    def __str__(self):
        ns, peer = self.median(self.mine), self.median(self.theirs)
        ratio = f"{ns / peer:.2f}" if ns and peer else "-"
        goal, verdict = self.goal(ns, peer) if ns else ("", "no figure")
        text = (f"{self.name:26} {bench.pretty(ns):>9} {bench.pretty(peer):>9} "
                f"{ratio:>6} {goal:>7}  {self.beside:24} {verdict}").rstrip()
        return "\n".join([text] + [f"    {note}" for note in self.notes])


def all_reduce(rounds):
    for label, size in SIZES.items():
        row = Row(f"all_reduce_{label}", "libtorch, Gloo")
        alone = Row(f"all_reduce_{label}/mpi", "MPI alone, best pieces")
        pieces = {}
        for _ in range(rounds):
            name = f"all_reduce_{size}"
            mine = ours("all_reduce", size, *CALLS[size]).figure(name)
            row.add(mine, torch("all_reduce", size, *CALLS[size]).figure(name))
            again = ours("all_reduce", size, *CALLS[size]).figure(name)
            best, run = mpi(size)
            alone.add(again, best)
            for name, ns in run.figures.items():
                pieces.setdefault(name, []).append(ns)
        # The piece size that is best in the median, not in each round.
        medians = {p: statistics.median(v) for p, v in pieces.items()}
        best = min(medians, key=medians.get)
        alone.theirs = pieces[best]
        alone.notes.append(", ".join(
            f"{pieces_of(p)} {bench.pretty(ns)}"
            for p, ns in medians.items()))
        yield row
        yield alone


def pieces_of(name):
    size = int(name.rsplit("_", 1)[1])
    return f"{size >> 10} KB" if size >= KB else f"{size} bytes"


def check(rounds):
    """Measures the fingerprint, on a message that it weighs most on."""
    size, name = SIZES["4KB"], f"all_reduce_{SIZES['4KB']}"
    row = Row("check_4KB", "ours, not checked")
    debug = Row("check_4KB/libtorch", "libtorch, not checked")
    off = {"SWITCHYARD_DISTRIBUTED_UNCHECKED": "1"}
    # A difference of a few percent needs more turns than a ratio.
    for i in range(4 * rounds):
        turns = [ours("fingerprint", size, *CALLS[size],
                      env=e).figure(name) for e in ((off, {}) if i % 2 else
                                                    ({}, off))]
        row.add(*(reversed(turns) if i % 2 else turns))
        if i < rounds:
            debug.add(torch("all_reduce", size, *CALLS[size],
                            env=DEBUG).figure(name),
                      torch("all_reduce", size, *CALLS[size]).figure(name))
    yield row
    yield debug


def same(mine, theirs, what):
    for a, b in zip(mine, theirs, strict=True):
        if abs(a - b) > 1e-3 * abs(b):
            sys.exit(f"compare: {what}: losses {mine}, libtorch's {theirs}")


def steps(rounds):
    for model in MODELS:
        row = Row(f"ddp_{model}", "libtorch, Gloo")
        tuned = Row(f"ddp_{model}/tuned", "the same, faster options")
        alone = Row(f"local_{model}", "libtorch, no group")
        for _ in range(rounds):
            mine = ours("ddp", model, *STEPS)
            theirs = torch("ddp", model, *STEPS)
            same(mine.losses(), theirs.losses(), f"ddp {model}")
            ns = mine.figure(f"ddp_{model}")
            row.add(ns, theirs.figure(f"ddp_{model}"))
            tuned.add(ns, torch("tuned", model,
                                *STEPS).figure(f"tuned_{model}"))
            name = f"local_{model}"
            alone.add(ours("local", model, *STEPS).figure(name),
                      torch("local", model, *STEPS).figure(name))
        yield row
        yield tuned
        yield alone


def waited(path, model):
    """The nanoseconds a step, from a trace, that a rank waited for gradients."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    # Averages are of gradients: nothing else here asks for them.
    waits = [e for e in events
             if e["name"] == "wait" and ", avg" in e["args"]["call"]]
    if not waits:
        sys.exit(f"compare: {model}: nobody waited for gradients in the trace")
    # The first steps do not count: buckets are made anew after one.
    begin, end = (f(e["ts"] for e in waits) for f in (min, max))
    late = sum(e["dur"] for e in waits if e["ts"] >= (begin + end) / 2)
    ranks, steps_seen = 2, sum(STEPS) / 2
    return 1e3 * late / ranks / steps_seen


class Waiting:
    """Time waited in backward, and the collectives' own, a step."""

    def __init__(self, pairs):
        self.share = None
        if pairs:
            self.ns, self.alone = (statistics.median(v) for v in zip(*pairs))
            self.share = self.ns / self.alone

    def __str__(self):
        if self.share is None:
            return "-"
        return (f"{bench.pretty(self.ns)} of {bench.pretty(self.alone)} = "
                f"{self.share:.0%}")


def waiting(rounds):
    """Yields names, and what waited on each side. libtorch logs that itself."""
    for model in MODELS:
        for bucket in (None, *BUCKETS[model]):
            mine, theirs = [], []
            for _ in range(rounds):
                with tempfile.TemporaryDirectory() as folder:
                    trace = os.path.join(folder, "trace.json")
                    run = ours("ddp", model, *STEPS, *filter(None, [bucket]),
                               trace=["--trace", trace])
                    mine.append((waited(trace, model),
                                 run.figure(f"alone_{model}")))
                if bucket is None:
                    run = torch("ddp", model, *STEPS)
                    theirs.append((run.figure(f"waited_{model}"),
                                   run.figure(f"alone_{model}")))
            name = f"waiting_{model}" + (f"/{bucket >> 10}KB" if bucket else "")
            yield name, Waiting(mine), Waiting(theirs)


def faults(rounds):
    for kind in MISMATCHES:
        name = f"mismatch_{kind}"
        row = Row(name, "libtorch, debug mode")
        for _ in range(rounds):
            mine = ours("mismatch", kind, may_fail=True)
            theirs = torch("mismatch", kind, env=DEBUG, may_fail=True)
            row.add(mine.slower(name), theirs.slower(name))
        silent = torch("mismatch", kind, may_fail=True)
        row.notes += mine.notes + [f"libtorch by default: {note}"
                                   for note in silent.notes]
        yield row
    row = Row("dead", "libtorch, Gloo")
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            mine = ours("dead", os.path.join(folder, "killed"), may_fail=True)
        theirs = torch("dead", may_fail=True)
        row.add(mine.figure("dead"), theirs.figure("dead"))
    row.notes += mine.notes + [f"libtorch: {n}" for n in theirs.notes]
    yield row


def set_up():
    """Builds the peers."""
    os.makedirs(CACHE, exist_ok=True)
    if not os.path.exists(PYTHON):
        subprocess.run([sys.executable, "-m", "venv",
                        os.path.join(CACHE, "venv")], check=True)
    if subprocess.run([PYTHON, "-c", "import torch"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", "torch==2.15.0"],
                       check=True)
    if (not os.path.exists(MPI)
            or os.path.getmtime(MPI) < os.path.getmtime(MPI_SOURCE)):
        subprocess.run(["mpicxx", "-O2", "-std=c++20", MPI_SOURCE, "-o", MPI],
                       check=True)


PARTS = {"all_reduce": all_reduce, "check": check, "steps": steps,
         "faults": faults}


def read_options():
    parser = argparse.ArgumentParser(prog="compare.py")
    parser.add_argument("--only", choices=[*PARTS, "waiting"],
                        help="one part of the table")
    parser.add_argument("--rounds", type=int, default=5,
                        help="turns at each figure (5)")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    return parser.parse_args()


def main():
    options = read_options()
    set_up()
    results = {}
    print(f"{'figure':26} {'ours':>9} {'beside':>9} {'ratio':>6} {'goal':>7}",
          flush=True)
    for name, part in PARTS.items():
        if options.only in (None, name):
            for row in part(options.rounds):
                results[row.name] = row.figures()
                print(row, flush=True)
    if options.only in (None, "waiting"):
        print("waited in backward, of the collectives' own time; goal "
              f"{WAITING:.0%}")
        for name, mine, theirs in waiting(options.rounds):
            results[name] = {"share": mine.share, "peer_share": theirs.share}
            print(f"{name:26} {mine}; libtorch {theirs}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
