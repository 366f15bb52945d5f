"""Counts what passed, failed and was skipped. The last line that it prints is
`N passed, N failed, N skipped`; the reasons of skips stand above it."""

import collections
import re

SHOWN = 4  # names for one reason


class Tally:
    """`present(word)`: whether the machine has what a reason says is missing."""

    def __init__(self, present=lambda word: False):
        self.passed = 0
        self.failures = []
        self.skips = []
        self.present = present

    def add(self, name, ok):
        if ok:
            self.passed += 1
        else:
            self.failures.append(name)

    def skip(self, name, why):
        """A skip, but a failure where it misses what the machine has."""
        why = " ".join(why.split()) or "without a reason"
        for word in ("nvcc", "NVRTC"):
            missing = re.search(rf"\b(?:no|without) {word}\b", why)
            if missing and self.present(word):
                self.failures.append(f"{name}: skipped, though the machine has "
                                     f"{word}: {why}")
                return
        self.skips.append((name, why))

    def reasons(self):
        """A line for each reason, the most frequent first."""
        names = collections.defaultdict(list)
        for name, why in self.skips:
            names[why].append(name)
        for why, of in sorted(names.items(), key=lambda r: (-len(r[1]), r[0])):
            more = f" and {len(of) - SHOWN} more" if len(of) > SHOWN else ""
            yield f"SKIPPED {len(of)}: {why} ({', '.join(of[:SHOWN])}{more})"

    def finish(self):
        for line in self.reasons():
            print(line)
        for name in self.failures:
            print(f"FAILED {name}")
        print(f"{self.passed} passed, {len(self.failures)} failed, "
              f"{len(self.skips)} skipped", flush=True)
        return 1 if self.failures else 0
