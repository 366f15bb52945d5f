"""`./sy test` counts what Bazel did, and a broken build as a failure."""

import json
import os
import tempfile
import unittest
from unittest import mock

import run_tests


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
        tally = run_tests.Tally()
        with mock.patch.object(run_tests.subprocess, "run", Bazel(code, events)):
            run_tests.bazel_test(tally, "", [], ["//..."])
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
            self.assertEqual(run_tests.read_events(path), {"//:a": False})


class FormatTest(unittest.TestCase):

    def count(self, code):
        tally = run_tests.Tally()
        run = mock.Mock(returncode=code, stdout="a.cpp:1:1: error")
        with mock.patch.object(run_tests.subprocess, "run", return_value=run):
            run_tests.check_format(tally)
        return tally.passed, tally.failures

    def test_counts_as_one_test(self):
        self.assertEqual(self.count(0), (1, []))
        self.assertEqual(self.count(1), (0, ["formatting"]))

    def bake(self, code, said):
        tally = run_tests.Tally()
        runs = [mock.Mock(returncode=0),
                mock.Mock(returncode=code, stdout=said)]
        with mock.patch.object(run_tests.subprocess, "run", side_effect=runs):
            run_tests.bake(tally)
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
        tally = run_tests.Tally()
        runs = [mock.Mock(returncode=0), mock.Mock(returncode=1)]
        with mock.patch.object(run_tests.subprocess, "run", side_effect=runs):
            run_tests.run_checks(tally)
        self.assertEqual((tally.passed, tally.failures), (1, ["clang-tidy"]))


if __name__ == "__main__":
    unittest.main()
