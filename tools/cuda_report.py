"""The report of a run of test_cuda.py, for somebody who has no GPU."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading

import cuda_machine

ELF = b"\x7fELF"
TAIL = 60  # lines of a failure that the report has


def output_of(words, seconds, folder, variables):
    """The output of a command, with its exit code; 124: it and its children were
    stopped."""
    process = subprocess.Popen(
        words, cwd=folder, env=variables, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True)
    try:
        return process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said = process.communicate()[0]
        return f"{said}\nstopped after {seconds:.0f} s", 124


def resources(folder):
    """Registers, shared memory and spills of the compiled kernels in it."""
    tool = cuda_machine.toolkit_program("cuobjdump")
    said = []
    for name in sorted(os.listdir(folder)) if tool else []:
        with open(os.path.join(folder, name), "rb") as file:
            content = file.read()
        if ELF not in content:
            continue
        with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
            cubin.write(content[content.index(ELF):])  # behind the head
            cubin.flush()
            run = subprocess.run(
                [tool, "--dump-resource-usage", cubin.name],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", check=False)
        said += [l.strip() for l in run.stdout.splitlines() if "REG:" in l or
                 "Function" in l]
    return "\n".join(said)


class Report:
    """Results by step. With a folder it is there at any moment, as report.json
    and report.txt, whole: a run may be stopped whenever it is. Any thread may
    call it."""

    def __init__(self, folder, resume):
        self.folder = os.path.abspath(folder) if folder else None
        self.about = []
        self.steps = {}
        self.lock = threading.Lock()
        if not folder:
            return
        os.makedirs(folder, exist_ok=True)
        known = os.path.join(self.folder, "report.json")
        if resume and os.path.exists(known):
            with open(known, encoding="utf-8") as file:
                self.steps = {name: step for name, step in
                              json.load(file)["steps"].items()
                              if step["result"] == "passed"}

    def path(self, name, suffix):
        """A file of a step's; None without a folder."""
        if self.folder is None:
            return None
        return os.path.join(self.folder, re.sub(r"[^\w.]+", "_", name) + suffix)

    def machine(self, lines):
        self.about = lines
        self.write()

    def has_passed(self, name):
        return self.steps.get(name, {}).get("result") == "passed"

    def skipped(self, name, why):
        self.steps[name] = {"result": "skipped", "why": why}
        self.write()

    def not_begun(self, name):
        self.steps[name] = {"result": "not begun"}
        self.write()

    def done(self, name, code, seconds, text, failed):
        step = {"result": "failed" if code else "passed", "code": code,
                "seconds": round(seconds, 1)}
        if failed:
            step["tests"] = failed
        if code != 0:
            step["said"] = text.strip().splitlines()[-TAIL:]
            step["differences"] = self.differences(name)
        self.steps[name] = step
        self.log(name, ".log", text)
        self.write()

    def again(self, name, text, registers):
        """A step that failed, waiting for each launch."""
        self.log(name, ".again.log", text)
        self.log(name, ".registers", registers)
        self.steps[name]["again"] = text.strip().splitlines()[-TAIL:]
        self.write()

    def differences(self, name):
        """The failures of conform, by overload: what and where first."""
        path = self.path(name, ".json")
        if path is None or not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as file:
            overloads = json.load(file)["overloads"]
        return {overload: done["failures"][:3]
                for overload, done in overloads.items() if done["failed"]}

    def log(self, name, suffix, text):
        if self.folder is None or not text:
            return
        with open(self.path(name, suffix), "w", encoding="utf-8") as file:
            file.write(text)

    def failures(self):
        return [name for name, step in self.steps.items()
                if step["result"] in ("failed", "not begun")]

    def counts(self):
        passed = sum(map(self.has_passed, self.steps))
        skipped = sum(step["result"] == "skipped"
                      for step in self.steps.values())
        return passed, len(self.failures()), skipped

    def write(self):
        if self.folder is None:
            return
        with self.lock:
            self.write_locked()

    def write_locked(self):
        content = {"machine": self.about, "steps": self.steps}
        self.replace("report.json", json.dumps(content, indent=1))
        self.replace("report.txt", "\n".join(self.text()) + "\n")

    def text(self):
        yield from self.about
        for name, step in self.steps.items():
            yield (f"{step['result']:9} {name} "
                   f"{step.get('seconds', '')} {step.get('why', '')}".rstrip())
        for name in self.failures():
            step = self.steps[name]
            yield f"\n== {name}: {step['result']}"
            yield from step.get("tests", [])
            yield from step.get("said", [])
            for overload, why in step.get("differences", {}).items():
                yield f"{overload}: {json.dumps(why)}"
            if "again" in step:
                yield "-- again, waiting for each launch"
                yield from step["again"]

    def replace(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)
