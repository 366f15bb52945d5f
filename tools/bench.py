"""Runs the benchmarks, with --peer beside libtorch's, and prints the ratios.

Both sides run the same number of threads and take turns at each benchmark, so
that a machine that slows down slows down both. Figures are medians over the
rounds. `roofline` is the share that a benchmark reaches of the most that the
machine can do: of a plain copy of as many bytes, or of multiplying and adding in
registers. A benchmark that fits the caches can pass the copy.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(ROOT, "bazel-bin")
OURS = [os.path.join(BUILT, "benchmarks", "bench")]
# Bazel puts them elsewhere than beside the program, where it would look.
LIBRARIES = {variable: os.path.join(BUILT, f"libswitchyard_{name}.so")
             for variable, name in (("SWITCHYARD_LAPACK", "lapack"),
                                    ("SWITCHYARD_ONEDNN", "onednn"),
                                    ("SWITCHYARD_JIT_LIBRARY", "jit"))}
PEER = [os.path.join(ROOT, "benchmarks", "peer", "run_torch.sh")]
UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

# The ratio to libtorch's time to reach; every other name: no slower.
GOALS = {
    "empty_1": 50 / 266,
    "add_1": 90 / 595,
    "add_inplace_1": 50 / 462,
    "add_out_1": 50 / 412,
    "view_1": 45 / 114,
    "transpose_1": 45 / 220,
    "select_1": 45 / 240,
    "sum_1": 120 / 980,
    "matmul_4": 150 / 1446,
    "linear_8x64": 1.4 / 5.7,
    "add_grad_fwd": 200 / 1934,
    "chain_grad": 450 / 5450,
    "mlp_train/real_time": 50 / 162,
    "ew_add/16777216/real_time": 15 / 33.8,
    "ew_add_transposed/4096/real_time": 25 / 278,
    "softmax/4096/real_time": 2 / 4.0,
    "layer_norm/4096/real_time": 1 / 1.5,
    "sum_dim0/4096/real_time": 6 / 13,
}
# Calls whose goal is what they cost beyond a direct call, in ns.
OVERHEADS = {"dispatch_typed_noop": 5, "dispatch_boxed_noop": 12}
DIRECT = "direct_noop"


COPY, FLOPS = "roofline_copy/", "roofline_f32/real_time"
# Numbers that FLOPS says nothing of.
OTHER_DTYPES = ("BFloat16", "Double")


def output_of(command, threads=1):
    env = {**LIBRARIES, **os.environ, "OMP_NUM_THREADS": str(threads),
           "PJRT_NPROC": str(threads)}
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"bench: {os.path.basename(command[0])} failed "
                 f"({run.returncode}):\n{run.stderr[-2000:]}")
    return run.stdout


def names_of(command):
    listing = output_of(command + ["--benchmark_list_tests=true"])
    return [line for line in listing.splitlines() if line]


class Figure:
    """One run of one benchmark, or the median of several."""

    def __init__(self, ns, bandwidth=None, flops=None, peak=None, items=None):
        self.ns = ns                # an iteration
        self.bandwidth = bandwidth  # bytes a second
        self.flops = flops          # a second
        self.peak = peak            # MB of memory
        self.items = items          # a second

    @classmethod
    def median(cls, figures):
        def of(field):
            values = [getattr(f, field) for f in figures]
            return None if None in values else statistics.median(values)

        return cls(of("ns"), of("bandwidth"), of("flops"), of("peak"),
                   of("items"))

    def bytes(self):
        return self.bandwidth * self.ns / 1e9


class Roofline:
    """The most that the machine can do, with so many threads."""

    def __init__(self, names, threads, min_time):
        self.copies = [measure(OURS, n, min_time, threads) for n in names
                       if n.startswith(COPY)]
        self.flops = (measure(OURS, FLOPS, min_time, threads).flops
                      if FLOPS in names else None)

    def share(self, name, figure):
        """0 to 1; None where nothing is known."""
        if figure.flops and self.flops:
            other = any(d in name for d in OTHER_DTYPES)
            return None if other else figure.flops / self.flops
        if not figure.bandwidth or not self.copies:
            return None
        like = min(self.copies, key=lambda c: max(
            c.bytes() / figure.bytes(), figure.bytes() / c.bytes()))
        return figure.bandwidth / like.bandwidth


def measure(command, name, min_time, threads):
    """One run of one benchmark.

    The first calls are not counted: memory that a virtual machine has not
    touched yet costs more than the work.
    """
    # Only these are special in the benchmark library's expressions; a
    # backslash before anything else (`\\<`) could mean something there.
    exact = "^" + re.sub(r"([][.*+?^$(){}|\\])", r"\\\1", name) + "$"
    text = output_of(command + [f"--benchmark_filter={exact}",
                                "--benchmark_format=json",
                                f"--benchmark_min_warmup_time={min_time}",
                                f"--benchmark_min_time={min_time}"],
                     threads)
    for result in json.loads(text)["benchmarks"]:
        if result["name"] == name:
            if result.get("error_occurred"):
                sys.exit(f"bench: {name}: {result.get('error_message')}")
            flops = result.get("GFLOPS")
            return Figure(result["real_time"] * UNITS[result["time_unit"]],
                          result.get("bytes_per_second"),
                          flops * 1e9 if flops else None,
                          result.get("peak_MB"),
                          result.get("items_per_second"))
    sys.exit(f"bench: {command[0]} did not report {name}")


def pretty(nanoseconds):
    if nanoseconds is None:
        return "-"
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size or unit == "ms":
            return f"{nanoseconds / size:.3g} {unit}"


def verdict(ratio, goal):
    return "" if ratio <= goal else f"{ratio / goal:.1f}x over"


def row(name, ours, peer, share, threads):
    text = f"{name:40} {pretty(ours.ns):>10}"
    if peer is not None:
        ratio = ours.ns / peer.ns
        # The goals are those of one thread.
        goal = GOALS.get(name, 1.0) if threads == 1 else 1.0
        text += f" {pretty(peer.ns):>10} {ratio:>7.2f}"
        text += f" {'' if name in OVERHEADS else f'{goal:.2f}':>7}"
    elif share is not None:
        text += f" {'':>10} {'':>7} {'':>7}"
    text += f" {'' if share is None else f'{share:.0%}':>8}"
    if peer is not None and name not in OVERHEADS:
        text += "  " + verdict(ratio, goal)
    if ours.peak is not None:
        text += f"  peak {ours.peak:.1f} MB"
        if peer is not None and peer.peak is not None:
            text += f", libtorch {peer.peak:.1f} MB"
    return text.rstrip()


def overheads(results):
    direct = results.get(DIRECT)
    if not direct:
        return
    for name, goal in OVERHEADS.items():
        if name in results:
            extra = results[name]["ns"] - direct["ns"]
            print(f"{name} less a direct call: {extra:.1f} ns "
                  f"(goal {goal} ns)  {verdict(extra, goal)}".rstrip())


def run(options, threads):
    all_names = names_of(OURS)
    names = [n for n in all_names if re.search(options.filter, n)]
    if not names:
        sys.exit(f"bench: no benchmark matches '{options.filter}'")
    shared = set(names_of(PEER)) if options.peer else set()
    rounds = options.rounds or (3 if options.peer else 1)
    results = {}
    print(f"threads: {threads}")
    print(f"{'benchmark':40} {'ours':>10} {'libtorch':>10} {'ratio':>7} "
          f"{'goal':>7} {'roofline':>8}", flush=True)
    roofline = Roofline(all_names, threads, options.min_time)
    for name in names:
        ours, peer = [], []
        for _ in range(rounds):
            ours.append(measure(OURS, name, options.min_time, threads))
            if name in shared:
                peer.append(measure(PEER, name, options.min_time, threads))
        mine = Figure.median(ours)
        theirs = Figure.median(peer) if peer else None
        share = roofline.share(name, mine)
        results[name] = {"ns": mine.ns,
                         "peer_ns": theirs.ns if theirs else None,
                         "roofline": share}
        if mine.peak is not None:
            results[name]["peak_mb"] = mine.peak
            results[name]["peer_peak_mb"] = theirs.peak if theirs else None
        print(row(name, mine, theirs, share, threads), flush=True)
    overheads(results)
    return results


def flat(tables):
    """{threads: {name: figures}} as one table; the names of all but the first
    end in "/threads:N"."""
    results = {}
    for i, (threads, table) in enumerate(tables.items()):
        for name, figures in table.items():
            results[f"{name}/threads:{threads}" if i else name] = figures
    return results


def read_options():
    parser = argparse.ArgumentParser(prog="./sy bench")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--peer", action="store_true",
                        help="run libtorch's benchmarks too (installs it the "
                        "first time, 6 GB)")
    beside.add_argument("--lazy", action="store_true",
                        help="programs on the lazy device beside the same on "
                        "the CPU")
    parser.add_argument("--filter", default="", metavar="RE",
                        help="only the names that match")
    parser.add_argument("--threads", default="1", metavar="N[,N]",
                        help="how many threads; a table for each (1)")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--rounds", type=int, default=0,
                        help="turns at each benchmark (1; with --peer or "
                        "--lazy 3)")
    parser.add_argument("--min-time", type=float, default=0.1,
                        help="seconds for a turn (0.1)")
    options = parser.parse_args()
    try:
        re.compile(options.filter)
    except re.error as error:
        sys.exit(f"bench: --filter: {error}")
    if not re.fullmatch(r"[1-9]\d{0,3}(,[1-9]\d{0,3})*", options.threads):
        sys.exit(f"bench: --threads: expected 1 or 1,2, got {options.threads}")
    return options


def main(run_table=run):
    options = read_options()
    results = flat({int(n): run_table(options, int(n))
                    for n in options.threads.split(",")})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
