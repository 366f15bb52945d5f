"""The runner sees every single change: recorded cases of real operators pass
as they are, and fail once one value, size, dtype, stride, alias, write, error
or gradient that they state is altered.

Usage: mutation_test.py SY CASES_FOLDER [unittest arguments]
"""

import copy
import os
import struct
import sys
import tempfile
import unittest

from case_files import DTYPES, CaseFile, Run

SY = CASES = ""
# Values, aliases, writes, gradients, errors, lists, numbers; several forms.
OVERLOADS = ["add.Tensor", "add_.Tensor", "addmm", "cat", "mul.Tensor",
             "mul.out", "relu_", "sigmoid", "split.Tensor", "sum", "t",
             "transpose.int", "view"]
# Their gradients depend on every element of the cotangent.
LINEAR = ("add.Tensor", "sum", "t")


# -3 and 16384, little-endian, of each floating dtype.
FAR = {"float16": ("00c2", "0074"), "bfloat16": ("40c0", "8046"),
       "float32": ("000040c0", "00008046"),
       "float64": ("00000000000008c0", "000000000000d040")}


def number(dtype, raw):
    if dtype == "bfloat16":
        dtype, raw = "float32", b"\0\0" + raw
    return struct.unpack("<" + DTYPES[dtype][1], raw)[0]


def elements(value):
    """Storage indices of the elements of a tensor VALUE."""
    out = [value["offset"]]
    for size, stride in zip(value["sizes"], value["strides"]):
        out = [o + i * stride for o in out for i in range(size)]
    return out


def is_tensor(value):
    return isinstance(value, dict) and "tensor" in value


class Altered:
    """All ways to alter one case in one thing; yields (what, case)."""

    def __init__(self, file, case):
        self.file = file
        self.case = case

    def new_storage(self, value, raw, dtype=None):
        key = self.file.add_storage(dtype or value["dtype"], raw)
        return dict(value, tensor=key, dtype=dtype or value["dtype"])

    def close(self, expected, actual):
        return (abs(expected - actual) <=
                self.case["atol"] + self.case["rtol"] * abs(expected))

    def other_value(self, value):
        """The last element is another number, beyond any tolerance."""
        dtype, raw = self.file.storages[value["tensor"]]
        size = DTYPES[dtype][2]
        at = elements(value)[-1] * size
        old = raw[at:at + size]
        if dtype == "bool":
            new = bytes([1 - old[0]])
        elif dtype in FAR:
            # One of two that lie far apart is beyond the tolerance.
            new = next(n for n in map(bytes.fromhex, FAR[dtype])
                       if not self.close(number(dtype, n),
                                         number(dtype, old)))
        else:
            new = bytes([old[0] ^ 1]) + old[1:]
        return self.new_storage(value, raw[:at] + new + raw[at + size:])

    def tensor(self, value, geometry):
        """Changes of one tensor that the case expects."""
        dtype, raw = self.file.storages[value["tensor"]]
        if elements(value):
            yield "value", self.other_value(value)
        yield "rank", dict(value, sizes=value["sizes"] + [1],
                           strides=value["strides"] + [1])
        for d, n in enumerate(value["sizes"]):
            if n > 1:
                sizes = value["sizes"][:d] + [n - 1] + value["sizes"][d + 1:]
                yield "size", dict(value, sizes=sizes)
        other = "int64" if dtype == "float64" else "float64"
        count = len(raw) // DTYPES[dtype][2]
        yield "dtype", self.new_storage(value, bytes(8 * count), other)
        if not geometry or not elements(value):
            return
        yield "offset", self.padded(value, offset=value["offset"] + 1)
        for d, n in enumerate(value["sizes"]):
            if n > 1:
                strides = list(value["strides"])
                strides[d] += 1
                yield "stride", self.padded(value, strides=strides)

    def padded(self, value, **fields):
        """Another geometry with the same elements."""
        changed = dict(value, **fields)
        dtype, raw = self.file.storages[value["tensor"]]
        size = DTYPES[dtype][2]
        out = bytearray(size * (max(elements(changed)) + 1))
        for old, new in zip(elements(value), elements(changed)):
            out[new * size:(new + 1) * size] = raw[old * size:
                                                   (old + 1) * size]
        return self.new_storage(changed, bytes(out))

    def value(self, value, geometry=False):
        if is_tensor(value):
            yield from self.tensor(value, geometry or "alias" in value)
            if "alias" in value:
                yield "alias removed", {k: v for k, v in value.items()
                                        if k != "alias"}
            yield "no tensor", 3
        elif isinstance(value, list):
            for i, element in enumerate(value):
                for what, new in self.value(element):
                    yield what, value[:i] + [new] + value[i + 1:]
            yield "one more", value + value[:1] if value else [3]
            if value:
                yield "one less", value[:-1]
        elif isinstance(value, bool):
            yield "number", not value
        elif isinstance(value, int):
            yield "number", value + 1
            yield "kind of number", {"float": float(value)}

    def arguments(self):
        """The tensor arguments given, by name, in order."""
        text = self.file.schema
        text = text[text.index("(") + 1:text.rindex(") ->")]
        names = [a.split("=")[0].split()[-1] for a in text.split(", ")
                 if " " in a]
        given = dict(zip(names, self.case["args"]), **self.case["kwargs"])
        return {n: v for n, v in given.items() if is_tensor(v)}

    def results(self):
        case = self.case
        for what, new in self.value(case["returns"]):
            yield f"returns {what}", dict(case, returns=new)
        names = list(self.arguments())
        for i, value in enumerate(case["returns"]):
            if is_tensor(value) and "alias" not in value and names:
                new = copy.deepcopy(case)
                new["returns"][i]["alias"] = names[0]
                yield "alias added", new

    def writes(self):
        case = self.case
        mutated = case.get("mutated", {})
        for name, before in self.arguments().items():
            if name not in mutated:
                if elements(before):
                    yield "write added", dict(case, mutated=dict(
                        mutated, **{name: self.other_value(before)}))
                continue
            for what, new in self.value(mutated[name], geometry=True):
                yield f"mutated {what}", dict(
                    case, mutated=dict(mutated, **{name: new}))
            if not self.same_elements(before, mutated[name]):
                rest = {k: v for k, v in mutated.items() if k != name}
                yield "write removed", dict(case, mutated=rest)

    def same_elements(self, a, b):
        def read(v):
            dtype, raw = self.file.storages[v["tensor"]]
            size = DTYPES[dtype][2]
            return [raw[e * size:(e + 1) * size] for e in elements(v)]
        return a["sizes"] == b["sizes"] and read(a) == read(b)

    def gradients(self):
        case = self.case
        if "grad" not in case:
            return
        grad = case["grad"]
        for name, value in grad["inputs"].items():
            for what, new in [*self.value(value), ("removed", None)]:
                if value is not None:
                    yield f"grad {what}", dict(case, grad=dict(
                        grad, inputs=dict(grad["inputs"], **{name: new})))
        flows = any(v is not None and elements(v)
                    for v in grad["inputs"].values())
        for i, value in enumerate(grad["cotangents"]):
            if self.file.name in LINEAR and flows and elements(value):
                changed = list(grad["cotangents"])
                changed[i] = self.other_value(value)
                yield "cotangent", dict(case, grad=dict(
                    grad, cotangents=changed))

    def all(self):
        if "error" in self.case:
            case = {k: v for k, v in self.case.items() if k != "error"}
            yield "error removed", dict(case, returns=[None], rtol=0, atol=0)
            return
        yield from self.results()
        yield from self.writes()
        yield from self.gradients()
        kept = {k: self.case[k] for k in ("id", "args", "kwargs")}
        yield "error added", dict(kept, error="any")


class MutationTest(unittest.TestCase):
    def replay(self, file):
        with tempfile.TemporaryDirectory() as folder:
            file.save(folder)
            return Run(SY, folder)

    def check(self, name):
        file = CaseFile.load(CASES, name)
        run = self.replay(file)
        self.assertEqual((run.code, run.why()), (0, {}), run.out + run.err)

        recorded, file.cases = file.cases, []
        kinds = set()
        for case in recorded:
            for what, changed in Altered(file, case).all():
                file.cases.append(dict(
                    changed, id=f"{len(file.cases)} {case['id']}: {what}"))
                kinds.add(what)
        run = self.replay(file)
        unseen = [c["id"] for c in file.cases if c["id"] not in run.why()]
        self.assertEqual(unseen, [], "altered, and passed")
        self.assertEqual((run.code, run.counts()),
                         (1, (0, len(file.cases), 0)))
        return kinds

    def test_every_change_is_seen(self):
        kinds = set()
        for name in OVERLOADS:
            with self.subTest(name):
                kinds |= self.check(name)
        for what in ("returns value", "returns size", "returns rank",
                     "returns dtype", "returns stride", "returns offset",
                     "returns one less", "returns alias removed",
                     "alias added", "mutated value", "write removed",
                     "write added", "error added", "error removed",
                     "grad value", "grad removed", "cotangent"):
            self.assertIn(what, kinds)

    def test_one_change_among_many_cases(self):
        """The exit status sees it, too."""
        file = CaseFile.load(CASES, OVERLOADS[0])
        for i, case in enumerate(file.cases):
            what, changed = next(Altered(file, case).all())
            cases = list(file.cases)
            cases[i] = changed
            run = self.replay(CaseFile(file.name, file.schema, cases,
                                       file.storages))
            self.assertEqual((run.code, list(run.why())), (1, [case["id"]]),
                             what)


if __name__ == "__main__":
    SY, CASES = (os.path.abspath(p) for p in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
