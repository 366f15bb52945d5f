"""Runs programs on the lazy device, and compiled, beside the same on the CPU:
./sy bench --lazy.

Both sides run the same number of threads and take turns at each program.
Figures are medians over the rounds. A goal is the most that the side may take: a ratio to eager's time, or a time.
"""

import os
import re
import sys

import bench

PROGRAM = [os.path.join(bench.ROOT, "bazel-bin", "benchmarks", "lazy",
                        "lazy_bench")]
ENDING = "/real_time"

# Ratios to eager's time.
RATIOS = {
    "lazy_chain_64k": 0.5,
    "lazy_gelu_1m": 0.5,
    "lazy_softmax_4096": 1.5,
    "lazy_layer_norm_4096": 1.5,
    "lazy_cross_entropy_4096": 1.5,
    "lazy_adamw_200": 0.35,
    "lazy_transformer_train": 0.9,
    "lazy_convnet_train": 0.9,
    "lazy_mlp_train": 1.3,
    "lazy_first_step": 1.2,
    "compiled_chain_64k": 0.5,
    "compiled_gelu_1m": 0.5,
    "compiled_softmax_4096": 1.0,
    "compiled_layer_norm_4096": 1.0,
    "compiled_cross_entropy_4096": 1.0,
    "compiled_adamw_200": 0.25,
    "compiled_transformer_train": 0.85,
    "compiled_convnet_train": 0.85,
    "compiled_mlp_train": 0.7,
}
# Nanoseconds of a call, and nanoseconds beyond eager's.
TIMES = {"lazy_record": 150}
DIFFERENCES = {"lazy_sync_100": 10e3}


def time_of(figure):
    """The time of a call, if an iteration makes several."""
    return 1e9 / figure.items if figure.items else figure.ns


def judgement(name, lazy, eager):
    """The goal as text, and by how much it is missed."""
    if name in TIMES:
        return bench.pretty(TIMES[name]), bench.verdict(lazy, TIMES[name])
    if name in DIFFERENCES:
        goal = DIFFERENCES[name]
        return "+" + bench.pretty(goal), bench.verdict(lazy - eager, goal)
    if name in RATIOS:
        return f"{RATIOS[name]:.2f}", bench.verdict(lazy / eager, RATIOS[name])
    return "", ""


def row(name, lazy, eager):
    ns, eager_ns = time_of(lazy), time_of(eager)
    goal, verdict = judgement(name, ns, eager_ns)
    text = (f"{name:26} {bench.pretty(ns):>10} {bench.pretty(eager_ns):>10} "
            f"{ns / eager_ns:>7.2f} {goal:>8}  {verdict}").rstrip()
    if lazy.peak:
        text += f"  peak {lazy.peak:.1f} MB, eager {eager.peak:.1f} MB"
    return text


def run(options, threads):
    names = [n.removesuffix(ENDING) for n in bench.names_of(PROGRAM)]
    names = [n for n in names
             if not n.startswith("eager_") and re.search(options.filter, n)]
    if not names:
        sys.exit(f"bench: no benchmark matches '{options.filter}'")
    print(f"threads: {threads}")
    print(f"{'program':26} {'':>10} {'eager':>10} {'ratio':>7} {'goal':>8}",
          flush=True)
    results = {}
    for name in names:
        sides = {name: [], "eager_" + name.split("_", 1)[1]: []}
        for _ in range(options.rounds or 3):
            for side, figures in sides.items():
                figures.append(bench.measure(PROGRAM, side + ENDING,
                                             options.min_time, threads))
        lazy, eager = (bench.Figure.median(f) for f in sides.values())
        results[name] = {"ns": time_of(lazy), "eager_ns": time_of(eager)}
        if lazy.peak:
            results[name].update(peak_mb=lazy.peak, eager_peak_mb=eager.peak)
        print(row(name, lazy, eager), flush=True)
    return results


if __name__ == "__main__":
    bench.main(run)
