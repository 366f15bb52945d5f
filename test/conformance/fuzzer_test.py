"""`sy fuzz` finds what operators of fixture_ops.cpp do wrong, makes it short,
and `sy replay` makes it again; the same seed draws the same calls.

Usage: fuzzer_test.py SY PLUGIN [unittest arguments]
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SY = PLUGIN = ""


def run(*arguments):
    return subprocess.run([SY, *arguments], text=True, capture_output=True,
                          check=False)


def fuzz(pattern, *flags, calls=3000):
    return run("fuzz", pattern, "--plugin", PLUGIN, "--device", "cpu",
               "--calls", str(calls), "--jobs", "1", "--timeout", "3", *flags)


class FuzzTest(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)

    def failures(self, pattern, *flags, **options):
        """The failures found of each operator: {(name, kind): file}."""
        folder = os.path.join(self.tmp.name, "found")
        found = fuzz(pattern, "--failures", folder, *flags, **options)
        self.assertEqual(found.returncode, 1, found.stdout + found.stderr)
        out = {}
        for path in glob.glob(os.path.join(folder, "*.json")):
            with open(path, encoding="utf-8") as f:
                v = json.load(f)
            out[v["call"]["op"], v["kind"]] = path
        return out

    def check(self, name, kind, most_elements=4, example=None):
        flags = []
        if example:
            flags = ["--examples", os.path.join(self.tmp.name, "examples")]
            with open(flags[1], "w", encoding="utf-8") as f:
                f.write(f"{name}: {example}\n")
        found = self.failures("*" + name, *flags)
        self.assertIn(("aten::" + name, kind), found)
        path = found["aten::" + name, kind]
        with open(path, encoding="utf-8") as f:
            call = json.load(f)["call"]
        elements = sum(s["elements"] for s in call["storages"].values())
        self.assertLessEqual(elements, most_elements, call)
        again = run("replay", path)
        if kind == "crash":
            self.assertNotRegex(again.stdout, "PASS|FAIL")
        else:
            self.assertEqual(again.returncode, 1, again.stderr)
            self.assertTrue(again.stdout.startswith(
                f"FAIL aten::{name}: {kind}"), again.stdout)

    def test_crash(self):
        self.check("fixture_crash", "crash")

    def test_hang(self):
        found = self.failures("*fixture_hang", calls=60)
        self.assertIn(("aten::fixture_hang", "hang"), found)

    def test_process_that_leaves(self):
        self.check("fixture_leave", "crash")

    def test_memory_that_is_lost(self):
        with open(SY, "rb") as f:
            if b"__lsan_" not in f.read():
                self.skipTest("needs LeakSanitizer")
        self.check("fixture_lose", "leak")

    def test_argument_that_is_written(self):
        self.check("fixture_scribble", "changed")

    def test_memory_beside_a_view_that_is_written(self):
        self.check("fixture_overrun_", "changed", most_elements=8)

    def test_argument_that_is_resized(self):
        self.check("fixture_reshaped", "changed")

    def test_exception_of_another_library(self):
        self.check("fixture_brittle", "foreign")

    def test_result_outside_its_storage(self):
        self.check("fixture_brittle", "bounds")

    def test_internal_error(self):
        self.check("fixture_refuse", "InternalError", example="3 internal")

    def test_exception_of_no_library(self):
        self.check("fixture_refuse", "foreign", example="3 number")

    def test_nothing_is_found_where_nothing_is_wrong(self):
        good = fuzz("*fixture_count")
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        self.assertRegex(good.stdout,
                         r"^3000 calls of seed 1: \d+ gave a result, \d+ were "
                         r"refused, 0 failed\n$")
        given, refused = map(int, re.findall(r"(\d+) (?:gave|were)",
                                             good.stdout))
        self.assertGreater(given, 1000)
        self.assertGreater(refused, 100)

    def test_a_seed_draws_the_same_calls(self):
        first, again = (fuzz("*fixture_brittle").stdout for _ in range(2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, fuzz("*fixture_brittle", "--seed",
                                        "2").stdout)

    # ---- input that is wrong ----

    def assert_refused(self, done, text):
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(text, done.stderr)

    def test_no_operator_fits(self):
        self.assert_refused(fuzz("*nothing_like_it"),
                            "no operator fits *nothing_like_it")

    def test_no_such_library(self):
        self.assert_refused(run("fuzz", "--plugin", "/no/such.so"), "no/such.so")

    def test_calls_and_seconds(self):
        self.assert_refused(fuzz("*", "--seconds", "1"), "excludes")

    def test_files_that_are_malformed(self):
        path = os.path.join(self.tmp.name, "call.json")
        head = {"device": "cpu", "plugins": [], "schemas": [], "memory": 1 << 28}

        def replay(call):
            with open(path, "w", encoding="utf-8") as f:
                json.dump({**head, "call": call}, f)
            return run("replay", path)

        self.assert_refused(replay({"op": "aten::abs"}), "storages")
        outside = {"op": "aten::abs", "storages": {
            "a": {"dtype": "float32", "elements": 2}},
            "arguments": [{"tensor": "a", "sizes": [3], "strides": [1],
                           "offset": 0}]}
        done = replay(outside)
        self.assertEqual(done.returncode, 1)
        self.assertIn("malformed: ValueError: self: the tensor lies outside "
                      "its storage", done.stdout)


if __name__ == "__main__":
    SY, PLUGIN = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
