"""Runs clang-tidy over our sources, with .clang-tidy and the options that Bazel
compiles them with. A file that had no finding is not read again before it,
something that it includes, its options, the checks or clang-tidy change:
what is known is kept in ~/.cache/switchyard/tidy, for all checkouts.

Usage: tidy.py [--profile] [FILE...]    exit 1 if there is a finding
"""

import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME",
                                    os.path.expanduser("~/.cache")),
                     "switchyard", "tidy")
TIDY = "clang-tidy-16"
CLANG = "clang-16"
TARGETS = ["//c10/...", "//aten/...", "//autograd/...", "//backends/...",
           "//codegen/...", "//frontend/...", "//lang/...", "//model/...",
           "//runtime/...", "//tools/..."]
# Options of gcc that clang has not, and what is about the object file.
DROPPED = {"-fno-gnu-unique", "-fopenmp", "-fno-thread-jumps", "-Werror",
           "-fno-canonical-system-headers", "-MD"}
DROPPED_WITH_VALUE = {"-c", "-o", "-MF"}
FINDING = re.compile(r"^(\S+?):\d+:\d+: (?:warning|error): .* \[([\w.,-]+)\]$",
                     re.M)


def bazel(command, *arguments):
    quiet = ["--ui_event_filters=-info,-debug", "--noshow_progress"]
    return subprocess.run(["bazel", command, *quiet, *arguments], cwd=ROOT,
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def options_of(arguments):
    """The source of a compilation by gcc, and the options for clang."""
    options = []
    source = arguments[arguments.index("-c") + 1]
    skip = False
    for argument in arguments[1:]:
        if skip or argument in DROPPED_WITH_VALUE:
            skip = not skip
        elif argument not in DROPPED and \
                not argument.startswith(("-frandom-seed=", "-D__")):
            options.append(argument)
    return source, options


def read_actions(text):
    """source -> options, for the sources that are written by hand."""
    found = {}
    for action in json.loads(text).get("actions", []):
        source, options = options_of(action["arguments"])
        if not source.startswith(("bazel-out/", "external/")):
            found.setdefault(source, options)
    return found


def sources():
    """The sources that Bazel compiles; the headers they need are there then."""
    bazel("build", "--output_groups=compilation_prerequisites_INTERNAL_",
          "--", *TARGETS)
    union = " + ".join(TARGETS)
    found = read_actions(bazel("aquery", "--output=jsonproto",
                               f'mnemonic("CppCompile", {union})'))
    gcc = subprocess.run(["g++", "-print-file-name=include"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout.strip()
    extra = ["-Wno-unknown-warning-option", "-Wno-unknown-pragmas",
             "-idirafter", gcc]
    return {source: options + extra for source, options in found.items()}


class Memory:
    """Remembers files that are known to be without findings."""

    def __init__(self, folder, settings):
        self.folder = folder
        self.settings = settings
        self.hashes = {}

    def place(self, source, options):
        text = json.dumps([source, options, self.settings])
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        return os.path.join(self.folder, name[:2], name)

    def hash_of(self, path):
        if path not in self.hashes:
            try:
                with open(os.path.join(ROOT, path), "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
            except OSError:
                digest = ""
            self.hashes[path] = digest
        return self.hashes[path]

    def digest(self, paths):
        text = "".join(self.hash_of(p) for p in paths)
        return hashlib.sha256(text.encode()).hexdigest()

    def is_clean(self, source, options):
        try:
            with open(self.place(source, options), encoding="utf-8") as file:
                digest, *paths = file.read().split("\n")
        except OSError:
            return False
        return digest == self.digest(paths)

    def remember(self, source, options, paths):
        place = self.place(source, options)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(f"{place}.{os.getpid()}", "w", encoding="utf-8") as file:
            file.write("\n".join([self.digest(paths), *paths]))
        os.rename(f"{place}.{os.getpid()}", place)


def read_of(rule):
    """The paths that a rule of a makefile, as -M writes it, depends on."""
    return rule.split(":", 1)[1].replace("\\\n", " ").split()


@functools.lru_cache
def external():
    """The folder of Bazel's other repositories, which the memory leaves out."""
    return os.path.join(bazel("info", "output_base").strip(), "external/")


def placed(options):
    # gcc's omp.h gives this attribute an argument, which clang does not know.
    return [external() + o[len("external/"):] if o.startswith("external/")
            else o for o in options] + ["-D__malloc__(...)="]


def includes_of(source, options):
    run = subprocess.run([CLANG, *placed(options), "-M", source], cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, check=False)
    return read_of(run.stdout) if run.returncode == 0 else None


def check(memory, source, options, profile):
    """The exit status and what clang-tidy said; 0 is remembered."""
    flags = ["--enable-check-profile"] if profile else []
    run = subprocess.run([TIDY, "--quiet", *flags, source, "--",
                          *placed(options)], cwd=ROOT, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT if profile
                         else subprocess.PIPE,
                         text=True, errors="replace", check=False)
    text = run.stdout
    if run.returncode not in (0, 1):
        text += run.stderr or ""
    if run.returncode == 0:
        paths = includes_of(source, options)
        if paths:
            memory.remember(source, options, paths)
    return run.returncode, text


def settings():
    version = subprocess.run([TIDY, "--version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    with open(os.path.join(ROOT, ".clang-tidy"), encoding="utf-8") as file:
        # Comments change nothing.
        return [version, re.sub(r"(?m)^#.*\n", "", file.read())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", action="store_true",
                        help="print the time of each check")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    start = time.monotonic()
    memory = Memory(CACHE, settings())
    todo = sources()
    if arguments.files:
        todo = {s: o for s, o in todo.items() if s in arguments.files}
    known = len(todo)
    todo = {s: o for s, o in todo.items()
            if arguments.profile or not memory.is_clean(s, o)}
    known -= len(todo)
    failed = 0
    kinds = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        running = {pool.submit(check, memory, s, o, arguments.profile): s
                   for s, o in sorted(todo.items())}
        for done in concurrent.futures.as_completed(running):
            status, text = done.result()
            if status != 0:
                failed += 1
                kinds.update(k for _, k in set(FINDING.findall(text)))
            if text.strip():
                print(text, flush=True)
    for kind, number in kinds.most_common():
        print(f"{number} {kind}")
    print(f"clang-tidy: {len(todo)} files read, {known} known, {failed} with "
          f"findings, in {time.monotonic() - start:.0f}s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
