"""`sy prove` tells each wrong entry of prover_entries.py and passes each right
one; its exit status says what was not proven; with a plugin it tells kernels of
its device that are wrong. It varies entries and kernels, never the process's
threads, nor operators whose examples have other dtypes than float64.

Usage: prover_test.py SY MUTANTS [unittest arguments]
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
import unittest

import prover_entries

SY = MUTANTS = ""


def text_of(name, func, lines):
    return "\n".join([f"- func: mine::{name}{func}",
                      *(f"  {line}" for line in lines), ""])


def examples_of(name, lines):
    return "".join(f"mine::{name}: {line.removeprefix('example: ')}\n"
                   for line in lines if line.startswith("example: "))


def prove(name, func, lines, more="", flags=()):
    """(exit status, what it says)."""
    with tempfile.TemporaryDirectory() as folder:
        schema = os.path.join(folder, "mine.yaml")
        examples = os.path.join(folder, "examples.txt")
        for path, text in ((schema, text_of(name, func, lines) + more),
                           (examples, examples_of(name, lines))):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run(
            [SY, "prove", f"mine::{name}", "--schema", schema, "--examples",
             examples, *flags], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "SWITCHYARD_EXAMPLES": "/dev/null"})
        return run.returncode, run.stdout


class ProverTest(unittest.TestCase):

    def all(self, entries, judge):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {name: pool.submit(prove, name, *entry[:2],
                                      prover_entries.HELPERS)
                    for name, entry in entries.items()}
            for name, run in runs.items():
                with self.subTest(name):
                    judge(entries[name], *run.result())

    def test_wrong_entries_are_told(self):
        def judge(entry, code, said):
            self.assertEqual(code, 1, said)
            self.assertIn(entry[2], said)
            self.assertIn("FAIL mine::", said)
        self.assertGreaterEqual(len(prover_entries.WRONG), 25)
        self.all(prover_entries.WRONG, judge)

    def test_right_entries_pass(self):
        self.assertGreaterEqual(len(prover_entries.RIGHT), 15)
        self.all(prover_entries.RIGHT,
                 lambda _, code, said: self.assertEqual(code, 0, said))

    def test_what_is_not_proven_has_a_status_of_its_own(self):
        code, said = prove("named", "(Tensor self, str name) -> Tensor",
                           ["pointwise: 'if name == \"a\" then self else -self'",
                            "derivative: {self: auto}"])
        self.assertEqual(code, 3, said)
        self.assertIn("needs --args", said)

    def test_an_excuse_is_not_a_failure(self):
        code, said = prove("absent", "(Tensor self) -> Tensor",
                           ["pointwise: sin(self)"],
                           flags=["--except", "mine::absent:constant"])
        self.assertEqual(code, 0, said)

    def test_an_example_that_asks_for_no_gradient_proves_none(self):
        code, said = prove("still", "(Tensor self) -> Tensor",
                           ["example: 2x3!", "pointwise: self * self",
                            "derivative: {self: grad}"])
        self.assertEqual(code, 3, said)
        self.assertIn("not proven: mine::still: the gradient", said)

    def test_with_a_plugin_its_kernels_are_tried(self):
        def on_device(operator, mutant):
            run = subprocess.run(
                [SY, "prove", operator, "--plugin", MUTANTS], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                env={**os.environ, "SWITCHYARD_EXAMPLES": "/dev/null",
                     "SWITCHYARD_MUTANT": mutant})
            return run.returncode, run.stdout

        for operator in ("add.Tensor", "relu"):
            code, said = on_device(operator, "")
            self.assertEqual(code, 0, said)
            self.assertRegex(said, r"  mutant:0 \d+\n")
        for operator, mutant in (("relu", "drops NaN"),
                                 ("relu", "records no gradient"),
                                 ("add.Tensor", "forgets alpha"),
                                 ("add.Tensor", "ignores strides")):
            with self.subTest(mutant):
                code, said = on_device(operator, mutant)
                self.assertEqual(code, 1, said)
                self.assertIn("on mutant:0, ", said)


if __name__ == "__main__":
    SY = os.path.abspath(sys.argv.pop(1))
    MUTANTS = os.path.abspath(sys.argv.pop(1))
    unittest.main()
