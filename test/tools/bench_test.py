"""`./sy bench`: what it measures, and the figures that --json writes."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import bench


class Machine:
    """Stands in for both programs: times by round, other than the other's."""

    def __init__(self):
        self.asked = []

    def output_of(self, command, threads=1):
        side = 0 if command[0] == bench.OURS[0] else 1
        if any("list_tests" in c for c in command):
            return "add_1\nonly_ours\n" if side == 0 else "add_1\n"
        name = [c for c in command if "filter" in c][0].split("^")[1][:-1]
        self.asked.append((side, name, threads))
        turn = self.asked.count((side, name, threads))
        time = [10, 90, 20][turn - 1] * (1 + side) / threads
        return json.dumps({"benchmarks": [
            {"name": name, "real_time": time, "time_unit": "us"}]})


class BenchTest(unittest.TestCase):

    def figures(self, *arguments):
        machine = Machine()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            with mock.patch.object(bench, "output_of", machine.output_of), \
                    mock.patch("sys.argv",
                               ["bench", "--json", path, *arguments]), \
                    contextlib.redirect_stdout(io.StringIO()):
                bench.main()
            with open(path, encoding="utf-8") as file:
                return json.load(file), machine.asked

    def test_a_table_is_flat(self):
        found, asked = self.figures()
        self.assertEqual(sorted(found), ["add_1", "only_ours"])
        self.assertEqual(found["add_1"]["ns"], 10000)
        self.assertIsNone(found["add_1"]["peer_ns"])
        self.assertEqual(len(asked), 2)

    def test_further_threads_are_in_the_names(self):
        found, _ = self.figures("--threads", "1,2", "--filter", "add")
        self.assertEqual(sorted(found), ["add_1", "add_1/threads:2"])
        self.assertEqual(found["add_1/threads:2"]["ns"], 5000)

    def test_both_sides_take_as_many_turns_and_the_median_counts(self):
        found, asked = self.figures("--peer")
        self.assertEqual(found["add_1"]["ns"], 20000)
        self.assertEqual(found["add_1"]["peer_ns"], 40000)
        self.assertIsNone(found["only_ours"]["peer_ns"])
        self.assertEqual([a for a in asked if a[1] == "add_1"],
                         [(0, "add_1", 1), (1, "add_1", 1)] * 3)


if __name__ == "__main__":
    unittest.main()
