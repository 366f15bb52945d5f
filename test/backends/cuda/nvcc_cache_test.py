"""A kernel is compiled again when anything that went in has changed, and only
then. The test needs no nvcc: a script stands in for it."""

import os
import sys
import tempfile
import time
import unittest

import nvcc

# Writes what it was asked for, and refuses a source that says so.
STAND_IN = """#!/bin/bash
[ "$1" != --version ] || { echo version 1; exit; }
for source; do :; done
[[ $(<"$source") != *wrong* ]] || { echo "it is wrong"; exit 1; }
while [ "$1" != -o ]; do words+=" $1"; shift; done
echo "$words" >"$2"
echo "ptxas says"
"""


class CacheTest(unittest.TestCase):

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        os.mkdir(self.path("include"))
        self.write("nvcc", STAND_IN)
        os.chmod(self.path("nvcc"), 0o755)
        self.write("a.cu", '#include "x.cuh"\n')
        self.write("include/x.cuh", '#if 0\n#include "y.cuh"\n#endif\n')
        self.write("include/y.cuh", "int y;\n")
        self.write("include/other.cuh", "int other;\n")

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def compile(self, definitions=(), target="sm_90", options=()):
        """The result, and how many were compiled for it."""
        compiler = nvcc.Compiler(self.path("nvcc"), [self.path("include")],
                                 self.path("cache"))
        done = compiler.compile(self.path("a.cu"), definitions, target, options)
        return done, compiler.compiled

    def test_the_same_is_not_compiled_twice(self):
        first, compiled = self.compile(["A=1"])
        self.assertEqual(compiled, 1)
        self.assertIn(b"-arch=sm_90", first.cubin)
        self.assertEqual(first.log, "ptxas says\n")
        again, compiled = self.compile(["A=1"])
        self.assertEqual(compiled, 0)
        self.assertEqual((again.cubin, again.log), (first.cubin, first.log))

    def test_what_changes_is_compiled(self):
        self.compile()
        for what, change in (
                ("definitions", {"definitions": ["A=1"]}),
                ("target", {"target": "sm_80"}),
                ("options", {"options": ["--fmad=true"]})):
            with self.subTest(what):
                self.assertEqual(self.compile(**change)[1], 1)
        for name in ("a.cu", "include/x.cuh", "include/y.cuh", "nvcc"):
            with self.subTest(name):
                with open(self.path(name), encoding="utf-8") as file:
                    text = file.read()
                self.write(name,
                           text.replace("version 1", "version 2") + "\n")
                self.assertEqual(self.compile()[1], 1)
                self.assertEqual(self.compile()[1], 0)

    def test_a_header_that_is_not_included_changes_nothing(self):
        self.compile()
        self.write("include/other.cuh", "int more;\n")
        self.assertEqual(self.compile()[1], 0)

    def test_a_new_header_of_that_name_counts(self):
        self.compile()
        self.write("x.cuh", "// beside the source, found first\n")
        self.assertEqual(self.compile()[1], 1)

    def test_what_is_refused_is_not_kept(self):
        self.write("a.cu", "wrong\n")
        for _ in range(2):
            done, compiled = self.compile()
            self.assertEqual((done.cubin, compiled), (b"", 1))
            self.assertIn("it is wrong", done.log)

    def test_what_is_not_used_for_long_is_forgotten(self):
        self.compile()
        long_ago = time.time() - (nvcc.KEPT_DAYS + 1) * 86400
        for entry in os.scandir(self.path("cache")):
            os.utime(entry.path, (long_ago, long_ago))
        self.assertEqual(self.compile()[1], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
