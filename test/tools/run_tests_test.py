"""`./sy test` counts what Bazel did, and a broken build as a failure."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import bazel_tests
import full_parts
import full_record
import run_tests
from tally import Tally


def configured(label, size="SMALL"):
    body = {"testSize": size} if size else {}
    return {"id": {"targetConfigured": {"label": label}}, "configured": body}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}},
            "testSummary": {"overallStatus": status}}


class Bazel:
    """Stands in for the command: writes events, returns a code."""

    def __init__(self, code, events):
        self.returncode = code
        self.events = events

    def __call__(self, command, **_):
        path = [c for c in command if "event_json" in c][0].split("=", 1)[1]
        if self.events is not None:
            with open(path, "w", encoding="utf-8") as file:
                for event in self.events:
                    file.write(json.dumps(event) + "\n")
        return self


class CountTest(unittest.TestCase):

    def count(self, code, events):
        tally = Tally()
        with mock.patch.object(bazel_tests.subprocess, "run", Bazel(code, events)):
            bazel_tests.bazel_test(tally, "", [], ["//..."])
        return tally.passed, tally.failures

    def test_all_pass(self):
        self.assertEqual(
            self.count(0, [configured("//:lib", None), configured("//:a"),
                           configured("//:b"), summary("//:a", "PASSED"),
                           summary("//:b", "PASSED")]), (2, []))

    def test_a_failing_test(self):
        self.assertEqual(
            self.count(3, [configured("//:a"), configured("//:b"),
                           summary("//:a", "PASSED"),
                           summary("//:b", "FAILED")]), (1, ["//:b"]))

    def test_a_test_that_did_not_build(self):
        self.assertEqual(
            self.count(1, [configured("//:a"), configured("//:b"),
                           summary("//:a", "PASSED")]), (1, ["//:b"]))

    def test_a_library_that_did_not_build_fails_too(self):
        passed, failures = self.count(
            1, [configured("//:a"), summary("//:a", "PASSED")])
        self.assertEqual((passed, len(failures)), (1, 1))

    def test_a_build_that_never_started(self):
        for events in ([], None):
            passed, failures = self.count(1, events)
            self.assertEqual((passed, len(failures)), (0, 1))

    def test_no_test_among_the_targets(self):
        self.assertEqual(self.count(4, [configured("//:lib", None)]), (0, []))

    def test_timeouts_and_flaky_tests_do_not_pass(self):
        for status in ("TIMEOUT", "FLAKY", "NO_STATUS", "INCOMPLETE"):
            self.assertEqual(
                self.count(3, [configured("//:a"), summary("//:a", status)]),
                (0, ["//:a"]))

    def test_a_run_that_was_cut_off(self):
        cut = {"id": {"testSummary": {"label": "//:a"}},
               "aborted": {"reason": "USER_INTERRUPTED"}}
        self.assertEqual(self.count(8, [configured("//:a"), cut]),
                         (0, ["//:a"]))

    def test_a_torn_last_line_is_ignored(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events")
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(configured("//:a")) + '\n{"id": {"te')
            self.assertEqual(bazel_tests.read_events(path), {"//:a": False})


GOOGLETEST = """<?xml version="1.0"?>
<testsuites><testsuite name="A"><testcase name="B" classname="A"
 status="run" result="skipped"><skipped message="x.cpp:1&#x0A;no GPU"/>
</testcase><testcase name="C" classname="A" status="run"/>
</testsuite></testsuites>"""
SCRIPT = """<?xml version="1.0"?>
<testsuites><testsuite><testcase name="t"></testcase><system-out>
<![CDATA[%s]]></system-out></testsuite></testsuites>"""


class SkipTest(unittest.TestCase):

    def skips(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return bazel_tests.read_skips(path)

    def test_of_googletest(self):
        self.assertEqual(self.skips(GOOGLETEST), [("A.B", "no GPU")])

    def test_of_scripts(self):
        self.assertEqual(self.skips(SCRIPT % "SKIPPED: no nvcc\nPASSED"),
                         [("", "no nvcc")])
        self.assertEqual(self.skips(SCRIPT % "nothing is SKIPPED here"), [])

    def test_of_unittest(self):
        self.assertEqual(self.skips(SCRIPT % "Ran 3\n\nOK (skipped=2)"),
                         [("", "a test of Python that says no reason")] * 2)
        said = "test_a (m.T) ... skipped 'why'\nOK (skipped=1)"
        self.assertEqual(self.skips(SCRIPT % said), [("test_a", "why")])

    def test_what_is_no_xml_is_read_as_text(self):
        self.assertEqual(self.skips("<a>\nSKIPPED: why\n"), [("", "why")])

    def test_the_report_of_a_run_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(GOOGLETEST)
            result = {"id": {"testResult": {"label": "//:a"}}, "testResult": {
                "testActionOutput": [{"name": "test.xml",
                                      "uri": "file://" + path}]}}
            tally = Tally()
            run = Bazel(0, [configured("//:a"), result,
                            summary("//:a", "PASSED")])
            with mock.patch.object(bazel_tests.subprocess, "run", run):
                bazel_tests.bazel_test(tally, "", [], ["//..."])
        self.assertEqual((tally.passed, tally.skips),
                         (1, [("//:a A.B", "no GPU")]))


class TallyTest(unittest.TestCase):

    def said(self, tally):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = tally.finish()
        return code, out.getvalue().splitlines()

    def test_reasons_stand_above_the_last_line(self):
        tally = Tally()
        tally.add("a", True)
        for name in ("b", "c"):
            tally.skip(name, "no GPU")
        self.assertEqual(self.said(tally), (0, [
            "SKIPPED 2: no GPU (b, c)", "1 passed, 0 failed, 2 skipped"]))

    def test_what_the_machine_has_is_not_skipped(self):
        tally = Tally(lambda word: word == "nvcc")
        tally.skip("a", "this machine has no nvcc")
        tally.skip("b", "built without NVRTC")
        tally.skip("c", "nvcc: on a GPU: there is no driver")
        code, lines = self.said(tally)
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 2 skipped"))


class FullTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.ran = []

    def state(self, commit="c1"):
        return full_record.State(os.path.join(self.folder, "s.json"), commit)

    def part(self, name, ok=True):
        def run(tally):
            self.ran.append(name)
            tally.add(name, ok)
            tally.skip(name, "no GPU")
        return run

    def full(self, state, broken=(), wanted=None, resume=False):
        """(the count, the commit of each part on record)."""
        names = ["asan-1", "asan-2", "fuzz"]
        parts = {n: self.part(n, n not in broken) for n in names}
        path = os.path.join(self.folder, "record.md")
        tally = Tally()
        self.ran = []
        with mock.patch.object(full_parts, "PARTS", parts), \
                mock.patch.object(run_tests, "run_plain", self.part("tests")), \
                mock.patch.object(
                    run_tests, "write_record",
                    lambda s, n, all: full_record.write_record(s, n, all,
                                                               path)), \
                contextlib.redirect_stdout(io.StringIO()):
            run_tests.run_full(tally, wanted, resume, state)
        rows, _ = full_record.read_record(path)
        return tally, {n: cells[1] for n, cells in rows.items()}

    def test_a_green_run_leaves_its_record(self):
        tally, recorded = self.full(self.state())
        self.assertEqual((tally.passed, len(tally.skips)), (4, 4))
        self.assertEqual(recorded, dict.fromkeys(
            ("tests", "asan-1", "asan-2", "fuzz"), "c1"))
        with open(os.path.join(self.folder, "record.md"),
                  encoding="utf-8") as file:
            text = file.read()
        for word in ("| fuzz | c1 |", "- fuzz: SKIPPED 1: no GPU"):
            self.assertIn(word, text)

    def test_it_goes_on_after_what_passed(self):
        tally, recorded = self.full(self.state(), broken=["asan-2"])
        self.assertEqual(tally.failures, ["asan-2 (part asan-2)"])
        self.assertEqual((recorded["asan-1"], recorded["asan-2"]),
                         ("c1", "never"))
        tally, recorded = self.full(self.state(), resume=True)
        self.assertEqual(self.ran, ["asan-2"])
        self.assertEqual((tally.passed, recorded["asan-2"]), (4, "c1"))
        self.full(self.state("c2"), resume=True)
        self.assertEqual(len(self.ran), 4)

    def test_a_part_keeps_the_record_of_its_last_green_run(self):
        self.full(self.state())
        _, recorded = self.full(self.state("c2"), broken=["fuzz"])
        self.assertEqual((recorded["asan-1"], recorded["fuzz"]), ("c2", "c1"))

    def test_one_part(self):
        _, recorded = self.full(self.state(), wanted="asan")
        self.assertEqual(self.ran, ["asan-1", "asan-2"])
        self.assertEqual((recorded["asan-1"], recorded["fuzz"]),
                         ("c1", "never"))
        with self.assertRaises(KeyError):
            full_parts.named(["asan-1"], "asa")

    def test_changed_files_are_no_commit(self):
        _, recorded = self.full(self.state(None))
        self.assertEqual(recorded, {})
        self.full(self.state(None), resume=True)
        self.assertEqual(len(self.ran), 4)

    def test_shares_have_each_test_once(self):
        tests = [f"//:t{i}" for i in range(11)]
        shares = [bazel_tests.share_of(tests, (i, 4)) for i in range(4)]
        self.assertEqual(sorted(sum(shares, [])), sorted(tests))

    def test_what_is_promised_and_missing_fails(self):
        nowhere = {"SWITCHYARD_PJRT_PLUGIN": "/nowhere/plugin.so",
                   "SWITCHYARD_ULFM_MPIRUN": "/nowhere/mpirun", "PATH": ""}
        runs = {"pjrt": full_parts.run_pjrt, "faults": full_parts.run_faults,
                "browser": full_parts.run_browser, "fuzz": full_parts.run_fuzz}
        for name, run in runs.items():
            tally = Tally()
            with mock.patch.dict(os.environ, nowhere), \
                    mock.patch.object(full_parts, "bazel_test"):
                run(tally)
            self.assertEqual(len(tally.failures), 1, name)

    def test_words(self):
        for words in (["--part", "asan"], ["--resume"],
                      ["--full", "--part", "asan", "//..."],
                      ["--full", "--part", "nothing"]):
            with self.assertRaises(SystemExit), \
                    contextlib.redirect_stderr(io.StringIO()):
                run_tests.parse(words)
        self.assertEqual(run_tests.parse(["--full", "--part", "asan"]).part,
                         "asan")


class FormatTest(unittest.TestCase):

    def count(self, code):
        tally = Tally()
        run = mock.Mock(returncode=code, stdout="a.cpp:1:1: error")
        with mock.patch.object(run_tests.subprocess, "run", return_value=run):
            run_tests.check_format(tally)
        return tally.passed, tally.failures

    def test_counts_as_one_test(self):
        self.assertEqual(self.count(0), (1, []))
        self.assertEqual(self.count(1), (0, ["formatting"]))

    def bake(self, code, said):
        tally = Tally()
        runs = [mock.Mock(returncode=0),
                mock.Mock(returncode=code, stdout=said)]
        with mock.patch.object(full_parts.subprocess, "run", side_effect=runs):
            full_parts.bake(tally)
        return tally.passed, tally.failures

    def test_programs_for_gpus(self):
        count = "12 programs, 3 sources with their definitions: 4 units, "
        self.assertEqual(self.bake(0, count + "0 images do not compile"),
                         (1, []))
        failed = (0, ["programs for GPUs"])
        self.assertEqual(self.bake(1, count + "1 images do not compile"),
                         failed)
        self.assertEqual(self.bake(0, "nothing was counted"), failed)
        self.assertEqual(self.bake(2, "[cuda] there is no NVRTC: x"), (0, []))

    def test_clang_checks_count_each(self):
        tally = Tally()
        runs = [mock.Mock(returncode=0), mock.Mock(returncode=1)]
        with mock.patch.object(full_parts.subprocess, "run", side_effect=runs):
            full_parts.run_checks(tally)
        self.assertEqual((tally.passed, tally.failures), (1, ["clang-tidy"]))


if __name__ == "__main__":
    unittest.main()
