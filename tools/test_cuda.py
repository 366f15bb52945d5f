"""Tests the device cuda on the GPU that is here: ./sy test --cuda, or
test_cuda.py in a folder that cuda_bundle.sh made, which needs no Bazel.

Runs the backend's test programs, the recorded cases and their gradients, the
demos, trained on the device, and compute-sanitizer over a few of these, where
it is installed. The last line is `N passed, N failed`; exit 1 if anything
failed, also what ran out of time. Without a GPU it says so, and that all is
SKIPPED; exit 0.

Usage: test_cuda.py [--built FOLDER] [--only RE] [--logs FOLDER]
"""

import argparse
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import cuda_machine

TEST_S, CONFORM_S, DEMO_S, SANITIZER_S = 120, 540, 240, 240
# A few of each family: compute-sanitizer makes them a hundred times slower.
SMOKE = ["add.Tensor", "sum.dim_IntList", "cumsum", "sort", "index_select",
         "scatter_add", "_softmax", "native_layer_norm", "bmm", "nonzero"]
# Single tests that need several devices.
LEFT_OUT = {"door_test": "Door.GuardsSetDeviceAndStream"}
# Run by our own kernels as well, where CUB is there.
OF_CUB = ["sort_test", "indexing_test", "scatter_test"]
# What compute-sanitizer says where it cannot watch, under gVisor for example.
CANNOT_WATCH = re.compile("Device not supported|Unable to find injection|"
                          "not supported on this (system|device)")
SUMMARY = re.compile("(cases|ways|overloads): ")
DEMOS = [
    ("digits", ["--brief", "--device", "cuda", "--train"]),
    ("convnet", ["cuda"]),
    ("transformer", ["cuda"]),
]


class Run:
    """What is run, with its results."""

    def __init__(self, options, built):
        self.options = options
        self.built = built
        self.passed = 0
        self.failed = []
        if options.logs:
            os.makedirs(options.logs, exist_ok=True)

    def program(self, name):
        return self.built.program(name, None)

    def step(self, name, words, seconds, cannot=None, **variables):
        """cannot: what a failure says that is none, but skipped."""
        if not re.search(self.options.only, name):
            return
        start = time.monotonic()
        text, code = self.output_of(words, seconds, variables)
        if self.options.logs:
            file = re.sub(r"[^\w.]+", "_", name) + ".log"
            with open(os.path.join(self.options.logs, file), "w",
                      encoding="utf-8") as log:
                log.write(text)
        lines = text.strip().splitlines()
        if code != 0 and cannot and cannot.search(text):
            self.skip(name, cannot.search(text)[0])
            return
        if code == 0:
            self.passed += 1
        else:
            self.failed.append(name)
            print("\n".join(lines[-25:]))
        # Of conform, also how many cases, and how many ran on the CPU.
        last = [l for l in lines[-3:] if SUMMARY.match(l)] or lines[-1:]
        print(f"{'FAILED' if code else 'PASSED'} {name} in "
              f"{time.monotonic() - start:.1f}s"
              f"{f' (exit {code})' if code else ': ' + '; '.join(last)}",
              flush=True)

    def output_of(self, words, seconds, variables):
        """With its exit code; 124: it and what it started were stopped."""
        process = subprocess.Popen(
            words, cwd=self.built.folder,
            env=self.built.environment(**variables), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True)
        try:
            return process.communicate(timeout=seconds)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = process.communicate()[0]
            return f"{said}\nstopped after {seconds} s", 124

    def skip(self, name, why):
        if re.search(self.options.only, name):
            print(f"SKIPPED {name}: {why}", flush=True)


def run_programs(run):
    """The backend's own tests."""
    folder = run.built.path("tests")
    need_fake = set()
    listed = os.path.join(folder, "need_fake.txt")
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as file:
            need_fake = set(file.read().split())
    for path in sorted(glob.glob(os.path.join(folder, "*_test"))):
        name = os.path.basename(path)
        if name in need_fake:
            run.skip(name, "it makes the fake driver or its NVRTC fail, or "
                           "counts what they are asked for")
        else:
            words = [path, "--gtest_brief=1",
                     "--gtest_filter=-" + LEFT_OUT.get(name, "")]
            with tempfile.TemporaryDirectory() as scratch:
                run.step(name, words, TEST_S, TEST_TMPDIR=scratch)
            if name in OF_CUB and run.built.cub() is not None:
                with tempfile.TemporaryDirectory() as scratch:
                    run.step(f"{name} without CUB", words, TEST_S,
                             TEST_TMPDIR=scratch, SWITCHYARD_CUDA_CUB="off")
            if name in LEFT_OUT:
                run.skip(LEFT_OUT[name], "it needs two devices")


def conform(run, *more):
    cases = run.built.path("share", "switchyard", "conformance")
    return [run.program("sy"), "conform", "--plugin",
            run.built.library("cuda"), "--device", "cuda", "--cases",
            os.path.join(cases, "cases"), *more]


def run_conform(run):
    """All recorded cases, interpreted and compiled, and their gradients."""
    passing = run.built.path("share", "switchyard", "conformance",
                             "passing.txt")
    # Each process has a context of its own on the one GPU.
    jobs = ["--jobs", str(min(os.cpu_count(), run.options.jobs))]
    run.step("conform, interpreted",
             conform(run, "--no-grad", "--must-pass", passing, *jobs),
             CONFORM_S, SWITCHYARD_CUDA_JIT="off")
    run.step("conform with gradients",
             conform(run, "--must-pass", passing, *jobs), CONFORM_S)
    jit = os.environ.get("SWITCHYARD_CUDA_JIT", "wait")
    run.step("conform, compiled",
             conform(run, "--no-grad", "--must-pass", passing, *jobs),
             CONFORM_S, SWITCHYARD_CUDA_JIT=jit)


def run_demos(run):
    for name, words in DEMOS:
        run.step(f"train {name}", [run.program(name), *words], DEMO_S)


def run_sanitizer(run):
    """Over a few cases; where the tool cannot watch the device, says so."""
    tool = cuda_machine.toolkit_program("compute-sanitizer")
    if tool is None:
        run.skip("compute-sanitizer", "it is not installed; `./sy setup --cuda` "
                                      "does that")
        return
    bench = [run.program("cuda_bench"), "--smoke", "device"]
    ops = [word for op in SMOKE for word in ("--op", op)]
    for check in ("memcheck", "racecheck"):
        # --error-exitcode: else what it finds changes nothing.
        watch = [tool, "--tool", check, "--target-processes", "all",
                 "--error-exitcode", "9"]
        run.step(f"{check}, kernels of the benchmarks", watch + bench,
                 SANITIZER_S, CANNOT_WATCH, SWITCHYARD_CUDA_JIT="wait")
        run.step(f"{check}, cases", watch + conform(
            run, "--no-grad", "--jobs", "1", *ops), SANITIZER_S,
            CANNOT_WATCH, SWITCHYARD_CUDA_JIT="off")


PARTS = {"programs": run_programs, "demos": run_demos, "conform": run_conform,
         "sanitizer": run_sanitizer}


def main():
    parser = argparse.ArgumentParser(prog="./sy test --cuda")
    parser.add_argument("--built", default=cuda_machine.ROOT,
                        help="a folder that cuda_bundle.sh made")
    parser.add_argument("--parts", default=",".join(PARTS),
                        help="these, in order (%(default)s)")
    parser.add_argument("--only", default="", help="names, as an expression")
    parser.add_argument("--jobs", type=int, default=8, help="of conform")
    parser.add_argument("--logs", help="a folder for what each step printed")
    options = parser.parse_args()
    unknown = set(options.parts.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"parts are {', '.join(PARTS)}, not {unknown.pop()}")
    built = cuda_machine.Built(options.built)
    if not cuda_machine.look(built):
        print("SKIPPED all tests that need a GPU\n0 passed, 0 failed")
        return 0
    if not built.bundled:
        parser.error(f"{built.folder} has no bin/sy; cuda_bundle.sh makes it")
    run = Run(options, built)
    for part in options.parts.split(","):
        PARTS[part](run)
    for name in run.failed:
        print(f"FAILED {name}")
    print(f"{run.passed} passed, {len(run.failed)} failed")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
