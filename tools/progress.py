"""Runs a Bazel build and says how far it is, on a terminal or in a log.

On a terminal one line changes; elsewhere there is a line every half minute. At
the end it says how long the build took; if it failed, what Bazel said last.

Usage: progress.py LABEL COMMAND...    (COMMAND is a `bazel build ...`)
"""

import collections
import re
import subprocess
import sys
import time

STEP = re.compile(r"\[([\d,]+) / ([\d,]+)\]")
EVERY_S = 30
# The number of actions still grows before that, and the rate says little.
RELIABLE_S, RELIABLE_PART = 15, 0.05


class Progress:
    """The line about a build that has done `done` of `total` actions."""

    def __init__(self, label, start):
        self.label, self.start = label, start
        self.done = self.total = 0

    def read(self, line):
        found = STEP.search(line)
        if found:
            self.done, self.total = (int(n.replace(",", ""))
                                     for n in found.groups())
        return bool(found)

    def text(self, now):
        if self.total == 0:
            return f"{self.label} ..."
        said = f"{self.label}: {self.done:,} of {self.total:,}"
        passed, part = now - self.start, self.done / self.total
        if passed < RELIABLE_S or part < RELIABLE_PART:
            return said
        left = passed * (1 - part) / part
        return said + (f", about {left / 60:.0f} min left" if left >= 90
                       else f", about {max(left, 1):.0f} s left")


def main():
    label, command = sys.argv[1], sys.argv[2:]
    # Lines that end, one a second, and none that only tells of success.
    command[2:2] = ["--curses=no", "--color=no", "--show_result=0",
                    "--show_progress_rate_limit=1"]
    live = sys.stdout.isatty()
    start = said_at = time.monotonic()
    progress = Progress(label, start)
    last = collections.deque(maxlen=60)
    if live:
        print(f"  {progress.text(start)}", end="", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace") as build:
        for line in build.stdout:
            if not progress.read(line):
                last.append(line)
                continue
            now = time.monotonic()
            if live:
                print(f"\r\033[K  {progress.text(now)}", end="", flush=True)
            elif now - said_at >= EVERY_S:
                said_at = now
                print(f"  {progress.text(now)}", flush=True)
    if live:
        print("\r\033[K", end="")
    if build.returncode != 0:
        print("".join(last), end="", file=sys.stderr)
        print(f"{label} failed: {' '.join(command)}", file=sys.stderr)
        return build.returncode
    print(f"  {label} ({time.monotonic() - start:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
