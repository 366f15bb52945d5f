"""The output of `sy facts` and of benchmarks, and mistakes in it."""

import json
import math
import os
import tempfile
import unittest

from facts import read_facts, read_timings
from problems import Problems


def read(text, reader=read_facts, name="facts.json"):
    """The reader's result for a file, and the problems."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        problems = Problems()
        value = reader(path, problems)
        return value, [line.removeprefix(folder + "/")
                       for line in problems.lines()]


class Facts(unittest.TestCase):
    def good(self, facts):
        value, problems = read(json.dumps(facts))
        self.assertEqual(problems, [])
        return value

    def error(self, text, *expected):
        value, problems = read(text)
        self.assertEqual(value, {})
        self.assertEqual(problems, [f"facts.json: error: {e}" for e in expected])

    def operator_error(self, op, *expected):
        self.error(json.dumps({"operators": {"op": op}}),
                   *(f"operators.op{e}" for e in expected))

    def test_all_parts(self):
        op = {"example": {"lines": ["a;"], "call": "f(a)", "output": "1\n2"},
              "errors": [{"call": "f()", "type": "TypeError", "text": "no"}],
              "curves": {"axis": "self", "lines": [
                  {"label": "p=2", "x": [0, 1.5], "y": [1, None], "dy": [0, 2]},
                  {"x": [], "y": []}]},
              "dtypes": {"cpu": [["native", "float32"], ["cpu", "bool"]]},
              "dispatch": [["CPU", "own: CPU", "a.cpp:5"]]}
        facts = self.good({"version": 1, "devices": ["cpu", "npu"],
                           "operators": {"mine::bump": op}})
        read_op = facts["operators"]["mine::bump"]
        first, second = read_op["curves"]["lines"]
        self.assertTrue(math.isnan(first["y"][1]))
        self.assertEqual(second["dy"], [])
        self.assertEqual(read_op["dtypes"], op["dtypes"])

    def test_missing_and_unknown_parts(self):
        self.good({})
        self.good({"later": 1, "operators": {"op": {"color": "red"}}})

    def test_the_line_of_bad_json(self):
        for text, place in {'{\n "version": 1,\n "x" 2}': "3:6", "": "1:1",
                            '{"version": 1': "1:14"}.items():
            _, problems = read(text)
            self.assertTrue(problems[0].startswith(
                f"facts.json:{place}: error: bad JSON: "), problems)
        _, problems = read(b'{"a": "\xff"}')
        self.assertEqual(problems, ["facts.json: error: the file is not UTF-8"])

    def test_wrong_kinds_by_their_path(self):
        self.error("[]", "the whole: expected an object, got a list")
        self.error('{"version": 2}', "version: expected 1, got 2")
        self.error('{"version": "1"}',
                   "version: expected a whole number, got a text")
        self.error('{"devices": "cpu"}',
                   "devices: expected a list, got a text")
        self.error('{"devices": [true]}',
                   "devices[0]: expected a text, got a bool")
        self.operator_error(3, ": expected an object, got a number")
        self.operator_error({"curves": {"lines": [{"x": 1}]}},
                            ".curves.lines[0].x: expected a list, got a number")
        self.operator_error(
            {"curves": {"lines": [{"x": ["1"], "y": [1]}]}},
            ".curves.lines[0].x[0]: expected a number, got a text")
        self.operator_error({"example": {"call": None}},
                            ".example.call: expected a text, got null")
        self.operator_error({"errors": {}},
                            ".errors: expected a list, got an object")
        self.operator_error({"dispatch": [["CPU", "own"]]},
                            ".dispatch[0]: expected 3 items, got 2")
        self.operator_error({"dtypes": {"cpu": [["fast", "bool"]]}},
                            ".dtypes.cpu[0][0]: expected native, composed or "
                            "cpu, got 'fast'")

    def test_points_of_a_curve_belong_together(self):
        self.operator_error({"curves": {"lines": [{"x": [1, 2], "y": [1]}]}},
                            ".curves.lines[0]: expected x, y and dy of one "
                            "length, got 2, 1 and 0")

    def test_flows(self):
        good = {"call": "f(self)", "moves": True,
                "inputs": [{"name": "self", "sizes": [2]}],
                "outputs": [{"name": "result", "sizes": [1]}], "from": [[1]]}
        self.good({"operators": {"op": {"flows": {"f": good}}}})
        for key, value, error in [
                ("call", 3, ".call: expected a text, got a number"),
                ("moves", 3, ".moves: expected a bool, got a number"),
                ("from", [[2]], ".from[0]: expected numbers in [0, 2)"),
                ("from", [[-1]], ".from[0]: expected numbers in [0, 2)"),
                ("from", [], ".from: expected 1 lists"),
                ("inputs", [], ".inputs: expected at least one tensor"),
                ("inputs", [{"name": "x", "sizes": [5000, 5000]}],
                 ".inputs[0].sizes: expected a small tensor"),
                ("outputs", [{"sizes": [1]}],
                 ".outputs[0]: expected a member 'name'")]:
            self.operator_error({"flows": {"f": {**good, key: value}}},
                                f".flows.f{error}")
        del good["from"]
        self.operator_error({"flows": {"f": good}},
                            ".flows.f: expected a member 'from'")


class Timings(unittest.TestCase):
    def test_as_the_benchmarks_write_them(self):
        timings, problems = read(json.dumps({
            "softmax/8": {"ns": 2, "peer_ns": None, "peak_mb": 1},
            "mm<at::kFloat>/64": {"ns": 4, "peer_ns": 5}}), read_timings)
        self.assertEqual(problems, [])
        self.assertEqual(timings, [("mm<at::kFloat>/64", 4, 5),
                                   ("softmax/8", 2, 0)])

    def test_errors(self):
        _, problems = read('{"a": {"ns": "1"}, "b": 2}', read_timings,
                           "bench.json")
        self.assertEqual(problems, [
            "bench.json: error: a.ns: expected a number, got a text",
            "bench.json: error: b: expected an object, got a number"])


if __name__ == "__main__":
    unittest.main()
