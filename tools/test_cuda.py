"""Tests the device cuda on the GPU that is here: ./sy test --cuda, or
test_cuda.py in a folder that cuda_bundle.sh made, which needs no Bazel.

Runs the backend's test programs, the demos, trained on the device, the recorded
cases and their gradients, and compute-sanitizer over a few of these, where it
is installed. The last line is `N passed, N failed, N skipped`; exit 1 if anything
failed, also what ran out of time or was not begun, and calls that ran on the CPU
though fallbacks.txt does not have their overload. Without a GPU it says so, and that
all is SKIPPED; exit 0.

With --minutes the most telling steps come first, several at once, recorded
cases in random parts, and what is not done by then is told. With --logs each
step leaves its output, and report.json and report.txt say at any moment what is
known; a step that fails runs once more, waiting for each launch, and leaves the
sources of its kernels with their registers, and the driver's log. --resume
leaves out what passed in a run with the same --logs.

Usage: test_cuda.py [--built FOLDER] [--only RE] [--minutes N]
                    [--logs FOLDER [--resume]]
"""

import argparse
import concurrent.futures
import dataclasses
import glob
import json
import os
import random
import re
import sys
import tempfile
import threading
import time

import cuda_machine
from cuda_report import Report, output_of, resources

TEST_S, CONFORM_S, DEMO_S, SANITIZER_S = 120, 540, 240, 240
# Steps that say whether the device works at all.
FIRST = ["driver_test", "device_test", "copy_test", "number_test"]
# Overloads of a part of the recorded cases, where time is limited.
PART = 120
# A few of each family: compute-sanitizer makes them a hundred times slower.
SMOKE = ["add.Tensor", "sum.dim_IntList", "cumsum", "sort", "index_select",
         "scatter_add", "_softmax", "native_layer_norm", "bmm", "nonzero"]
# Single tests that need several devices.
LEFT_OUT = {"door_test": "Door.GuardsSetDeviceAndStream"}
# Tests that our own kernels run as well, where CUB is there.
OF_CUB = ["sort_test", "indexing_test", "scatter_test"]
# Messages of compute-sanitizer if it cannot watch, under gVisor for example.
CANNOT_WATCH = re.compile("Device not supported|Unable to find injection|"
                          "not supported on this (system|device)")
# Overloads that the CPU computes.
FALLBACKS = ["test", "backends", "cuda", "fallbacks.txt"]
SUMMARY = re.compile("(cases|ways|overloads): ")
FAILED_TEST = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.M)
DEMOS = [
    ("digits", ["--brief", "--device", "cuda", "--train"]),
    ("convnet", ["cuda"]),
    ("transformer", ["cuda"]),
]


@dataclasses.dataclass
class Step:
    """A program that is run. `cannot`: what a failure says that is none, but
    skipped. `filter`: of a program of GoogleTest, what is left out."""
    name: str
    words: list
    seconds: int
    cannot: object = None
    filter: object = None
    json: object = None  # what conform says of each overload goes there
    variables: dict = dataclasses.field(default_factory=dict)


class Run:
    """The steps to run, with their results. They may run in several threads."""

    def __init__(self, options, built):
        self.options = options
        self.built = built
        self.report = Report(options.logs, options.resume)
        self.lock = threading.Lock()
        self.named = 0  # what the pattern names
        self.end = None
        if options.minutes:
            self.end = time.monotonic() + 60 * options.minutes

    def program(self, name):
        return self.built.program(name, None)

    def wanted(self, name):
        return re.search(self.options.only, name) is not None

    def left(self, seconds):
        """How many of these seconds are left to the run."""
        if self.end is None:
            return seconds
        return min(seconds, self.end - time.monotonic())

    def skip(self, name, why):
        if self.wanted(name):
            self.named += 1
            self.report.skipped(name, why)
            print(f"SKIPPED {name}: {why}", flush=True)

    def all(self, steps):
        """In their order, `at_once` of them at a time."""
        steps = [s for s in steps if self.wanted(s.name)]
        self.named += len(steps)
        steps = [s for s in steps if not self.report.has_passed(s.name)]
        with concurrent.futures.ThreadPoolExecutor(
                self.options.at_once) as pool:
            for done in [pool.submit(self.step, s) for s in steps]:
                done.result()

    def step(self, step):
        if self.left(1) < 1:
            self.report.not_begun(step.name)
            return
        start = time.monotonic()
        text, code = self.output(step, step.words, {})
        taken = time.monotonic() - start
        if code != 0 and step.cannot and step.cannot.search(text):
            self.skip(step.name, step.cannot.search(text)[0])
            return
        if code == 0:
            wrong = self.fallbacks(step)
            code, text = (1 if wrong else 0), "\n".join([text, *wrong])
        failed = list(dict.fromkeys(FAILED_TEST.findall(text)))
        with self.lock:
            self.report.done(step.name, code, taken, text, failed)
            self.say(step.name, code, taken, text.strip().splitlines())
        if code != 0 and self.options.logs and self.left(1) >= 1:
            self.again(step, failed)

    def fallbacks(self, step):
        """The overloads of which the CPU computed calls, and should not."""
        if step.json is None or not os.path.exists(step.json):
            return []
        with open(self.built.path(*FALLBACKS), encoding="utf-8") as file:
            known = {l.split()[0] for l in file
                     if l.strip() and not l.startswith("#")}
        with open(step.json, encoding="utf-8") as file:
            overloads = json.load(file)["overloads"]
        calls = {name: done.get("ways", {}).get("cpu", 0)
                 for name, done in overloads.items()}
        return [f"{name}: {n} calls ran on the CPU, and {FALLBACKS[-1]} does "
                "not have it"
                for name, n in calls.items() if n and name not in known]

    def say(self, name, code, taken, lines):
        if code != 0:
            print("\n".join(lines[-25:]))
        # conform also says how many cases there were, and how many ran on the
        # CPU.
        last = [l for l in lines[-3:] if SUMMARY.match(l)] or lines[-1:]
        print(f"{'FAILED' if code else 'PASSED'} {name} in {taken:.1f}s"
              f"{f' (exit {code})' if code else ': ' + '; '.join(last)}",
              flush=True)

    def output(self, step, words, more):
        with tempfile.TemporaryDirectory() as scratch:
            variables = {"TEST_TMPDIR": scratch, **step.variables, **more}
            log = self.report.path(step.name, ".driver")
            if log:
                variables["CUDA_LOG_FILE"] = log
            return output_of(words, self.left(step.seconds),
                             self.built.folder,
                             self.built.environment(**variables))

    def again(self, step, failed):
        """Runs failed tests again, so that the call at fault says so itself."""
        kernels = self.report.path(step.name, ".kernels")
        words = step.words
        if failed:
            words = [words[0], "--gtest_filter=" + ":".join(failed[:20])]
        elif step.filter is None:
            return
        with tempfile.TemporaryDirectory() as cache:
            text, _ = self.output(
                step, words,
                {"SWITCHYARD_CHECK": "sync", "SWITCHYARD_CUDA_RECORD": kernels,
                 "SWITCHYARD_CUDA_CACHE": cache})
            self.report.again(step.name, text, resources(cache))


def programs(run):
    """The backend's own tests."""
    folder = run.built.path("tests")
    if not os.path.isdir(folder):
        sys.exit(f"test_cuda: {folder}: there are no test programs")
    need_fake = set()
    listed = os.path.join(folder, "need_fake.txt")
    if os.path.exists(listed):
        with open(listed, encoding="utf-8") as file:
            need_fake = set(file.read().split())
    for name in sorted(need_fake):
        run.skip(name, "it makes the fake driver or its NVRTC fail, or "
                       "counts what they are asked for")
    found = {os.path.basename(path): path
             for path in sorted(glob.glob(os.path.join(folder, "*_test")))}
    if not set(found) - need_fake:
        sys.exit(f"test_cuda: {folder}: there are no test programs")
    for name, path in found.items():
        if name in need_fake:
            continue
        left_out = LEFT_OUT.get(name, "")
        words = [path, "--gtest_brief=1", "--gtest_filter=-" + left_out]
        yield Step(name, words, TEST_S, filter=left_out)
        if name in OF_CUB and run.built.cub() is not None:
            yield Step(f"{name} without CUB", words, TEST_S, filter=left_out,
                       variables={"SWITCHYARD_CUDA_CUB": "off"})
        if left_out:
            run.skip(left_out, "it needs two devices")


def run_programs(run):
    steps = list(programs(run))
    first = [s for s in steps if s.name in FIRST]
    run.all(first)
    run.all([s for s in steps if s not in first])


def conform(run, *more):
    cases = run.built.path("share", "switchyard", "conformance")
    return [run.program("sy"), "conform", "--plugin",
            run.built.library("cuda"), "--device", "cuda", "--cases",
            os.path.join(cases, "cases"), *more]


def run_conform(run):
    """All recorded cases, interpreted and compiled, and their gradients; where
    time is limited, in parts of which each has overloads at random."""
    passing = run.built.path("share", "switchyard", "conformance",
                             "passing.txt")
    # Each process has a context of its own on the one GPU.
    jobs = ["--jobs", str(min(os.cpu_count(), run.options.jobs))]
    with tempfile.TemporaryDirectory() as folder:
        if run.end is not None:
            run.all(conform_parts(run, passing, jobs, folder))
            return
        jit = os.environ.get("SWITCHYARD_CUDA_JIT", "wait")
        every = ["--must-pass", passing, *jobs]
        run.all([
            conform_step(run, folder, "conform, interpreted",
                         ["--no-grad", *every], {"SWITCHYARD_CUDA_JIT": "off"}),
            conform_step(run, folder, "conform with gradients", every, {}),
            conform_step(run, folder, "conform, compiled",
                         ["--no-grad", *every], {"SWITCHYARD_CUDA_JIT": jit})])


def conform_step(run, folder, name, flags, variables):
    """Its report of each overload lies with the logs, else in `folder`."""
    path = run.report.path(name, ".json") or os.path.join(
        folder, re.sub(r"\W+", "_", name) + ".json")
    return Step(name, conform(run, *flags, "--json", path), CONFORM_S,
                json=path, variables=variables)


def conform_parts(run, passing, jobs, folder):
    with open(passing, encoding="utf-8") as file:
        names = [l.split()[0] for l in file
                 if l.strip() and not l.startswith("#")]
    # The same parts in each run, so that --resume knows them.
    random.Random(0).shuffle(names)
    steps = []
    for how, variables, flags in (
            ("compiled", {"SWITCHYARD_CUDA_JIT": "wait"}, []),
            ("interpreted", {"SWITCHYARD_CUDA_JIT": "off"}, ["--no-grad"])):
        for i in range(0, len(names), PART):
            name = f"conform, {how}, part {i // PART}"
            ops = [w for n in names[i:i + PART] for w in ("--op", n)]
            steps.append(conform_step(run, folder, name,
                                      [*flags, *jobs, *ops], variables))
    return steps


def run_demos(run):
    run.all([Step(f"train {name}", [run.program(name), *words], DEMO_S)
             for name, words in DEMOS])


def run_sanitizer(run):
    """Over a few cases; where the tool cannot watch the device, says so."""
    tool = cuda_machine.toolkit_program("compute-sanitizer")
    if tool is None:
        run.skip("compute-sanitizer", "it is not installed; `./sy setup --cuda` "
                                      "does that")
        return
    bench = [run.program("cuda_bench"), "--smoke", "device"]
    ops = [word for op in SMOKE for word in ("--op", op)]
    steps = []
    for check in ("memcheck", "racecheck"):
        # Without --error-exitcode its findings change nothing.
        watch = [tool, "--tool", check, "--target-processes", "all",
                 "--error-exitcode", "9"]
        steps.append(Step(f"{check}, kernels of the benchmarks", watch + bench,
                          SANITIZER_S, CANNOT_WATCH,
                          variables={"SWITCHYARD_CUDA_JIT": "wait"}))
        steps.append(Step(f"{check}, cases", watch + conform(
            run, "--no-grad", "--jobs", "1", *ops), SANITIZER_S, CANNOT_WATCH,
            variables={"SWITCHYARD_CUDA_JIT": "off"}))
    run.all(steps)


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
    parser.add_argument("--minutes", type=float, help="all that it may take")
    parser.add_argument("--at-once", type=int, default=1,
                        help="steps that run side by side")
    parser.add_argument("--logs", help="a folder for what each step printed")
    parser.add_argument("--resume", action="store_true",
                        help="what passed there is left out")
    options = parser.parse_args()
    unknown = set(options.parts.split(",")) - set(PARTS)
    if unknown:
        parser.error(f"parts are {', '.join(PARTS)}, not {unknown.pop()}")
    if options.resume and not options.logs:
        parser.error("--resume needs the --logs of the run that it goes on with")
    built = cuda_machine.Built(options.built)
    machine = []
    if not cuda_machine.look(built, machine.append):
        print(machine[-1])
        print("SKIPPED all tests that need a GPU\n"
              "0 passed, 0 failed, 1 skipped")
        return 0
    print(*machine, sep="\n")
    if not built.bundled:
        parser.error(f"{built.folder} has no bin/sy; cuda_bundle.sh makes it")
    run = Run(options, built)
    run.report.machine(machine)
    for part in options.parts.split(","):
        PARTS[part](run)
    if run.named == 0:
        parser.error(f"{built.folder} has nothing that '{options.only}' names "
                     f"in {options.parts}")
    for name in run.report.failures():
        print(f"FAILED {name}")
    passed, failed, skipped = run.report.counts()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
