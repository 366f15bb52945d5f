"""Kernels as nvcc compiles them. Compiled kernels are kept in the user's cache
folder, by the content of all that went in, and are not compiled again."""

import fcntl
import hashlib
import os
import re
import subprocess
import tempfile
import time

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
KEPT_DAYS = 30


def default_cache():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "switchyard", "cubins")


class Compiled:
    """cubin: bytes, empty if nvcc refused; log: what it and ptxas said."""

    def __init__(self, cubin, log):
        self.cubin = cubin
        self.log = log


class Compiler:
    """folders: where includes are looked for. cache: a folder, or None."""

    def __init__(self, nvcc, folders, cache):
        self.nvcc = nvcc
        self.folders = folders
        self.cache = cache
        self.compiled = 0  # by nvcc; what the cache had does not count
        self.texts = {}
        self.version = subprocess.run([nvcc, "--version"], check=True,
                                      stdout=subprocess.PIPE).stdout
        if cache:
            os.makedirs(cache, exist_ok=True)
            self.forget(time.time() - KEPT_DAYS * 86400)

    def forget(self, before):
        """Removes what has not been used for long."""
        for entry in os.scandir(self.cache):
            if entry.stat().st_mtime < before:
                os.remove(entry.path)

    def text_of(self, path):
        if path not in self.texts:
            with open(path, "rb") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def files_of(self, source):
        """The source and all that it includes, also what #if leaves out."""
        found, left = set(), [source]
        while left:
            path = left.pop()
            if path in found:
                continue
            found.add(path)
            for name in INCLUDE.findall(self.text_of(path).decode()):
                places = [os.path.join(folder, name) for folder in
                          [os.path.dirname(path), *self.folders]]
                left += [p for p in map(os.path.normpath, places)
                         if os.path.exists(p)]
        return sorted(found)

    def key(self, source, words):
        digest = hashlib.sha256(self.version)
        for part in [*map(str.encode, words),
                     *map(self.text_of, self.files_of(source))]:
            digest.update(b"%d " % len(part) + part)
        return digest.hexdigest()

    def compile(self, source, definitions, target, options=()):
        """target: "sm_90". The order of the options is part of the key."""
        words = ["-std=c++17", "--fmad=false", "-cubin", "-arch=" + target,
                 "-Xptxas=-v", *["-D" + d for d in definitions], *options]
        if not self.cache:
            return self.run(source, words)
        kept = os.path.join(self.cache, self.key(source, words))
        # One compiles, others who want the same wait for it.
        with open(kept + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(kept):
                os.utime(kept)
                with open(kept, "rb") as file:
                    log, _, cubin = file.read().partition(b"\0")
                return Compiled(cubin, log.decode())
            done = self.run(source, words)
            if done.cubin:
                with open(kept + ".new", "wb") as file:
                    file.write(done.log.encode() + b"\0" + done.cubin)
                os.replace(kept + ".new", kept)
            return done

    def run(self, source, words):
        self.compiled += 1
        with tempfile.TemporaryDirectory() as out:
            path = os.path.join(out, "kernels.cubin")
            command = [self.nvcc, *words, *["-I" + f for f in self.folders],
                       "-o", path, source]
            run = subprocess.run(command, check=False, text=True,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
            if run.returncode:
                return Compiled(b"", " ".join(command) + "\n" + run.stdout)
            with open(path, "rb") as file:
                return Compiled(file.read(), run.stdout)
