"""Finds calls that the recorded cases of an overload lack, as PyTorch answers.

    widen.py find CASES OUT [GLOB [PART/PARTS]]    (Python with torch)
    widen.py add CASES OUT REPORT

`find` writes candidates to OUT: calls that must fail, for overloads without
such a case; calls that succeed and differ in kind (dtypes, ranks, emptiness,
strides, numbers), for overloads with fewer than WANTED kinds; and calls of more
than 10,000 elements, which repeat those of a small case along the first
dimension or along the last. Each overload runs in a process of its own: PyTorch crashes on some calls.

`add` adds to CASES what passes in REPORT, which `sy conform --cases OUT --json`
wrote, and no more than an overload lacks. It prints what of OUT failed.
"""

import fnmatch
import hashlib
import json
import os
import re
import resource
import sys
import time
import warnings

from case_files import CaseFile, contiguous, tensors
from case_text import case_text
from vary import LEFT_OUT

WANTED = 5        # kinds of calls that succeed; counts_test asks for 4
ERRORS = 2        # kinds of calls that fail
LARGE = 10000     # elements
SHORT = 6000      # letters of the text of a large case
MOST = 400000     # bytes of a tensor
MEMORY = 3 << 30
SECONDS = 5      # of one overload
# No rule of the operator, but what PyTorch's kernels or its parser lack.
LIMITS = re.compile(
    r"not implemented|INTERNAL ASSERT|Could not run|expected at most|"
    r"Expected a value of type|not supported|unsupported|complex|Complex|"
    r"missing value for argument|Unknown keyword|memory|mkldnn|oneDNN|"
    r"is not currently|deterministic|overflow|sparse|quantize|Numpy|NYI|"
    r"expected m1 and m2 to have the same dtype", re.I)

# Bits and divisors of floating numbers are nothing that a kernel could add.
INTEGERS = re.compile(r"bitwise|shift|^__|gcd|lcm|bincount")


def is_limit(name, text):
    if "single memory location" in text:
        return False
    if "not implemented for" in text and INTEGERS.search(name):
        return False
    return LIMITS.search(text) is not None


# Kinds of cases ------------------------------------------------------------

def kind(case):
    """Two cases of equal kinds show the same thing."""
    def of(v):
        if isinstance(v, list):
            return [of(e) for e in v]
        if not isinstance(v, dict):
            return v
        if isinstance(v.get("tensor"), str):
            return [v["dtype"], len(v["sizes"]), 0 in v["sizes"],
                    1 in v["sizes"], v["strides"] == contiguous(v["sizes"])]
        return {k: of(e) for k, e in v.items()}

    return json.dumps([of(case["args"]), of(case["kwargs"])], sort_keys=True)


def elements(case):
    """Elements of the largest tensor that a case gives or gets."""
    most = 0
    for t in tensors([case["args"], case["kwargs"], case.get("returns", [])]):
        n = 1
        for s in t["sizes"]:
            n *= s
        most = max(most, n)
    return most


def lacks(file, wanted=WANTED):
    """(errors, kinds, large cases) that the cases of an overload lack."""
    good = [c for c in file.cases if "error" not in c]
    return (max(0, 1 - sum("error" in c for c in file.cases)),
            max(0, wanted - len({kind(c) for c in good})),
            max(0, 1 - sum(elements(c) > LARGE for c in good)))


def usable(case):
    """Whether it succeeds, with elements that are known."""
    given = [case.get("returns", []), *case.get("mutated", {}).values()]
    found = list(tensors(given))
    return ("error" not in case and any(0 not in t["sizes"] for t in found)
            and not any("values" in t for t in found))


# Other arguments -----------------------------------------------------------

class Widener:
    def __init__(self):
        import torch
        import record
        self.torch, self.record = torch, record
        torch.set_num_threads(1)

    # Arguments for errors: (what, value), the one most worth showing first.

    def wrong_tensor(self, t, written):
        torch = self.torch
        if t.dim() and t.shape[-1] > 1:
            yield "size", t.narrow(t.dim() - 1, 0, t.shape[-1] - 1).clone()
        if t.dim():
            yield "size", torch.cat([t, t], 0)
            yield "size", torch.cat([t, t[..., :1]], t.dim() - 1)
        if t.dtype in (torch.int64, torch.int32) and not written:
            yield "index", torch.full_like(t, 1000)
            yield "index", torch.full_like(t, -1000)
        yield "rank", t.unsqueeze(0).unsqueeze(0).clone()
        yield "rank", torch.stack([t, t, t])
        if t.dim():
            yield "rank", t.select(0, 0).clone() if t.shape[0] else t.sum()
            yield "rank", torch.zeros((), dtype=t.dtype)
            yield "empty", t[:0].clone()
        for dtype in (torch.int64, torch.float32, torch.float64, torch.bool,
                      torch.uint8, torch.bfloat16):
            if dtype != t.dtype:
                yield "dtype", t.to(dtype)
        yield "rank", torch.ones((2,) * 7, dtype=t.dtype)
        if written and t.dim() and t.shape[0]:
            yield "overlap", t[:1].clone().expand(3, *t.shape[1:])

    def wrong(self, v, kind_of, written):
        torch = self.torch
        if isinstance(v, torch.Tensor):
            yield from self.wrong_tensor(v, written)
        elif isinstance(v, bool):
            yield "bool", not v
        elif isinstance(v, int):
            for n in (1000, -1000, -1, 0, 3, 2**40, -2**40):
                yield "int", n
            if "number" in kind_of or "Scalar" in kind_of:
                yield "number", 1.5
        elif isinstance(v, float):
            for x in (-1.0, 2.0, float("nan"), 1e300):
                yield "float", x
        elif isinstance(v, str):
            yield "word", "unknown"
            yield "word", ""
        elif isinstance(v, torch.dtype):
            for dtype in (torch.bool, torch.int64, torch.float16):
                yield "dtype", dtype
        elif isinstance(v, (list, tuple)):
            ints = v and all(isinstance(e, int) for e in v)
            if ints:
                for n in (1000, -1000, -2, 0):
                    yield "int", [n, *v[1:]]
                    yield "int", [n] * len(v)
            yield "length", []
            yield "length", [*v, *v[-1:]]
            yield "length", list(v[:-1])
            yield "length", [*v, *v, *v, *v]
            for i, e in enumerate(v[:2]):
                if isinstance(e, torch.Tensor):
                    for what, w in self.wrong_tensor(e, written):
                        yield what, [*v[:i], w, *v[i + 1:]]

    def failing(self, op, given):
        """(what, arguments), many of which PyTorch refuses."""
        types = {a.name: str(a.type) for a in op._schema.arguments}
        written = {a.name for a in op._schema.arguments
                   if a.alias_info is not None and a.alias_info.is_write}
        found = []
        for k, v in given.items():
            for i, (what, w) in enumerate(self.wrong(v, types[k],
                                                     k in written)):
                late = {"dtype": 20, "overlap": 15, "rank": 5,
                        "bool": 30}.get(what, 0)
                found.append((late + i, f"{what} of {k}", given | {k: w}))
        for a in op._schema.arguments:
            if a.name not in given and a.kwarg_only is False:
                for i, n in enumerate((1000, -1000)):
                    if types[a.name] == "int":
                        found.append((i, f"int of {a.name}",
                                      given | {a.name: n}))
                    elif "List[int]" in types[a.name]:
                        found.append((i, f"int of {a.name}",
                                      given | {a.name: [n]}))
            elif a.name not in given and types[a.name] == "Optional[dtype]":
                found.append((9, f"dtype of {a.name}",
                              given | {a.name: self.torch.bool}))
        for k, v in given.items():
            if isinstance(v, self.torch.Tensor) and k not in written:
                for dtype in (self.torch.int64, self.torch.bool):
                    found.append((21, f"{dtype}", {
                        n: t.to(dtype) if isinstance(t, self.torch.Tensor)
                        and n not in written else t
                        for n, t in given.items()}))
                break
        found.sort(key=lambda f: f[0])
        for _, what, arguments in found:
            yield what, arguments

    # Arguments of calls that succeed.

    def mapped(self, op, given, f, outs=None):
        """All tensor arguments that are not out= through f."""
        written = self.record.outputs_of(op._schema)

        def one(v):
            if isinstance(v, self.torch.Tensor):
                return f(v)
            if isinstance(v, (list, tuple)):
                return [one(e) for e in v]
            return v

        return {k: (outs(v) if outs and isinstance(v, self.torch.Tensor)
                    else v) if k in written else one(v)
                for k, v in given.items()}

    def strided(self, t):
        if t.dim() == 0 or t.numel() == 0:
            return t
        return self.torch.stack([t, t], -1)[..., 0]

    def other(self, op, given):
        """(what, arguments) of other kinds, many of which are allowed."""
        torch = self.torch

        def floats(dtype):
            return lambda t: t.to(dtype) if t.is_floating_point() else t

        def blank(t):
            return torch.empty(0, dtype=t.dtype)

        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            yield str(dtype), self.mapped(op, given, floats(dtype),
                                          floats(dtype))
        yield "strided", self.mapped(op, given, self.strided)
        yield "transposed", self.mapped(
            op, given, lambda t: t.mT.contiguous().mT if t.dim() > 1 else t)
        yield "rank", self.mapped(op, given, lambda t: t.unsqueeze(0).clone(),
                                  blank)
        yield "lower rank", self.mapped(
            op, given, lambda t: t.select(0, 0).clone()
            if t.dim() and t.shape[0] else t, blank)
        for k, v in given.items():
            if isinstance(v, torch.Tensor) and v.dim() and v.shape[0] > 1:
                yield f"one {k}", given | {k: v[:1].clone()}
        yield "empty", self.mapped(op, given, lambda t: t[:0].clone()
                                   if t.dim() else t, blank)
        for k, v in given.items():
            if isinstance(v, bool):
                yield f"{k}", given | {k: not v}
            elif isinstance(v, (int, float)):
                for n in (0, 1, 2, -1, 3):
                    if n != v:
                        yield f"{k} {n}", given | {k: type(v)(n)}
            elif isinstance(v, (list, tuple)) and v and all(
                    isinstance(e, int) for e in v):
                for n in (0, 1, 2):
                    yield f"{k} {n}", given | {k: [n, *v[1:]]}
                yield f"{k} shorter", given | {k: list(v[:-1])}
        for a in op._schema.arguments:
            if a.name in given:
                continue
            text = str(a.type).removeprefix("Optional[").rstrip("]")
            for n in {"bool": (True, False), "int": (0, 1, -1, 2),
                      "float": (0.5, 2.0), "number": (2, 0.5)}.get(text, ()):
                if n != a.default_value:
                    yield f"{a.name} {n}", given | {a.name: n}
        for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool,
                      torch.float16):
            yield str(dtype), self.mapped(op, given, lambda t: t.to(dtype),
                                          lambda t: t.to(dtype))
            yield f"{dtype} in", self.mapped(op, given,
                                             lambda t: t.to(dtype))

    def large(self, op, given, last):
        """(what, arguments) with tensors that repeat given ones."""
        torch = self.torch
        written = self.record.outputs_of(op._schema)
        first = None
        for k, v in given.items():
            e = v[0] if isinstance(v, (list, tuple)) and v else v
            if k not in written and isinstance(e, torch.Tensor) and e.dim():
                first = e
                break
        if first is None or first.numel() == 0:
            return
        dim = first.dim() - 1 if last else 0
        size = first.shape[dim]
        times = LARGE // first.numel() + 3
        while any(times % p == 0 for p in (2, 3, 5, 7)):
            times += 1

        def along(t):
            at = t.dim() - 1 if last else 0
            return t.repeat(*(times if d == at else 1
                              for d in range(t.dim())))

        def same(t):
            at = t.dim() - 1 if last else 0
            fits = t.dim() and t.shape[at] == size
            return along(t) if fits else t

        def blank(t):
            return torch.empty(0, dtype=t.dtype)

        def alone(t):
            return along(t) if t is first else t

        def sized(arguments):
            """Numbers that are the size that grows grow, too."""
            out = {}
            for k, v in arguments.items():
                if isinstance(v, (list, tuple)) and v and all(
                        isinstance(e, int) for e in v):
                    at = -1 if last else 0
                    if v[at] == size:
                        v = list(v)
                        v[at] = size * times
                out[k] = v
            return out

        for f in (same, alone, lambda t: along(t) if t.dim() else t):
            arguments = self.mapped(op, given, f, blank)
            yield "large", arguments
            yield "large", sized(arguments)

    # Recording.

    def bases(self, source, name, siblings):
        """Arguments of calls that succeed, of it and of its other forms."""
        record, op = self.record, self.record.overload(name)
        file = CaseFile.load(source, name)
        names = [a.name for a in op._schema.arguments]
        own = [c for c in file.cases if usable(c)]
        own.sort(key=lambda c: elements(c) < 3)
        for case in own[:6]:
            shared = {}
            given = dict(zip(names, case["args"])) | case["kwargs"]
            yield record.copied({k: record.unrecorded(file, v, shared)
                                 for k, v in given.items()})
        for sibling in siblings:
            other = CaseFile.load(source, sibling)
            donors = [c for c in other.cases if record.usable(c)]
            for case in donors[:3] + donors[-2:]:
                try:
                    call = record.call_of_form(name, other, case)
                except Exception:
                    continue
                if call is not None:
                    yield call.kwargs

    def attempt(self, found, name, given, what, fails, tolerance=1):
        """Records the call if it does what it should; whether it did."""
        record, op = self.record, self.record.overload(name)
        before = len(found.cases), dict(found.storages)
        try:
            try:
                results = record.results_of(op, record.copied(given))
            except Exception as error:
                text = str(error).split("\n", maxsplit=1)[0][:160]
                if not fails or is_limit(name, text):
                    return False
                recorder = record.Recorder(found)
                found.cases.append({
                    "id": "", "args": [],
                    "kwargs": {k: recorder.value(v, argument=True)
                               for k, v in given.items()}, "error": text})
            else:
                if fails or any(
                        storage.nbytes() > MOST for storage in
                        [t.untyped_storage() for _, t in record.named_tensors(
                            given | {f"r{i}": r for i, r in
                                     enumerate(results)})]):
                    return False
                call = record.call_values.Call(
                    (), given, what != "large", tolerance, False)
                record.record(found, name, call, len(found.cases))
        except Exception:  # what cannot be recorded
            del found.cases[before[0]:]
            found.storages = before[1]
            return False
        if len(found.cases) == before[0]:
            return False
        case = found.cases[-1]
        case["id"] = ""
        text = case_text(found, case)
        case["id"] = ("big-" if what == "large" else "own-") + hashlib.sha256(
            text.encode()).hexdigest()[:8]
        repeated = any(c["id"] == case["id"] for c in found.cases[:-1])
        if repeated or len(text) > SHORT:
            del found.cases[before[0]:]
            found.storages = before[1]
            return False
        return True

    def overload(self, source, name, siblings, folder):
        op = self.record.overload(name)
        held = CaseFile.load(source, name)
        errors, kinds, large = lacks(held)
        found = CaseFile(name, held.schema)
        end = time.process_time() + SECONDS
        bases = list(self.bases(source, name, siblings))
        texts = set()
        for given in bases[:4] if errors else ():
            for what, arguments in self.failing(op, given):
                if len(texts) > 6 or time.process_time() > end:
                    break
                if self.attempt(found, name, arguments, what, True):
                    text = re.sub(r"\d", "", found.cases[-1]["error"])[:40]
                    if text in texts:
                        found.cases.pop()
                    texts.add(text)
        shown = {kind(c) for c in held.cases if "error" not in c}
        count = 0
        random = name.startswith(LEFT_OUT)
        for given in bases if kinds and not random else ():
            for what, arguments in [("as it is", given),
                                    *self.other(op, given)]:
                if count > 2 * WANTED or time.process_time() > end:
                    break
                if self.attempt(found, name, arguments, what, False, 2):
                    if kind(found.cases[-1]) in shown:
                        found.cases.pop()
                    else:
                        shown.add(kind(found.cases[-1]))
                        count += 1
        if large and not random:
            for last in (False, True):
                self.find_large(found, name, bases, last, end + SECONDS)
        if found.cases:
            found.save(folder)

    def find_large(self, found, name, bases, last, end):
        op, count = self.record.overload(name), 0
        for given in bases:
            for what, arguments in self.large(op, given, last):
                if time.process_time() > end or count == 1:
                    return
                if self.attempt(found, name, arguments, what, False, 4):
                    if elements(found.cases[-1]) > LARGE:
                        count += 1
                        break
                    found.cases.pop()


def find(source, folder, glob="*", part="0/1"):
    warnings.simplefilter("ignore")
    os.makedirs(folder, exist_ok=True)
    widener = Widener()
    index, parts = map(int, part.split("/"))
    names = sorted(e.removesuffix(".json") for e in os.listdir(source)
                   if e.endswith(".json"))
    forms = {}
    for name in names:
        forms.setdefault(widener.record.base_name(name), []).append(name)
    for name in names[index::parts]:
        if not fnmatch.fnmatch(name, glob):
            continue
        try:
            widener.record.overload(name)
        except AttributeError:
            continue
        siblings = [n for n in forms[widener.record.base_name(name)]
                    if n != name]
        if lacks(CaseFile.load(source, name)) == (0, 0, 0):
            continue
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            widener.overload(source, name, siblings, folder)
            os._exit(0)
        end = time.time() + 3 * SECONDS
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.time() > end:
                os.kill(child, 9)
            time.sleep(0.005)


def chosen(file, found, failed):
    """The cases of `found` that `file` lacks."""
    errors, kinds, large = lacks(file)
    errors = ERRORS if errors else 0
    large = 2 if large else 0
    for case in found.cases:
        if case["id"] in failed or any(c["id"] == case["id"]
                                       for c in file.cases):
            continue
        if "error" in case:
            errors -= 1
            if errors >= 0:
                yield case
        elif case["id"].startswith("big-"):
            large -= 1
            if large >= 0:
                yield case
        else:
            kinds -= 1
            if kinds >= 0:
                yield case


def add(folder, source, report):
    with open(report, encoding="utf-8") as file:
        overloads = json.load(file)["overloads"]
    added = 0
    for name, done in overloads.items():
        failed = {f["id"]: f["why"] for f in done["failures"]}
        found, target = (CaseFile.load(f, name) for f in (source, folder))
        for case in found.cases:
            if case["id"] in failed:
                print(name, case["id"], failed[case["id"]],
                      case.get("error", ""), sep="\t")
        for case in chosen(target, found, failed):
            target.take(case, found)
            added += 1
        target.save(folder)
    print(f"{added} cases added", file=sys.stderr)


if __name__ == "__main__":
    {"find": find, "add": add}[sys.argv[1]](*sys.argv[2:])
