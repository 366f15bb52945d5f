"""Of overloads that are not in passing.txt, only the cases of differences.txt
fail. Usage: differences_test.py SY CASES"""

import os
import sys

from case_files import Run


def main():
    sy, folder = sys.argv[1:]
    here = os.path.dirname(os.path.abspath(__file__))
    known = {}
    with open(os.path.join(here, "differences.txt"), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                name, identity = line.split()
                known.setdefault(name, set()).add(identity)
    failed = 0
    for name, cases in sorted(known.items()):
        run = Run(sy, folder, "--op", name)
        found = set(run.why())
        if found != cases or run.counts()[0] == 0:
            failed += 1
            print(f"FAIL {name}: expected {sorted(cases)} alone to fail, got "
                  f"{sorted(found)}; {run.counts()[0]} passed")
        else:
            print(f"PASS {name}: {run.counts()[0]} cases")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
