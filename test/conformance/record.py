"""Records calls of PyTorch as cases (their format: cases_format.md).

Usage: record.py DIR [OPERATORS]    (Python with torch)

Adds a case to DIR for each call of recorded_calls.py that DIR does not have
yet; the same calls give the same cases. OPERATORS is what `sy ops` prints: each
overload in it without a case gets those of another form of the same operator,
`neg.out` those of `neg`, as far as the arguments have the same names.
case_text.py packs DIR.
"""

import hashlib
import os
import sys

import torch

import call_values
import recorded_calls
from case_files import CaseFile

NAMES = {getattr(torch, name): name for name in (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 "
    "float64").split()}
# dtype -> rtol, atol; the widest of the results counts
TOLERANCES = {torch.float64: (1e-6, 1e-6), torch.float32: (1e-4, 5e-5),
              torch.float16: (1e-3, 1e-3), torch.bfloat16: (1.6e-2, 1e-3)}


def overload(name):
    packet, _, suffix = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), suffix or "default")


def storage_of(t):
    raw = t.untyped_storage()
    return torch.empty(0, dtype=torch.uint8).set_(raw)


def is_tensor_list(v):
    return isinstance(v, (list, tuple)) and any(
        isinstance(e, torch.Tensor) for e in v)


class Recorder:
    def __init__(self, file):
        self.file = file
        self.keys = {}  # address of a storage of the arguments -> key

    def tensor(self, t, argument=False):
        if not argument and t.numel() == 0:
            t = t.contiguous()
        base = storage_of(t)
        address = base.data_ptr() if base.numel() else 0
        key = self.keys.get(address) if argument and address else None
        if key is None:
            size = t.element_size()
            raw = bytes(base.tolist())
            key = self.file.add_storage(NAMES[t.dtype],
                                        raw[:len(raw) // size * size])
            if argument and address:
                self.keys[address] = key
        return {"tensor": key, "dtype": NAMES[t.dtype],
                "sizes": list(t.shape), "strides": list(t.stride()),
                "offset": t.storage_offset()}

    def value(self, v, argument=False):
        if isinstance(v, torch.Tensor):
            return self.tensor(v, argument)
        if isinstance(v, (list, tuple)):
            return [self.value(e, argument) for e in v]
        if isinstance(v, float):
            finite = v == v and abs(v) != float("inf")
            return {"float": v if finite else str(v)}
        if isinstance(v, torch.dtype):
            return {"dtype": NAMES[v]}
        if isinstance(v, torch.layout):
            return {"layout": str(v).removeprefix("torch.")}
        if isinstance(v, torch.device):
            return {"device": str(v)}
        if isinstance(v, torch.memory_format):
            text = str(v).removeprefix("torch.").removesuffix("_format")
            return {"memory_format": text}
        return v


def copied(v):
    """The arguments anew: what shared a storage still does."""
    seen = {}

    def copy(v):
        if isinstance(v, torch.Tensor):
            storage = v.untyped_storage()
            if storage._cdata not in seen:
                seen[storage._cdata] = storage.clone()
            return torch.empty(0, dtype=v.dtype).set_(
                seen[storage._cdata], v.storage_offset(), v.shape, v.stride())
        if isinstance(v, (list, tuple)):
            return [copy(e) for e in v]
        return v

    return {k: copy(e) for k, e in v.items()}


def named_tensors(arguments):
    for name, v in arguments.items():
        if isinstance(v, torch.Tensor):
            yield name, v
        elif is_tensor_list(v):
            for i, e in enumerate(v):
                if isinstance(e, torch.Tensor):
                    yield f"{name}.{i}", e


def alias_of(t, arguments):
    for name, a in named_tensors(arguments):
        if a.untyped_storage()._cdata == t.untyped_storage()._cdata:
            return name
    return None


def tolerance(tensors, scale):
    dtypes = [t.dtype for t in tensors if t.dtype in TOLERANCES]
    rtol, atol = max((TOLERANCES[d] for d in dtypes), default=(0.0, 0.0))
    return rtol * scale, atol * scale


def results_of(op, arguments):
    """One element per return of the schema."""
    results = op(**arguments)
    count = len(op._schema.returns)
    return [] if count == 0 else [results] if count == 1 else list(results)


def gradients(recorder, op, arguments, call):
    """The `grad` of a case; None where there is nothing to differentiate."""
    leaves = {n: t for n, t in named_tensors(arguments)
              if t.dtype == torch.float64}
    if not leaves or not call.grad:
        return None
    for t in leaves.values():
        t.requires_grad_(True)
    results = results_of(op, arguments)
    flat = []
    for r in results:
        flat += r if isinstance(r, (list, tuple)) else [r]
    outputs = [t for t in flat if isinstance(t, torch.Tensor)
               and t.requires_grad and t.dtype == torch.float64]
    if not outputs:
        return None
    generator = torch.Generator().manual_seed(7)
    cotangents = {id(t): torch.randn(t.shape, generator=generator,
                                     dtype=t.dtype) for t in outputs}
    found = torch.autograd.grad(outputs, list(leaves.values()),
                                [cotangents[id(t)] for t in outputs],
                                allow_unused=True)

    def shaped(r):
        if isinstance(r, (list, tuple)):
            return [shaped(e) for e in r]
        given = cotangents.get(id(r))
        return None if given is None else recorder.tensor(given)

    return {"cotangents": [shaped(r) for r in results],
            "inputs": {n: None if g is None else recorder.tensor(g)
                       for n, g in zip(leaves, found)}}


def unspecified(recorder, t):
    """A result whose sizes, dtype and strides count, but no value."""
    blank = torch.empty_strided(t.shape, t.stride(), dtype=t.dtype)
    storage_of(blank).zero_()
    return recorder.tensor(blank) | {"values": "any"}


def record(file, name, call, index):
    op = overload(name)
    schema = op._schema
    names = [a.name for a in schema.arguments]
    given = dict(zip(names, call.args)) | call.kwargs
    text = f"{name} {index} " + " ".join(
        f"{k}={tuple(v.shape) if isinstance(v, torch.Tensor) else v}"
        for k, v in given.items() if not is_tensor_list(v))
    identity = "own-" + hashlib.sha256(text.encode()).hexdigest()[:8]
    if any(c["id"] == identity for c in file.cases):
        return
    recorder = Recorder(file)
    written = [a.name for a in schema.arguments
               if a.alias_info is not None and a.alias_info.is_write]
    case = {"id": identity, "args": [], "kwargs": {}}
    for a in schema.arguments:
        if a.name not in given:
            continue
        value = recorder.value(given[a.name], argument=True)
        if a.kwarg_only or len(case["args"]) < names.index(a.name):
            case["kwargs"][a.name] = value
        else:
            case["args"].append(value)
    arguments = copied(given)
    torch.manual_seed(0)
    results = results_of(op, arguments)

    def stated(t):
        if call.any_values:
            return unspecified(recorder, t)
        return recorder.tensor(t)

    def result(r):
        if isinstance(r, (list, tuple)) and is_tensor_list(r):
            return [result(e) for e in r]
        if not isinstance(r, torch.Tensor):
            return recorder.value(r)
        value = stated(r)
        alias = alias_of(r, arguments)
        if alias is not None:
            value["alias"] = alias
        return value

    case["returns"] = [result(r) for r in results]
    if written:
        case["mutated"] = {
            n: stated(t) for n, t in named_tensors(arguments)
            if n.partition(".")[0] in written}
    case["rtol"], case["atol"] = tolerance(
        [t for _, t in named_tensors({"r": list(results)} | {
            f"l{i}": list(r) for i, r in enumerate(results)
            if isinstance(r, (list, tuple))} | arguments)], call.tolerance)
    if not written:
        grad = gradients(recorder, op, copied(given), call)
        if grad is not None:
            case["grad"] = grad
    file.cases.append(case)


def tensor_of(file, value):
    dtype, raw = file.storages[value["tensor"]]
    storage = torch.empty(0, dtype=torch.uint8)
    if raw:
        storage = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    return torch.empty(0, dtype=getattr(torch, dtype)).set_(
        storage.untyped_storage(), value["offset"], value["sizes"],
        value["strides"])


def unrecorded(file, value, tensors):
    """The value of which `Recorder.value` made a VALUE."""
    if isinstance(value, list):
        return [unrecorded(file, v, tensors) for v in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        t = tensor_of(file, value)
        # Arguments of one key share a storage.
        base = tensors.setdefault(value["tensor"], t.untyped_storage())
        return torch.empty(0, dtype=t.dtype).set_(
            base, t.storage_offset(), t.shape, t.stride())
    if "float" in value:
        return float(value["float"])
    if "dtype" in value:
        return getattr(torch, value["dtype"])
    if "device" in value:
        return torch.device(value["device"])
    if "layout" in value:
        return torch.strided
    text = value["memory_format"]
    return getattr(torch, text + "_format" if text in (
        "contiguous", "preserve") else text)


def base_name(name):
    packet = name.partition(".")[0]
    return packet if packet.startswith("__") else packet.rstrip("_")


def outputs_of(schema):
    return [a.name for a in schema.arguments
            if a.kwarg_only and a.alias_info is not None
            and a.alias_info.is_write]


def call_of_form(name, file, case):
    """The call of `case` as one of the overload `name`; None if it is none."""
    op, tensors = overload(name), {}
    donor = overload(file.name)
    given = dict(zip([a.name for a in donor._schema.arguments], case["args"]))
    given |= case["kwargs"]
    given = {k: unrecorded(file, v, tensors) for k, v in given.items()}
    written = outputs_of(op._schema)
    types = {a.name: str(a.type) for a in op._schema.arguments}
    for k in outputs_of(donor._schema):
        given.pop(k, None)
    if not all(k in types and takes(types[k], v) for k, v in given.items()):
        return None
    if written:
        results = [unrecorded(file, r, {}) for r in case["returns"]]
        if len(results) != len(written) or not all(
                isinstance(r, torch.Tensor) for r in results):
            return None
        grown = {k: torch.empty(0, dtype=r.dtype)
                 for k, r in zip(written, results)}
        op(**copied(given), **grown)
        # How a tensor that grows is laid out is the kernel's affair.
        given |= {k: torch.empty(0, dtype=r.dtype)
                  if t.is_contiguous() else torch.zeros(t.shape, dtype=t.dtype)
                  for (k, t), r in zip(grown.items(), results)}
    return call_values.Call((), given, "grad" in case, 1, False)


# PyTorch computes nothing into an empty tensor here.
LEFT_UNSET = ("binary_cross_entropy.out",
              "_native_batch_norm_legit.no_stats_out")


def takes(type_text, value):
    """Numbers pass for tensors in Python alone."""
    if type_text.startswith("Tensor"):
        return isinstance(value, torch.Tensor) or value is None
    return not isinstance(value, torch.Tensor)


def usable(case):
    return ("error" not in case and any(
        isinstance(r, dict) and 0 not in r.get("sizes", [0])
        for r in case["returns"]) and not any(
            isinstance(r, dict) and "values" in r for r in case["returns"]))


def forms(folder, operators):
    """(name, call) of overloads without cases."""
    with open(operators, encoding="utf-8") as file:
        names = [line.partition("(")[0].partition("::")[2] for line in file]
    recorded = {}
    for entry in sorted(os.listdir(folder)):
        if entry.endswith(".json"):
            name = entry.removesuffix(".json")
            recorded.setdefault(base_name(name), []).append(name)
    for name in names:
        siblings = recorded.get(base_name(name), [])
        try:
            overload(name)
        except AttributeError:
            continue
        if name in siblings or name in LEFT_UNSET:
            continue
        for sibling in siblings:
            file = CaseFile.load(folder, sibling)
            cases = [c for c in file.cases if usable(c)]
            cases.sort(key=lambda c: "grad" not in c)
            calls = []
            for case in cases[:1] + cases[-3:]:
                try:
                    call = call_of_form(name, file, case)
                    if call is None:
                        continue
                    overload(name)(**copied(call.kwargs))
                except Exception:  # the form takes other arguments
                    continue
                calls.append(call)
            if calls:
                yield from ((name, c) for c in calls)
                break


def main():
    folder = sys.argv[1]
    listed = list(recorded_calls.calls())
    if len(sys.argv) > 2:
        listed += forms(folder, sys.argv[2])
    calls, failures = {}, 0
    for name, call in listed:
        calls.setdefault(name, []).append(call)
    for name, list_of_calls in sorted(calls.items()):
        if os.path.exists(os.path.join(folder, name + ".json")):
            file = CaseFile.load(folder, name)
        else:
            file = CaseFile(name, str(overload(name)._schema))
        for index, call in enumerate(list_of_calls):
            try:
                record(file, name, call, index)
            except Exception as error:  # whatever PyTorch throws
                failures += 1
                print(f"{name}, call {index}: {error}", file=sys.stderr)
        file.save(folder)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
