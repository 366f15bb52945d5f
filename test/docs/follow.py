"""Does what a page says and compares what it shows with what comes of it.

Usage: follow.py [--sdk PREFIX | --sygen FILE --sy FILE] PAGE [PROGRAM...]

In a scratch folder, blocks that are files are written, commands (```sh) run,
and each block that is an output is compared; snippets.py has the comments that
say which is which. In an output `…` stands for anything, alone in a line for
any lines; spaces and times (`12.5 us`) may be others.

With an SDK all is done as by a reader. Without one, compilers do not run: the
programs of the page are given, each runs where the page has it, and commands
that run what a compiler made are left out.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import snippets

READERS = r"\./sy |git |export "
COMPILERS = r"(g\+\+|cmake|ctest) |.*build/"
TIME = r"[\d.]+ (?:ns|us|ms|s|sec)\b"
PARTS = f"(…|{TIME}| +)"


def pattern(shown):
    """The pattern that an output must match."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*")
            continue
        parts = re.split(PARTS, line.rstrip())
        parts[0::2] = map(re.escape, parts[0::2])
        parts[1::2] = [".*" if p == "…" else " *" if p.isspace() else TIME
                       for p in parts[1::2]]
        lines.append("".join(parts) + " *\n")
    return "".join(lines)


class Page:
    def __init__(self, options, folder):
        self.folder = folder
        self.skipped = READERS if options.sdk else f"{READERS}|{COMPILERS}"
        self.page = options.page
        prefix = options.sdk or make_prefix(options, folder / ".prefix")
        self.environment = {
            **os.environ, "PREFIX": str(prefix), "LC_ALL": "C.UTF-8",
            "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig",
            "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        self.programs = {p.stem for p in options.programs}
        for program in options.programs:
            (folder / program.stem).symlink_to(program.resolve())
        self.output = None  # of what ran last; None if nothing did
        self.compared = self.failures = 0

    def fail(self, block, why):
        print(f"FAIL {self.page}:{block.line}: {why}")
        self.failures += 1

    def run(self, block, commands, may_fail):
        done = subprocess.run(
            ["bash", "-c" if may_fail else "-ec", commands], cwd=self.folder,
            env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        self.output = done.stdout
        if done.returncode != 0 and not may_fail:
            self.fail(block, f"exit status {done.returncode}\n{done.stdout}")

    def compare(self, block):
        self.compared += 1
        if re.fullmatch(pattern(block.text), self.output + "\n" * (
                not self.output.endswith("\n"))):
            return
        difference = difflib.unified_diff(
            block.text.splitlines(), self.output.splitlines(), "shown",
            "printed", lineterm="")
        self.fail(block, "\n".join(difference))

    def give(self, block):
        for word, text in block.before:
            if word == "given":
                name, path = text.split(" = ")
                shutil.copy(path, self.folder / name)

    def follow(self):
        found = snippets.blocks(self.page)
        for block, after in zip(found, found[1:] + [None]):
            shown = after is not None and after.says("output")
            self.give(block)
            if block.says("output"):
                if self.output is not None:
                    self.compare(block)
            elif block.file:
                file = self.folder / block.file
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text)
                if file.stem in self.programs and block.is_program:
                    self.run(block, f"./{file.stem}", False)
            elif block.language == "sh" and not block.says("not run"):
                lines = block.text.replace("\\\n", " ").splitlines()
                left = [l for l in lines if not re.match(self.skipped, l)]
                if left:
                    self.run(block, "\n".join(left), shown)


def make_prefix(options, prefix):
    """Makes the part of an SDK that commands of sygen and sy need."""
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(options.sygen, prefix / "bin" / "sygen")
    (prefix / "bin" / "sy").symlink_to(options.sy.resolve())
    share = prefix / "share" / "switchyard"
    share.mkdir(parents=True)
    for folder in ("schemas", "backends"):
        (share / folder).symlink_to(pathlib.Path(folder).resolve())
    return prefix


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sdk", type=pathlib.Path)
    parser.add_argument("--sygen", type=pathlib.Path)
    parser.add_argument("--sy", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    with tempfile.TemporaryDirectory() as folder:
        page = Page(parser.parse_args(), pathlib.Path(folder))
        page.follow()
    print(f"{page.page}: {page.compared} outputs compared, "
          f"{page.failures} failures")
    return 1 if page.failures or not page.compared else 0


if __name__ == "__main__":
    sys.exit(main())
