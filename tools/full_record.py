"""The state of runs of `./sy test --full`, by parts: a file that the next
run goes on from, and the record of the last run of each part that was green."""

import json
import os
import platform
import subprocess
import time

from bazel_tests import ROOT

RECORD = os.path.join(ROOT, "test", "full_test.md")


def state_file():
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return os.path.join(cache, "switchyard", "full_test.json")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def commit():
    """The commit under test; None if files differ from it, but for the record
    itself."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".",
                  ":!" + os.path.relpath(RECORD, ROOT))
    return None if changed else git("rev-parse", "HEAD")


def machine():
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next((l.split(":", 1)[1].strip() for l in file
                         if l.startswith("model name")), name)
    except OSError:
        pass
    return f"{os.cpu_count()} x {name}"


class State:
    """The parts that ran on a commit. A run without a commit knows none."""

    def __init__(self, path, at):
        self.path = path
        self.at = at
        self.parts = {}
        if at is None or not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        if known.get("commit") == at:
            self.parts = known["parts"]

    def has_passed(self, part):
        return self.parts.get(part, {}).get("failed", 1) == 0

    def done(self, part, tally, seconds):
        self.parts[part] = {
            "passed": tally.passed, "failed": len(tally.failures),
            "skipped": len(tally.skips), "skips": tally.skips,
            "seconds": round(seconds),
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "machine": machine(), "reasons": list(tally.reasons())}
        if self.at is None:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({"commit": self.at, "parts": self.parts}, file, indent=1)
        os.replace(self.path + ".new", self.path)


HEAD = """# The last green run of each part of `./sy test --full`

`./sy test --full` writes this: a part that passes replaces its row. All parts
have run on one state of the tree where they name one commit.

"""
COLUMNS = ("part", "commit", "date", "passed", "failed", "skipped", "minutes",
           "machine")


def row(cells):
    return f"| {' | '.join(cells)} |"


def read_record(path):
    """By part: its row, and why it skipped what it did."""
    rows, reasons = {}, {}
    if not os.path.exists(path):
        return rows, reasons
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            cells = [c.strip() for c in line.strip("|").split("|")]
            part, _, why = line.removeprefix("- ").partition(": ")
            if line.startswith("|") and len(cells) == len(COLUMNS):
                if cells[0] not in (COLUMNS[0], "---"):
                    rows[cells[0]] = cells
            elif line.startswith("- ") and why:
                reasons.setdefault(part, []).append(why)
    return rows, reasons


def record_text(rows, reasons, names):
    yield row(COLUMNS)
    yield row(["---"] * len(COLUMNS))
    for name in names:
        yield row(rows.get(name) or [name, "never"] + [""] * (len(COLUMNS) - 2))
    if reasons:
        yield ""
        yield "What was skipped, and why:"
        yield ""
        yield from (f"- {name}: {why}" for name in names
                    for why in reasons.get(name, ()))


def write_record(state, name, names, path=RECORD):
    """Writes down that the part passed. False if it has not, or if files
    differed from the commit. `names`: all parts, in order."""
    if state.at is None or not state.has_passed(name):
        return False
    rows, reasons = read_record(path)
    p = state.parts[name]
    rows[name] = [name, state.at[:12], p["date"],
                  *(str(p[k]) for k in ("passed", "failed", "skipped")),
                  f"{p['seconds'] / 60:.0f}", p["machine"]]
    reasons[name] = p["reasons"]
    reasons = {n: r for n, r in reasons.items() if r}
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n".join(record_text(rows, reasons, names)) + "\n")
    return True
