"""Runs the benchmarks, with --peer beside libtorch's, and prints the ratios.

Both sides run one thread and take turns at each benchmark, so that a machine
that slows down slows down both. Figures are medians over the rounds.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = [os.path.join(ROOT, "bazel-bin", "benchmarks", "bench")]
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


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def output_of(command):
    run = subprocess.run(command, env=environment(), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"bench: {os.path.basename(command[0])} failed "
                 f"({run.returncode}):\n{run.stderr[-2000:]}")
    return run.stdout


def names_of(command):
    listing = output_of(command + ["--benchmark_list_tests=true"])
    return [line for line in listing.splitlines() if line]


def measure(command, name, min_time):
    """One run of one benchmark: nanoseconds an iteration.

    The first calls are not counted: memory that a virtual machine has not
    touched yet costs more than the work.
    """
    # Only these are special in the benchmark library's expressions; a
    # backslash before anything else (`\\<`) could mean something there.
    exact = "^" + re.sub(r"([][.*+?^$(){}|\\])", r"\\\1", name) + "$"
    text = output_of(command + [f"--benchmark_filter={exact}",
                                "--benchmark_format=json",
                                f"--benchmark_min_warmup_time={min_time}",
                                f"--benchmark_min_time={min_time}"])
    for result in json.loads(text)["benchmarks"]:
        if result["name"] == name:
            if result.get("error_occurred"):
                sys.exit(f"bench: {name}: {result.get('error_message')}")
            return result["real_time"] * UNITS[result["time_unit"]]
    sys.exit(f"bench: {command[0]} did not report {name}")


def pretty(nanoseconds):
    if nanoseconds is None:
        return "-"
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size or unit == "ms":
            return f"{nanoseconds / size:.3g} {unit}"


def verdict(ratio, goal):
    return "" if ratio <= goal else f"{ratio / goal:.1f}x over"


def row(name, ours, peer):
    if peer is None:
        return f"{name:40} {pretty(ours):>10}"
    ratio = ours / peer
    goal = GOALS.get(name, 1.0)
    if name in OVERHEADS:  # its goal is in overheads() below
        return (f"{name:40} {pretty(ours):>10} {pretty(peer):>10} "
                f"{ratio:>7.2f}")
    return (f"{name:40} {pretty(ours):>10} {pretty(peer):>10} {ratio:>7.2f} "
            f"{goal:>7.2f}  {verdict(ratio, goal)}").rstrip()


def overheads(results):
    direct = results.get(DIRECT)
    if not direct:
        return
    for name, goal in OVERHEADS.items():
        if name in results:
            extra = results[name]["ns"] - direct["ns"]
            print(f"{name} less a direct call: {extra:.1f} ns "
                  f"(goal {goal} ns)  {verdict(extra, goal)}".rstrip())


def run(options):
    names = [n for n in names_of(OURS) if re.search(options.filter, n)]
    if not names:
        sys.exit(f"bench: no benchmark matches '{options.filter}'")
    shared = set(names_of(PEER)) if options.peer else set()
    rounds = options.rounds or (3 if options.peer else 1)
    results = {}
    header = f"{'benchmark':40} {'ours':>10}"
    if options.peer:
        header += f" {'libtorch':>10} {'ratio':>7} {'goal':>7}"
    print(header, flush=True)
    for name in names:
        ours, peer = [], []
        for _ in range(rounds):
            ours.append(measure(OURS, name, options.min_time))
            if name in shared:
                peer.append(measure(PEER, name, options.min_time))
        results[name] = {
            "ns": statistics.median(ours),
            "peer_ns": statistics.median(peer) if peer else None,
        }
        print(row(name, results[name]["ns"], results[name]["peer_ns"]),
              flush=True)
    overheads(results)
    return results


def main():
    parser = argparse.ArgumentParser(prog="./sy bench")
    parser.add_argument("--peer", action="store_true",
                        help="run libtorch's benchmarks too (installs it the "
                        "first time, 6 GB)")
    parser.add_argument("--filter", default="", metavar="RE",
                        help="only the names that match")
    parser.add_argument("--json", metavar="OUT", help="write the figures here")
    parser.add_argument("--rounds", type=int, default=0,
                        help="turns at each benchmark (1; with --peer 3)")
    parser.add_argument("--min-time", type=float, default=0.1,
                        help="seconds for a turn (0.1)")
    options = parser.parse_args()
    try:
        re.compile(options.filter)
    except re.error as error:
        sys.exit(f"bench: --filter: {error}")
    results = run(options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
