"""The runner tells right from wrong: operators of fixture_ops.cpp that behave
well or badly, against cases made here.

Usage: runner_test.py SY PLUGIN [unittest arguments]
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

from case_files import CaseFile, Run

SY = PLUGIN = ""


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.folder = self.tmp.name
        self.addCleanup(self.tmp.cleanup)

    def replay(self, *files, flags=("--jobs", "1")):
        """Runs these cases and no others."""
        for name in os.listdir(self.folder):
            if name.endswith((".json", ".safetensors")):
                os.remove(os.path.join(self.folder, name))
        for file in files:
            file.save(self.folder)
        return Run(SY, self.folder, "--plugin", PLUGIN, *flags)

    def twice(self, name="fixture_twice", results=((2, 4, 6),), **fields):
        """Cases that call an operator like twice with [1, 2, 3]."""
        file = CaseFile(name)
        for values in results:
            file.case([file.tensor([1, 2, 3])], [file.tensor(values)],
                      **fields)
        return file

    def assert_passes(self, run):
        self.assertEqual((run.code, run.why()), (0, {}), run.out + run.err)

    def assert_fails(self, run, text):
        self.assertEqual(run.code, 1, run.out + run.err)
        self.assertIn(text, "\n".join(run.why().values()))

    # ---- results ----

    def test_right_result(self):
        run = self.replay(self.twice())
        self.assert_passes(run)
        self.assertEqual(run.counts(), (1, 0, 0))
        self.assertEqual(run.report["overloads"], {"fixture_twice": {
            "passed": 1, "failed": 0, "missing": False, "failures": []}})

    def test_wrong_value(self):
        self.assert_fails(self.replay(self.twice(results=[(2, 4, 7)])),
                          "returns[0]: element [2]: expected 7, got 6")

    def test_tolerance_is_absolute_plus_relative(self):
        near = self.twice(results=[(2, 4, 6.5)], atol=0.1, rtol=0.07)
        self.assert_passes(self.replay(near))
        far = self.twice(results=[(2, 4, 6.5)], atol=0.1, rtol=0.05)
        self.assert_fails(self.replay(far), "expected 6.5, got 6")

    def test_nan_and_infinities(self):
        inf, nan = float("inf"), float("nan")
        file = CaseFile("fixture_twice")
        file.case([file.tensor([inf, -inf, nan])],
                  [file.tensor([inf, -inf, nan])])
        self.assert_passes(self.replay(file))
        for wrong in ([-inf, -inf, nan], [inf, 1, nan], [inf, -inf, 1],
                      [inf, nan, nan]):
            file = CaseFile("fixture_twice")
            file.case([file.tensor([inf, -inf, nan])], [file.tensor(wrong)],
                      rtol=1.0, atol=1e30)
            self.assert_fails(self.replay(file), "returns[0]: element")
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1, nan])], [file.tensor([inf, 0])], rtol=1.0)
        self.assert_fails(self.replay(file), "expected inf, got 2")

    def test_wrong_sizes_and_dtype(self):
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1, 2])], [file.tensor([2, 4], sizes=[2, 1])])
        self.assert_fails(self.replay(file),
                          "sizes: expected [2, 1], got [2]")
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1, 2])], [file.tensor([2, 4], "float64")])
        self.assert_fails(self.replay(file),
                          "dtype: expected float64, got float32")

    def test_strides_of_a_fresh_result_are_a_note(self):
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1, 2, 3, 4], sizes=[2, 2])],
                  [file.tensor([2, 6, 4, 8], sizes=[2, 2], strides=[1, 2])])
        run = self.replay(file, flags=["--notes"])
        self.assert_passes(run)
        self.assertIn("strides: expected [1, 2], got [2, 1]", run.out)

    def test_numbers(self):
        file = CaseFile("fixture_count")
        file.case([file.tensor([1, 2, 3])], [3])
        self.assert_passes(self.replay(file))
        for wrong in (4, {"float": 3.0}, True, None, "3", [3]):
            file.cases = []
            file.case([file.tensor([1, 2, 3])], [wrong])
            self.assert_fails(self.replay(file), "got 3")
        file = CaseFile("fixture_ratio")
        file.case([1, 4], [{"float": 0.25}])
        file.case([1, 0], [{"float": "inf"}])
        file.case([0, 0], [{"float": "nan"}])
        self.assert_passes(self.replay(file))
        file.case([1, 4], [{"float": 0.5}])
        file.case([4, 1], [4])
        self.assertEqual(self.replay(file).counts(), (3, 2, 0))

    def test_number_of_results(self):
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1])], [])
        self.assert_fails(self.replay(file), "expected 0 results")
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1])], [[file.tensor([2])]])
        self.assert_fails(self.replay(file), "got float32[1] on cpu")

    def test_lists_of_tensors(self):
        def file(*returns):
            f = CaseFile("fixture_halves")
            f.case([f.tensor([1, 2, 3, 4])], [
                [f.tensor(v, strides=[1], offset=o, alias="self")
                 for v, o in returns]])
            return f
        good = ([1, 2, 0, 0], 0), ([0, 0, 3, 4], 2)
        right = file(*good)
        for value in right.cases[0]["returns"][0]:
            value["sizes"] = [2]
        self.assert_passes(self.replay(right))
        del right.cases[0]["returns"][0][1]
        self.assert_fails(self.replay(right), "got a list of 2 tensors")

    # ---- memory ----

    def test_alias(self):
        file = CaseFile("fixture_flat")
        value = file.tensor([1, 2], sizes=[2, 1])
        file.case([value], [dict(value, sizes=[2], strides=[1],
                                 alias="self")])
        self.assert_passes(self.replay(file))
        del file.cases[0]["returns"][0]["alias"]
        self.assert_fails(self.replay(file), "expected fresh memory")
        file.cases[0]["returns"][0].update(alias="self", sizes=[1],
                                           strides=[1], offset=1)
        self.assert_fails(self.replay(file), "sizes: expected [1], got [2]")
        file.cases[0]["returns"][0].update(alias="other", sizes=[2], offset=0)
        self.assert_fails(self.replay(file), "no tensor argument other")

    def test_strides_and_offset_of_an_alias(self):
        file = CaseFile("fixture_flat")
        value = file.tensor([1, 1, 1], sizes=[2], strides=[1])
        for wrong, text in (({"strides": [2]}, "strides: expected [2]"),
                            ({"offset": 1}, "offset: expected 1")):
            file.cases = []
            file.case([value], [dict(value, alias="self", **wrong)])
            self.assert_fails(self.replay(file), text)

    def test_alias_that_is_none(self):
        file = CaseFile("fixture_twice")
        file.case([file.tensor([1])], [file.tensor([2], alias="self")])
        self.assert_fails(self.replay(file), "expected memory of self")

    def test_undeclared_alias(self):
        self.assert_fails(self.replay(self.twice("fixture_same",
                                                 [(1, 2, 3)])),
                          "expected fresh memory, got that of an argument")

    # ---- writes ----

    def in_place(self, name, before, after, **fields):
        file = CaseFile(name)
        mutated = file.tensor(after, **fields)
        file.case([file.tensor(before, **fields)],
                  [dict(mutated, alias="self")], mutated={"self": mutated})
        return file

    def test_written_argument(self):
        self.assert_passes(self.replay(
            self.in_place("fixture_twice_", [1, 2], [2, 4])))

    def test_wrong_write(self):
        file = self.in_place("fixture_twice_", [1, 2], [2, 4])
        file.cases[0]["mutated"]["self"] = file.tensor([2, 5])
        self.assert_fails(self.replay(file),
                          "mutated self: element [1]: expected 5, got 4")
        file.cases[0]["mutated"]["self"] = file.tensor([2, 4, 0], sizes=[2],
                                                       offset=0, strides=[2])
        self.assert_fails(self.replay(file), "mutated self: ")

    def test_write_that_is_not_expected(self):
        file = self.in_place("fixture_twice_", [1, 2], [2, 4])
        del file.cases[0]["mutated"]
        self.assert_fails(self.replay(file), "argument self: byte")

    def test_undeclared_write(self):
        self.assert_fails(self.replay(self.twice("fixture_scribble")),
                          "argument self: byte 2 of its storage changed")
        self.assert_fails(self.replay(self.twice("fixture_reshaped")),
                          "argument self: sizes changed")

    def test_write_beside_a_written_view(self):
        file = self.in_place("fixture_overrun_", [1, 2, 3], [2, 4, 3],
                             sizes=[2], strides=[1])
        self.assert_fails(self.replay(file),
                          "argument self: byte 10 of its storage changed")

    def test_arguments_that_share_a_storage(self):
        file = CaseFile("fixture_twice.out")
        value = file.tensor([1, 2, 0, 0], sizes=[2], strides=[1])
        out = file.tensor([1, 2, 2, 4], sizes=[2], strides=[1], offset=2)
        file.case([value], [dict(out, alias="out")],
                  kwargs={"out": dict(value, offset=2)}, mutated={"out": out})
        file.case([value], [dict(out, alias="self")],
                  kwargs={"out": dict(value, offset=2)}, mutated={"out": out})
        self.assert_passes(self.replay(file))

    def test_resized_out(self):
        file = CaseFile("fixture_twice.out")
        out = file.tensor([2, 4])
        file.case([file.tensor([1, 2])], [dict(out, alias="out")],
                  kwargs={"out": file.tensor([])}, mutated={"out": out})
        self.assert_passes(self.replay(file))

    # ---- errors, crashes ----

    def refuse(self, how, **fields):
        file = CaseFile("fixture_refuse")
        file.case([file.tensor([1]), how], **fields)
        good = file.case([file.tensor([1]), "no"], [file.tensor([2])])
        good["id"] = "good"
        return file

    def test_expected_error(self):
        self.assert_passes(self.replay(self.refuse("value", error="any")))

    def test_errors_that_are_none(self):
        for how, text in (("not_implemented", "NotImplementedError: [fixture_refuse] not yet"),
                          ("internal", "InternalError: [fixture_refuse] a bug"),
                          ("std", "got std::runtime_error: not ours"),
                          ("number", "no std::exception"),
                          ("no", "expected an error, got a result")):
            run = self.replay(self.refuse(how, error="any"))
            self.assert_fails(run, text)
            self.assertEqual(run.counts(), (1, 1, 0))

    def test_error_where_a_result_is_expected(self):
        file = self.refuse("value", returns=[])
        file.cases[0]["returns"] = [file.tensor([2])]
        self.assert_fails(self.replay(file), "ValueError: [fixture_refuse] a wrong value")

    def three(self, name):
        """Three cases; the operator misbehaves in the second."""
        file = CaseFile(name)
        for values in ([1], [1, 2, 3], [1, 2]):
            file.case([file.tensor(values)],
                      [file.tensor([2 * v for v in values])])
        return file

    def test_a_crash_is_a_failure_of_its_case(self):
        run = self.replay(self.three("fixture_crash"), self.twice())
        self.assertEqual((run.code, run.counts()), (1, (3, 1, 0)))
        self.assertIn("the process ended: ", run.why()["case-1"])
        run = self.replay(self.three("fixture_leave"))
        self.assertIn("exit status 0", run.why()["case-1"])

    def test_a_hang_is_a_failure_of_its_case(self):
        run = self.replay(self.three("fixture_hang"),
                          flags=["--timeout", "4"])
        self.assertEqual((run.code, run.counts()), (1, (2, 1, 0)))
        self.assertIn("took more than 4 seconds", run.why()["case-1"])

    def test_hostile_arguments(self):
        flags = ["--trials", "hostile", "--jobs", "1"]
        run = self.replay(self.twice(), flags=flags)
        self.assert_passes(run)
        self.assertGreater(run.counts()[0], 20)
        run = self.replay(self.twice("fixture_brittle"), flags=flags)
        self.assertEqual(run.code, 1)
        why = run.why()
        self.assertEqual(
            {id.split(", ")[1] for id in why}, {"n: 7", "n: -1", "n: -2"})
        self.assertIn("expected an sy::Error, got std::runtime_error: seven",
                      why["case-0, n: 7"])
        self.assertIn("lies outside its storage", why["case-0, n: -1"])
        self.assertIn("the process ended: ", why["case-0, n: -2"])

    def test_failing_allocations(self):
        flags = ["--trials", "starved", "--jobs", "1"]
        self.assert_passes(self.replay(self.twice(), flags=flags))
        self.assert_fails(
            self.replay(self.twice("fixture_forgetful"), flags=flags),
            "with allocation 2 failing: 12 bytes are not given back")
        self.assert_fails(
            self.replay(self.twice("fixture_careless"), flags=flags),
            "with allocation 1 failing: the call succeeds")

    def test_kernels_may_print(self):
        self.assert_passes(self.replay(self.twice("fixture_chatty")))

    def test_missing_operator(self):
        run = self.replay(self.twice("fixture_nowhere",
                                     [(2, 4, 6), (2, 4, 6)]), self.twice())
        self.assertEqual((run.code, run.counts()), (1, (1, 0, 2)))
        self.assertTrue(run.report["overloads"]["fixture_nowhere"]["missing"])

    def test_errors_and_empty_results_prove_nothing(self):
        file = CaseFile("fixture_refuse")
        file.case([file.tensor([1])], error="any")
        run = self.replay(file)
        self.assertEqual((run.code, run.counts()), (1, (1, 0, 0)))
        self.assertIn("only errors or empty results passed", run.out)
        file = CaseFile("fixture_twice")
        file.case([file.tensor([])], [file.tensor([])])
        self.assertEqual(self.replay(file).code, 1)

    def test_what_gives_nothing_works_by_accepting_elements(self):
        for codes, code in (([0, 0], 0), ([], 1)):
            file = CaseFile("_linalg_check_errors")
            file.case([file.tensor(codes, "int32"), "linalg.inv"], [],
                      kwargs={"is_matrix": False})
            self.assertEqual(self.replay(file).code, code)

    # ---- arguments ----

    def numbers(self, args, kwargs, ints, floats):
        file = CaseFile("fixture_numbers")
        file.case(args, [[file.tensor(ints, "int64"),
                          file.tensor(floats, "float64")]], kwargs=kwargs)
        return file

    def test_defaults_are_filled_in(self):
        self.assert_passes(self.replay(
            self.numbers([3], {}, [3, 1, 4, -1, 7, 7], [1.5, 2.0])))

    def test_every_argument_arrives(self):
        self.assert_passes(self.replay(self.numbers(
            [-3, {"float": 0.1}, False],
            {"s": {"float": 2.5}, "list": [8, 9, 10], "text": "",
             "absent": 5},
            [-3, 0, 0, 5, 8, 9, 10], [0.1, 2.5])))
        self.assert_passes(self.replay(self.numbers(
            [1, 2], {"s": True, "list": 4}, [1, 1, 4, -1, 4, 4], [2.0, 1.0])))

    def test_arguments_that_do_not_fit(self):
        for args, kwargs, text in (
                ([], {}, "argument i is not given"),
                ([1, 2, True, 4], {}, "at most 3 positional"),
                ([1], {"i": 2}, "given twice"),
                ([1], {"nope": 2}, "no argument is named nope"),
                ([{"float": 1.5}], {}, "i: expected int, got"),
                ([1, "x"], {}, "f: expected float, got"),
                ([1], {"text": 3}, "text: expected str, got"),
                ([1], {"list": ["a"]}, "list.0: expected int, got")):
            self.assert_fails(self.replay(
                self.numbers(args, kwargs, [0], [0])), text)

    # ---- devices ----

    def test_another_device(self):
        on_device = ("--device", "fixture")
        out = CaseFile("fixture_flat")
        value = out.tensor([1, 2], sizes=[2, 1])
        out.case([value], [dict(value, sizes=[2], strides=[1], alias="self")])
        strided = CaseFile("fixture_twice_")
        after = strided.tensor([9, 2, 9, 4, 9], sizes=[2], strides=[2],
                               offset=1)
        strided.case([strided.tensor([9, 1, 9, 2, 9], sizes=[2], strides=[2],
                                     offset=1)],
                     [dict(after, alias="self")], mutated={"self": after})
        empty = CaseFile("fixture_twice")
        empty.case([empty.tensor([])], [empty.tensor([])])
        empty.case([empty.tensor([4])], [empty.tensor([8])])
        self.assert_passes(self.replay(out, strided, empty, flags=on_device))
        self.assert_fails(self.replay(self.twice(results=[(2, 4, 7)]),
                                      flags=on_device), "expected 7, got 6")
        self.assert_fails(self.replay(self.twice("fixture_scribble"),
                                      flags=on_device),
                          "device: expected fixture:0, got cpu")
        self.assert_fails(self.replay(self.twice("fixture_crash"),
                                      flags=on_device), "NotImplementedError")

    def test_a_device_in_a_case_is_the_one_under_test(self):
        for stated in ({}, {"device": {"device": "cpu"}}, {"device": "cpu"},
                       {"device": None}):
            file = CaseFile("fixture_make")
            file.case([2], [file.tensor([], sizes=[2, 0])], kwargs=stated)
            for device in ("cpu", "fixture", "meta"):
                run = self.replay(file, flags=["--device", device])
                self.assertEqual(run.counts(), (1, 0, 0), run.out)

    # ---- files ----

    def test_malformed_files(self):
        def spoil(change):
            file = self.twice()
            case = file.cases[0]
            change(case)
            return self.replay(file)
        for change, text in (
                (lambda c: c.update(extra=1), 'unknown field "extra"'),
                (lambda c: c.update(error="x"), 'unknown field'),
                (lambda c: c.pop("returns"), 'no "returns"'),
                (lambda c: c.pop("rtol"), '"rtol"'),
                (lambda c: c.update(atol=-1), '"atol"'),
                (lambda c: c["args"][0].update(tensor="x"), 'no entry "x"'),
                (lambda c: c["args"][0].update(sizes=[4]), "reaches beyond"),
                (lambda c: c["args"][0].update(dtype="int32"), "of storage"),
                (lambda c: c["args"][0].update(strides=[]), "0 strides"),
                (lambda c: c["args"][0].update(sizes=[-1]), "negative"),
                (lambda c: c["args"][0].update(mode=1), "malformed tensor")):
            self.assert_fails(spoil(change), text)

    def test_unreadable_files(self):
        self.twice().save(self.folder)
        path = os.path.join(self.folder, "fixture_twice.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for broken in (text[:-5], text.replace('"rtol"', '"atol"'), "[]",
                       text.replace("aten::", "other::")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(broken)
            run = Run(SY, self.folder, "--plugin", PLUGIN)
            self.assert_fails(run, "fixture_twice.json")
        os.remove(path[:-5] + ".safetensors")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.assert_fails(Run(SY, self.folder, "--plugin", PLUGIN),
                          "fixture_twice.safetensors: No such file")

    def test_truncated_storage(self):
        self.twice().save(self.folder)
        path = os.path.join(self.folder, "fixture_twice.safetensors")
        with open(path, "rb") as file:
            raw = file.read()
        length = struct.unpack("<Q", raw[:8])[0]
        for size in (4, 8, 8 + length - 1, len(raw) - 1):
            with open(path, "wb") as file:
                file.write(raw[:size])
            self.assert_fails(Run(SY, self.folder, "--plugin", PLUGIN),
                              "fixture_twice.safetensors: ")

    # ---- flags ----

    def test_op_selects(self):
        files = [self.twice(), self.twice("fixture_chatty"),
                 self.twice("fixture_same", [(1, 2, 3)])]
        self.assert_passes(self.replay(*files, flags=[
            "--op", "fixture_t*", "--op", "aten::fixture_chatty"]))
        run = self.replay(*files, flags=["--op", "fixture_twize"])
        self.assertEqual(run.code, 2)
        self.assertIn("did you mean 'fixture_twice'?", run.err)

    def test_several_jobs(self):
        files = [self.three("fixture_crash"), self.twice("fixture_chatty")]
        for i in range(8):
            files.append(self.twice(f"fixture_none{i}"))
        for jobs in ("1", "3"):
            run = self.replay(*files, flags=["--jobs", jobs])
            self.assertEqual(run.counts(), (3, 1, 8))

    def test_dtypes_by_several_processes(self):
        def dtypes(*flags):
            return subprocess.run([SY, "dtypes", *flags], text=True,
                                  capture_output=True, check=False)
        one = dtypes("add*", "--jobs", "1")
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertIn("add.Tensor cpu native:", one.stdout)
        self.assertEqual(dtypes("add*", "--jobs", "3").stdout, one.stdout)
        report = json.loads(dtypes("relu", "--json").stdout)
        self.assertEqual(report["device"], "cpu")
        self.assertEqual(report["operators"]["relu"]["float32"], "native")
        none = dtypes("no_such", "--jobs", "3")
        self.assertEqual((none.returncode, none.stderr),
                         (2, "sy: no functional operator fits no_such\n"))

    def test_json_on_standard_output(self):
        self.twice().save(self.folder)
        done = subprocess.run(
            [SY, "conform", "--cases", self.folder, "--plugin", PLUGIN,
             "--json", "-"], capture_output=True, text=True, check=False)
        self.assertEqual(json.loads(done.stdout)["passed"], 1)
        self.assertIn("1 passed", done.stderr)

    def test_what_cannot_be_run(self):
        self.twice().save(self.folder)
        run = Run(SY, self.folder, "--plugin", "nowhere.so")
        self.assertEqual(run.code, 2)
        self.assertIn("nowhere.so: no such file", run.err)
        run = Run(SY, self.folder, "--plugin", PLUGIN, "--device", "abacus")
        self.assertEqual(run.code, 2)
        self.assertIn("abacus", run.err)
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        run = Run(SY, empty)
        self.assertEqual(run.code, 2)
        self.assertIn("no cases", run.err)

    def test_lists_of_what_must_pass(self):
        files = [self.twice(), self.twice("fixture_chatty"),
                 self.twice("fixture_same", [(1, 2, 3)])]
        path = os.path.join(self.folder, "passing.txt")

        def run(text, *flags):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return self.replay(*files, flags=["--must-pass", path, *flags])

        good = run("fixture_twice\n")
        self.assertEqual(good.code, 0)
        self.assertIn("newly passing: fixture_chatty\n", good.out)
        for name, why in (("fixture_same", "fails"),
                          ("fixture_nowhere", "has no cases")):
            bad = run(name + "\n")
            self.assertEqual(bad.code, 1)
            self.assertIn(f"{name} must pass and {why}", bad.out)
        unsorted = run("fixture_twice\nfixture_chatty\n")
        self.assertEqual(unsorted.code, 2)
        self.assertIn("sorted", unsorted.err)
        grown = run("fixture_gone\n", "--update-passing", path)
        self.assertEqual(grown.code, 1)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "fixture_chatty\nfixture_gone\n"
                                          "fixture_twice\n")


if __name__ == "__main__":
    SY, PLUGIN = (os.path.abspath(p) for p in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
