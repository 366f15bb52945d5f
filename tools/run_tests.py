"""Runs every test: Bazel's, the check of the formatting, then the consumer
projects against an installed SDK; with --full also the parts of full_parts.py:
sanitizers, XLA, random programs through all engines, fuzzers, what clang checks.
The last line is `N passed, N failed, N skipped`; exit 1 if anything failed, a
build that breaks included.

Usage: run_tests.py [--full [--part NAME] [--resume]] [TARGET...]
       (TARGETs leave out the consumers, and what is no sanitizer)
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import cuda_machine
import full_parts
from bazel_tests import ROOT, bazel_test, sanitized_test, text_skips
from full_record import State, commit, state_file, write_record
from tally import Tally


def machine_has(word):
    """Whether a tool of NVIDIA's is there; tests go without missing ones."""
    if word == "NVRTC":
        return cuda_machine.find_nvrtc() is not None
    return cuda_machine.toolkit_program(word) is not None


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
            for _, why in text_skips(run.stdout):
                tally.skip(name, why)


def run_plain(tally):
    bazel_test(tally, "", [], ["//..."])
    check_format(tally)
    run_consumers(tally)


def guarded(tally, run):
    """An exception that ends the run is a failure of it. False: interrupted."""
    try:
        run(tally)
    except KeyboardInterrupt as error:
        tally.add(f"the run itself: {error!r}", False)
        return False
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        tally.add(f"the run itself: {error!r}", False)
    return True


def run_full(tally, wanted, resume, state):
    """The parts, each with a count of its own; all of them are in `tally`."""
    parts = {"tests": run_plain, **full_parts.PARTS}
    for name in full_parts.named(parts, wanted) if wanted else parts:
        if resume and state.has_passed(name):
            print(f"PASSED part {name}, in an earlier run of this commit",
                  flush=True)
            tally.passed += state.parts[name]["passed"]
            tally.skips += map(tuple, state.parts[name]["skips"])
            continue
        start = time.monotonic()
        own = Tally(machine_has)
        goes_on = guarded(own, parts[name])
        taken = time.monotonic() - start
        state.done(name, own, taken)
        print(f"{'FAILED' if own.failures else 'PASSED'} part {name} in "
              f"{taken / 60:.0f} minutes", flush=True)
        tally.passed += own.passed
        tally.failures += [f"{f} (part {name})" for f in own.failures]
        tally.skips += own.skips
        if write_record(state, name, list(parts)):
            print(f"test/full_test.md has the record of part {name}")
        if not goes_on:
            return


def run_targets(tally, options):
    bazel_test(tally, "", [], options.targets)
    if options.full:
        for name, (flags, _) in full_parts.SANITIZERS.items():
            sanitized_test(tally, name, flags, options.targets)


def parse(words):
    parser = argparse.ArgumentParser(prog="./sy test")
    parser.add_argument("--full", action="store_true",
                        help="also sanitizers, XLA, random programs, fuzzers "
                             "and what clang checks, part after part")
    parser.add_argument("--part", help="of --full, one of: tests, "
                        f"{', '.join(full_parts.PARTS)}; asan: all of asan-1…")
    parser.add_argument("--resume", action="store_true",
                        help="of --full: leaves out the parts that passed on "
                             "this commit")
    parser.add_argument("targets", nargs="*",
                        help="Bazel targets instead of everything")
    options = parser.parse_args(words)
    if (options.part or options.resume) and not options.full:
        parser.error("--part and --resume go with --full")
    if options.part and options.targets:
        parser.error("--part runs targets of its own")
    if options.part:
        try:
            full_parts.named(["tests", *full_parts.PARTS], options.part)
        except KeyError:
            parser.error(f"there is no part '{options.part}'")
    return options


def main():
    options = parse(sys.argv[1:])
    tally = Tally(machine_has)
    if options.targets:
        guarded(tally, lambda t: run_targets(t, options))
    elif options.full:
        guarded(tally, lambda t: run_full(t, options.part, options.resume,
                                          State(state_file(), commit())))
    else:
        guarded(tally, run_plain)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
