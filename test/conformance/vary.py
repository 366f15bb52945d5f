"""Draws calls that no case shows, and records what PyTorch answers.

    vary.py draw CASES OUT SEED COUNT [GLOB]    (Python with torch)
    vary.py fold CASES OUT BEFORE AFTER COUNT

`draw` alters arguments of the successful cases of CASES at random: dtypes,
sizes, strides, values, numbers, words, out= arguments. It writes COUNT calls of
each overload to OUT as cases, errors among them. Each overload runs in a
process of its own: PyTorch crashes on some calls.

`fold` adds to CASES what a mend has made pass: cases of OUT that fail in
BEFORE and not in AFTER, two reports of `sy conform --cases OUT --json`; at most
COUNT an overload, the smallest first, of different outcomes.
"""

import fnmatch
import hashlib
import json
import os
import random
import sys
import time

from case_files import CaseFile, tensors

SECONDS = 20  # of one overload
# Results are random, or not set.
LEFT_OUT = ("empty", "rand", "new_empty", "bernoulli", "normal", "uniform",
            "exponential", "cauchy", "geometric", "log_normal", "multinomial",
            "poisson", "binomial", "dropout", "native_dropout", "rrelu",
            "alpha_dropout", "feature_", "_sample", "_standard_gamma")


class Drawer:
    def __init__(self, seed):
        import torch
        import record
        self.torch, self.record = torch, record
        torch.set_num_threads(1)
        self.seed = seed
        self.rng = random.Random(seed)
        self.dtypes = list(record.NAMES)

    def filled(self, t):
        """Other elements: ends, borders, equal ones."""
        t = t.clone(memory_format=self.torch.contiguous_format)
        values = [0, 1, -1, 2, 6, 3]
        values += ([float("nan"), float("inf"), -float("inf"), 0.5, -0.5]
                   if t.is_floating_point() else [127, 5])
        flat = t.view(-1)
        for _ in range(max(1, flat.numel() // 2)):
            flat[self.rng.randrange(flat.numel())] = self.rng.choice(values)
        return t

    def tensor(self, t):
        kind = self.rng.randrange(8)
        if kind < 3:
            return t.to(self.rng.choice(self.dtypes))
        if kind == 3:
            return t.unsqueeze(0).clone()
        if t.dim() == 0 or t.numel() == 0:
            return None
        dim = self.rng.randrange(t.dim())
        if kind == 4:
            return t.select(dim, 0).clone()
        if kind == 5:
            return t.narrow(dim, 0, 0).clone()
        if kind == 6:
            return self.torch.stack([t, t], -1)[..., 0]
        return self.filled(t)

    def value(self, v, kind):
        """Something else than v, which is of the type `kind`; or None."""
        rng, torch = self.rng, self.torch
        number = "number" in kind or "Scalar" in kind
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, bool):
            return not v
        if isinstance(v, int):
            return rng.choice([v - 1, v + 1, 0, -1, 100, -v] + (
                [v + 0.5, True, float("nan")] if number else []))
        if isinstance(v, float):
            return rng.choice([float("nan"), float("inf"), 0.0, -v, 3 * v] + (
                [2, True] if number else []))
        if isinstance(v, str):
            return rng.choice(["unknown", "", "mean", "none", "trunc", "ij"])
        if isinstance(v, torch.dtype):
            return rng.choice(self.dtypes)
        if isinstance(v, (list, tuple)) and v:
            at = rng.randrange(len(v) + 1)
            if at == len(v):
                return list(v[:-1]) if rng.random() < 0.5 else [*v, v[-1]]
            other = self.value(v[at], kind)
            return None if other is None else [*v[:at], other, *v[at + 1:]]
        return None

    def out(self, t):
        torch = self.torch
        kind = self.rng.randrange(4)
        if kind == 0:
            return torch.empty(0, dtype=t.dtype)
        if kind == 1:
            return t.to(self.rng.choice(self.dtypes))
        if kind == 2:
            return torch.zeros(2, 3, dtype=t.dtype)
        return torch.zeros(t.shape[::-1], dtype=t.dtype).permute(
            *reversed(range(t.dim())))

    def arguments(self, op, file, case):
        names = [a.name for a in op._schema.arguments]
        types = {a.name: str(a.type) for a in op._schema.arguments}
        given = dict(zip(names, case["args"])) | case["kwargs"]
        shared = {}
        given = self.record.copied({
            k: self.record.unrecorded(file, v, shared)
            for k, v in given.items()})
        if self.rng.random() < 0.2:
            dtype = self.rng.choice(self.dtypes)
            for k, v in given.items():
                if isinstance(v, self.torch.Tensor) and v.is_floating_point():
                    given[k] = v.to(dtype)
        for k in self.record.outputs_of(op._schema):
            if (isinstance(given.get(k), self.torch.Tensor)
                    and self.rng.random() < 0.6):
                given[k] = self.out(given[k])
        for _ in range(self.rng.choice([0, 1, 1, 1, 2])):
            k = self.rng.choice(list(given))
            other = self.value(given[k], types[k])
            if other is not None:
                given[k] = other
        fits = all(self.record.takes(types[k].removeprefix("Optional["), v)
                   for k, v in given.items() if not isinstance(v, list))
        return given if fits else None

    def overload(self, source, name, folder, count):
        record = self.record
        self.rng.seed(f"{self.seed}{name}")
        file, op = CaseFile.load(source, name), record.overload(name)
        usable = [c for c in file.cases if record.usable(c)]
        drawn, end = CaseFile(name, file.schema), time.time() + SECONDS
        for i in range(4 * count if usable else 0):
            if len(drawn.cases) == count or time.time() > end:
                break
            before = len(drawn.cases), dict(drawn.storages)
            try:
                given = self.arguments(op, file, self.rng.choice(usable))
                if given is not None:
                    self.one(drawn, op, name, given, i)
            except Exception:  # what cannot be made or recorded
                del drawn.cases[before[0]:]
                drawn.storages = before[1]
        if drawn.cases:
            drawn.save(folder)

    def one(self, drawn, op, name, given, i):
        record = self.record
        try:
            record.results_of(op, record.copied(given))
        except Exception as error:  # whatever PyTorch throws
            recorder = record.Recorder(drawn)
            drawn.cases.append({
                "id": f"{self.seed}-{i}", "args": [],
                "kwargs": {k: recorder.value(v, argument=True)
                           for k, v in given.items()},
                "error": str(error).split("\n", maxsplit=1)[0][:200]})
            return
        call = record.call_values.Call((), given, self.rng.random() < 0.7,
                                          4, False)
        record.record(drawn, name, call, i)
        drawn.cases[-1]["id"] = f"{self.seed}-{i}"


def draw(source, folder, seed, count, glob="*"):
    os.makedirs(folder, exist_ok=True)
    drawer = Drawer(seed)
    for entry in sorted(os.listdir(source)):
        name = entry.removesuffix(".json")
        if name == entry or name.startswith(LEFT_OUT) or not fnmatch.fnmatch(
                name, glob):
            continue
        child = os.fork()
        if child == 0:
            drawer.overload(source, name, folder, int(count))
            os._exit(0)
        end = time.time() + 3 * SECONDS
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.time() > end:
                os.kill(child, 9)
            time.sleep(0.01)


def outcome(case):
    text = case.get("error", "grad" if "grad" in case else "")
    return "".join(c for c in text if not c.isdigit())[:60]


def fold(folder, source, before, after, count):
    def failing(path):
        with open(path, encoding="utf-8") as report:
            return {name: {f["id"] for f in o["failures"]} for name, o in
                    json.load(report)["overloads"].items()}

    still, added = failing(after), 0
    for name, failed in failing(before).items():
        mended = failed - still.get(name, set())
        if not mended:
            continue
        file = CaseFile.load(source, name)
        target = CaseFile.load(folder, name)
        cases = [c for c in file.cases if c["id"] in mended]
        cases.sort(key=lambda c: sum(len(file.storages[t["tensor"]][1])
                                     for t in tensors(c)))
        chosen = {}
        for c in cases:
            chosen.setdefault(outcome(c), c)
        for c in list(chosen.values())[:int(count)]:
            text = json.dumps(c, sort_keys=True)
            c["id"] = "own-" + hashlib.sha256(text.encode()).hexdigest()[:8]
            if any(c["id"] == other["id"] for other in target.cases):
                continue
            target.take(c, file)
            added += 1
        target.save(folder)
    print(f"{added} cases added")


if __name__ == "__main__":
    {"draw": draw, "fold": fold}[sys.argv[1]](*sys.argv[2:])
