"""Holds a run of `sy conform` on the fake device to passing.txt, the calls that
the CPU computes to fallbacks.txt, and the overloads that are not called to
not_called.txt.
Usage: conform_test.py [FLAG...]    (for `sy conform`)"""

import collections
import json
import os
import subprocess
import sys

# Words of calls: the library's, and others.
EXAMPLES = ["schemas/gen/docs/ops/examples.txt",
            "test/backends/cuda/examples.txt"]
FALLBACKS = "test/backends/cuda/fallbacks.txt"
NOT_CALLED = "test/backends/cuda/not_called.txt"
PASSING = "test/conformance/passing.txt"


def lines(path):
    """Each line's words, without comments."""
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file
                if line.strip() and not line.startswith("#")]


def conform(flags):
    """The exit code and, for each overload, what its calls did."""
    report = os.path.join(os.environ["TEST_TMPDIR"], "report.json")
    code = subprocess.run(
        ["tools/sy/sy", "conform", "--plugin",
         os.path.abspath("libswitchyard_cuda.so"), "--jobs", "2",
         *(word for file in EXAMPLES for word in ("--examples", file)),
         "--json", report, *flags],
        check=False).returncode
    with open(report, encoding="utf-8") as file:
        return code, json.load(file)["overloads"]


def wrong_fallbacks(overloads, whole):
    """How the calls on the CPU differ from fallbacks.txt; `whole`: all calls
    were made."""
    known = {name: int(calls) for name, calls in lines(FALLBACKS)}
    for name, done in overloads.items():
        calls = done.get("ways", {}).get("cpu", 0)
        if calls > known.get(name, 0):
            yield (f"{name}: {calls} calls on the CPU, expected at most "
                   f"{known.get(name, 0)}")
        elif whole and calls < known.get(name, 0):
            yield (f"{name}: {calls} calls on the CPU, {FALLBACKS} has "
                   f"{known[name]}")
    if whole:
        for name in sorted(set(known) - set(overloads)):
            yield f"{name}: {FALLBACKS} has it, and there is no such overload"


def wrong_not_called(overloads):
    """How the overloads without a call differ from not_called.txt."""
    known = {name.rstrip(":"): " ".join(why)
             for name, *why in lines(NOT_CALLED)}
    found = {name: ", ".join(sorted(done["skipped"]))
             for name, done in overloads.items()
             if done.get("skipped") and not done.get("ways")
             and not done["passed"] + done["failed"]}
    for name in sorted(set(known) | set(found)):
        if known.get(name) != found.get(name):
            yield (f"{name}: {found.get(name, 'called')}; {NOT_CALLED} has "
                   f"{known.get(name, 'no such line')}")


def main():
    flags = sys.argv[1:]
    code, overloads = conform(flags)
    wrong = list(wrong_fallbacks(overloads, not flags))
    if code != 0:
        wrong.append(f"sy conform: exit code {code}")
    if not flags:
        wrong += wrong_not_called(overloads)
        wrong += [f"{name}: no call passed" for name, in lines(PASSING)
                  if overloads.get(name, {}).get("passed", 0) == 0]
    ways = collections.Counter()
    for done in overloads.values():
        ways.update(done.get("ways", {}))
    for line in wrong:
        print("FAIL", line)
    print(f"{len(overloads)} overloads, {dict(ways)}, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
