"""Tests how tidy.py reads Bazel and clang, and its memory."""

import json
import os
import tempfile
import unittest
from unittest import mock

import tidy

GCC = ["/usr/bin/gcc", "-Wall", "-fno-gnu-unique", "-MD", "-MF", "a.d",
       "-frandom-seed=a.o", "-iquote", ".", "-c", "c10/a.cpp", "-o", "a.o",
       '-D__DATE__="redacted"']


def actions(*sources):
    return json.dumps({"actions": [
        {"arguments": [s if a == "c10/a.cpp" else a for a in GCC]}
        for s in sources]})


class ActionsTest(unittest.TestCase):

    def test_options_for_clang_stay(self):
        self.assertEqual(tidy.options_of(GCC),
                         ("c10/a.cpp", ["-Wall", "-iquote", "."]))

    def test_generated_sources_are_left_out(self):
        text = actions("c10/a.cpp", "bazel-out/k8/bin/b.cpp", "external/c.cpp")
        self.assertEqual(list(tidy.read_actions(text)), ["c10/a.cpp"])

    def test_rules_over_several_lines(self):
        self.assertEqual(tidy.read_of("a.o: a.cpp \\\n  a.h b.h\n"),
                         ["a.cpp", "a.h", "b.h"])


class CheckTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.header = os.path.join(self.folder, "a.h")
        self.write("int a;")

    def write(self, text):
        with open(self.header, "w", encoding="utf-8") as file:
            file.write(text)

    def memory(self, settings=("16", "Checks")):
        return tidy.Memory(os.path.join(self.folder, "tidy"), list(settings))

    def check(self, code):
        run = mock.Mock(returncode=code, stdout="", stderr="")
        with mock.patch.object(tidy.subprocess, "run", return_value=run), \
                mock.patch.object(tidy, "includes_of",
                                  return_value=[self.header]):
            return tidy.check(self.memory(), "a.cpp", ["-O2"], False)[0]

    def test_a_file_without_findings_is_remembered(self):
        self.assertFalse(self.memory().is_clean("a.cpp", ["-O2"]))
        self.assertEqual(self.check(0), 0)
        self.assertTrue(self.memory().is_clean("a.cpp", ["-O2"]))

    def test_a_finding_is_not_remembered(self):
        self.assertEqual(self.check(1), 1)
        self.assertFalse(self.memory().is_clean("a.cpp", ["-O2"]))

    def test_what_changes_is_read_again(self):
        self.check(0)
        self.assertFalse(self.memory().is_clean("a.cpp", ["-O3"]))
        self.assertFalse(self.memory(["17", "Checks"]).is_clean("a.cpp",
                                                                ["-O2"]))
        self.write("int b;")
        self.assertFalse(self.memory().is_clean("a.cpp", ["-O2"]))


if __name__ == "__main__":
    unittest.main()
