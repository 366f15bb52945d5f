"""`./sy demo` says how far a build is, and what failed."""

import os
import subprocess
import sys
import tempfile
import unittest

import progress


class ProgressTest(unittest.TestCase):
    def test_reads_what_bazel_says(self):
        p = progress.Progress("building", 0)
        self.assertEqual(p.text(0), "building ...")
        self.assertFalse(p.read("Analyzing: 3 targets (97 packages loaded)"))
        self.assertTrue(p.read("[1,050 / 2,100] Compiling x.cpp; 3s local"))
        self.assertEqual(p.text(100),
                         "building: 1,050 of 2,100, about 2 min left")
        self.assertEqual(p.text(60),
                         "building: 1,050 of 2,100, about 60 s left")

    def test_says_no_time_before_it_knows_one(self):
        p = progress.Progress("building", 0)
        p.read("[10 / 2,100] Compiling x.cpp")
        self.assertEqual(p.text(100), "building: 10 of 2,100")
        p.read("[1,000 / 2,100] Compiling x.cpp")
        self.assertEqual(p.text(5), "building: 1,000 of 2,100")

    def run_with(self, script):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bazel")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(program, 0o755)
            return subprocess.run(
                [sys.executable, progress.__file__, "building", program,
                 "build", "//:all"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                check=False)

    def test_a_build_that_works_is_one_line(self):
        run = self.run_with("echo '[1 / 2] Compiling' >&2; echo INFO: done\n")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stdout, r"\A  building \(\d+ s\)\n\Z")
        self.assertEqual(run.stderr, "")

    def test_a_build_that_fails_shows_why(self):
        run = self.run_with("echo '[1 / 2] Compiling' >&2\n"
                            "echo 'x.cpp:1: error: no' >&2; exit 3\n")
        self.assertEqual(run.returncode, 3)
        self.assertIn("x.cpp:1: error: no", run.stderr)
        self.assertNotIn("[1 / 2]", run.stderr)
        self.assertIn("building failed:", run.stderr)


if __name__ == "__main__":
    unittest.main()
