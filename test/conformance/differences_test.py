"""Each overload of exceptions.txt is one that is not there, or one of which only
the cases of differences.txt fail: an exception that has no ground fails here.

Usage: differences_test.py SY CASES
"""

import os
import sys
import tempfile

from case_files import Run

HERE = os.path.dirname(os.path.abspath(__file__))


def lines(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return [line.strip() for line in file if not line.startswith("#")]


def wrong(name, cases, run):
    """The part of a run of an overload's cases that justifies no exception."""
    done = run.report["overloads"].get(name)
    if done is None:
        return "has no cases"
    if done["missing"]:
        return "is not there, and has differences" if cases else ""
    if not cases:
        return "is there, and differences.txt names no case of it"
    found = {f["id"] for f in done["failures"]}
    if found != cases:
        return f"expected {sorted(cases)} alone to fail, got {sorted(found)}"
    return "" if done["passed"] else "no case passes"


def main():
    sy, folder = sys.argv[1:]
    known = {line.partition(":")[0]: set()
             for line in lines("exceptions.txt")}
    failed = 0
    for line in lines("differences.txt"):
        name, identity = line.split()
        if name not in known:
            failed += 1
            print(f"FAIL {name}: has differences and is no exception")
        known.setdefault(name, set()).add(identity)
    for name, cases in sorted(known.items()):
        with tempfile.TemporaryDirectory() as report:
            why = wrong(name, cases, Run(sy, folder, "--op", name,
                                         report_in=report))
        failed += bool(why)
        print(f"FAIL {name}: {why}" if why else f"PASS {name}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
