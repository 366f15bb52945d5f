"""`./sy bench`: what it measures, and the figures that --json writes."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from unittest import mock

import bench
import bench_lazy


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


class LazyMachine:
    """Stands in for lazy_bench: a call of lazy_record takes 100 ns, the rest
    takes 30 us, and twice that on the CPU."""

    def __init__(self):
        self.asked = []

    def output_of(self, command, threads=1):
        names = [f"{side}_{name}/real_time" for side in ("lazy", "eager")
                 for name in ("record", "sync_100", "adamw_200")]
        if any("list_tests" in c for c in command):
            return "\n".join(names)
        name = [c for c in command if "filter" in c][0].split("^")[1][:-1]
        self.asked.append(name)
        result = {"name": name, "time_unit": "us",
                  "real_time": 30 if name.startswith("lazy") else 60}
        if "record" in name:
            result.update(real_time=100, items_per_second=1e7)
        return json.dumps({"benchmarks": [result]})


class LazyTest(unittest.TestCase):

    def figures(self, *arguments):
        machine, text = LazyMachine(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            with mock.patch.object(bench, "output_of", machine.output_of), \
                    mock.patch("sys.argv", ["bench", "--lazy", "--json", path,
                                            *arguments]), \
                    contextlib.redirect_stdout(text):
                bench.main(bench_lazy.run)
            with open(path, encoding="utf-8") as file:
                return json.load(file), machine.asked, text.getvalue()

    def test_both_devices_take_turns(self):
        found, asked, _ = self.figures("--filter", "adamw")
        self.assertEqual(found,
                         {"lazy_adamw_200": {"ns": 30e3, "eager_ns": 60e3}})
        self.assertEqual(asked, ["lazy_adamw_200/real_time",
                                 "eager_adamw_200/real_time"] * 3)

    def test_a_call_counts_where_an_iteration_makes_several(self):
        found, _, _ = self.figures("--filter", "record", "--rounds", "1")
        self.assertEqual(found["lazy_record"]["ns"], 100)

    def test_goals_are_ratios_times_and_differences(self):
        _, _, text = self.figures("--rounds", "1")
        rows = {line.split()[0]: line for line in text.splitlines()[2:]}
        self.assertRegex(rows["lazy_record"], "150 ns$")
        self.assertRegex(rows["lazy_sync_100"], r"\+10 us$")
        self.assertRegex(rows["lazy_adamw_200"], "0.50     0.35  1.4x over$")
        self.assertEqual(bench_lazy.judgement("lazy_sync_100", 35e3, 10e3),
                         ("+10 us", "2.5x over"))


if __name__ == "__main__":
    unittest.main()
