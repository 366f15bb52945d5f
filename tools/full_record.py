"""What is known of a run of `./sy test --full`, by parts: a file that the next
run goes on from, and the record of the last run that was green."""

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
    """What is tested; None where files differ from the commit."""
    changed = git("status", "--porcelain", "--untracked-files=no")
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


def record_text(state, names):
    """The record of a run all of whose parts passed."""
    yield "# The last whole run of `./sy test --full`"
    yield ""
    yield f"`./sy test --full` wrote this, of commit {state.at}."
    yield ""
    yield "| part | date | passed | failed | skipped | minutes |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        p = state.parts[name]
        yield (f"| {name} | {p['date']} | {p['passed']} | {p['failed']} | "
               f"{p['skipped']} | {p['seconds'] / 60:.0f} |")
    total = [sum(state.parts[n][k] for n in names)
             for k in ("passed", "failed", "skipped")]
    yield ""
    yield "{} passed, {} failed, {} skipped, on:".format(*total)
    yield ""
    for name in sorted({state.parts[n]["machine"] for n in names}):
        yield f"- {name}"
    reasons = [r for n in names for r in state.parts[n]["reasons"]]
    if reasons:
        yield ""
        yield "What was skipped, and why:"
        yield ""
        yield from (f"- {r}" for r in sorted(set(reasons)))


def write_record(state, names, path=RECORD):
    """False if a part has not passed on this commit, or it has no commit."""
    if state.at is None or not all(map(state.has_passed, names)):
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(record_text(state, names)) + "\n")
    return True
