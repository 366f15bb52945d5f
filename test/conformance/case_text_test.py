"""The texts of recorded cases say what the pairs of files say, and are the only
texts that do.

Varies: dtypes with ends, NaN of odd bits and negative zero, lengths, what
repeats itself, shared storages, views, names of arguments that are words of the
format; all texts of the tree. Never varies: order of overloads and cases.

Usage: case_text_test.py TEXTS SCHEMAS [unittest arguments]
"""

import os
import random
import sys
import tempfile
import unittest

import case_text
from case_files import DTYPES, CaseFile, contiguous

TEXTS = SCHEMAS = ""


def tensor(key, dtype, sizes, **fields):
    return {"tensor": key, "dtype": dtype, "sizes": sizes,
            "strides": contiguous(sizes), "offset": 0} | fields


class CaseTextTest(unittest.TestCase):
    def back(self, file):
        """The file once it has been text, and has been unpacked."""
        with tempfile.TemporaryDirectory() as folder:
            texts = os.path.join(folder, "texts")
            os.mkdir(texts)
            with open(os.path.join(texts, "any.txt"), "w",
                      encoding="utf-8") as out:
                out.write(case_text.file_text(file))
            case_text.unpack(texts, os.path.join(folder, "cases"))
            return CaseFile.load(os.path.join(folder, "cases"), file.name)

    def check_storage(self, dtype, raw):
        file = CaseFile("f", "aten::f(Tensor x) -> Tensor")
        key = file.add_storage(dtype, raw)
        count = len(raw) // DTYPES[dtype][2]
        file.case([tensor(key, dtype, [count])], [])
        found = self.back(file)
        value = found.cases[0]["args"][0]
        self.assertEqual(found.storages[value["tensor"]], (dtype, raw))
        self.assertEqual(value["sizes"], [count])

    def test_every_bit_of_elements(self):
        rng = random.Random(1)
        for dtype, (_, _, size) in DTYPES.items():
            for count in (0, 1, 2, 63, 64, 65, 400):
                raw = bytes(rng.randrange(2 if dtype == "bool" else 256)
                            for _ in range(count * size))
                with self.subTest(dtype=dtype, count=count):
                    self.check_storage(dtype, raw)
        for bits in ("0000c07f", "0000c0ff", "0100c07f", "00000080",
                     "01000000", "0000807f", "ffff7f7f"):
            self.check_storage("float32", bytes.fromhex(bits))
        for bits in ("c07f", "c0ff", "0080", "0100", "807f"):
            self.check_storage("bfloat16", bytes.fromhex(bits))

    def test_what_repeats_itself(self):
        base = list(range(37))
        for values in ([7] * 5000, (base * 300)[:10007],
                       base * 9 + [5] * 100 + [1, 2] * 80,
                       list(range(0, 9000, 3)), [3, 1] + list(range(500)),
                       [2**63 - 1] * 70, list(range(-2**63, -2**63 + 90))):
            with self.subTest(values[:3]):
                self.check_storage("int64", case_text.pack(values, "int64"))
                file = CaseFile("f", "aten::f(Tensor x) -> Tensor")
                file.case([file.tensor(values, "int64")], [])
                self.assertLess(len(case_text.file_text(file)), 900)

    def test_steps_are_those_of_whole_numbers(self):
        """The runner makes no bools of steps."""
        file = CaseFile("f", "aten::f(Tensor x) -> Tensor")
        values = [True] * 30 + [False] * 20 + [True, False] * 20
        file.case([file.tensor(values, "bool")], [])
        self.assertNotIn("step", case_text.file_text(file))
        self.check_storage("bool", case_text.pack(values, "bool"))

    def test_sharing_views_and_names(self):
        file = CaseFile("f", "aten::f(Tensor x, Tensor y, *, Tensor tensor)"
                             " -> Tensor")
        file.storages = {"a": ("int8", bytes(6)), "b": ("int8", bytes(6)),
                         "c": ("float32", bytes(8))}
        view = tensor("a", "int8", [2, 2], strides=[1, 3], offset=1)
        file.case([tensor("a", "int8", [6]), [view, tensor("b", "int8", [6])],
                   {"float": "nan"}, {"dtype": "int8"}, None],
                  [dict(view, alias="x")],
                  kwargs={"tensor": tensor("c", "float32", [1, 2])},
                  mutated={"tensor": tensor("c", "float32", [2],
                                            values="any")})
        found = self.back(file).cases[0]
        x, (y, z), *rest = found["args"]
        self.assertEqual(x["tensor"], y["tensor"])
        self.assertNotEqual(x["tensor"], z["tensor"])
        self.assertEqual(dict(y, tensor="a"), view)
        self.assertEqual(rest, [{"float": "nan"}, {"dtype": "int8"}, None])
        self.assertEqual(found["returns"][0]["alias"], "x")
        self.assertEqual(found["kwargs"]["tensor"]["sizes"], [1, 2])
        self.assertEqual(found["mutated"]["tensor"]["values"], "any")

    def test_the_texts_of_the_tree(self):
        """They are what packing gives, and lie in their families' files."""
        known = case_text.families(SCHEMAS)
        for entry in sorted(os.listdir(TEXTS)):
            with self.subTest(entry), tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(TEXTS, entry), encoding="utf-8") as file:
                    text = file.read()
                os.mkdir(os.path.join(folder, "texts"))
                with open(os.path.join(folder, "texts", entry), "w",
                          encoding="utf-8") as file:
                    file.write(text)
                cases = os.path.join(folder, "cases")
                case_text.unpack(os.path.join(folder, "texts"), cases)
                names = sorted(e.removesuffix(".json") for e in
                               os.listdir(cases) if e.endswith(".json"))
                again = "\n".join(case_text.file_text(
                    CaseFile.load(cases, n)) for n in names)
                self.assertTrue(again == text, "run case_text.py pack")
                for n in names:
                    self.assertEqual(case_text.family_of(n, known) + ".txt",
                                     entry, n)


if __name__ == "__main__":
    TEXTS, SCHEMAS = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
