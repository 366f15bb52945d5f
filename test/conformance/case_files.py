"""Reads, writes and makes case files (their format: cases_format.md), and runs
bin/sy over a folder of them."""

import json
import os
import struct
import subprocess

# name -> tag in safetensors, struct letter (None: bytes alone), size
DTYPES = {
    "bool": ("BOOL", "?", 1), "uint8": ("U8", "B", 1), "int8": ("I8", "b", 1),
    "int16": ("I16", "h", 2), "int32": ("I32", "i", 4),
    "int64": ("I64", "q", 8), "float16": ("F16", "e", 2),
    "bfloat16": ("BF16", None, 2), "float32": ("F32", "f", 4),
    "float64": ("F64", "d", 8),
}
NAMES = {tag: name for name, (tag, _, _) in DTYPES.items()}


def pack(values, dtype):
    if dtype == "bfloat16":
        raw = pack(values, "float32")
        return b"".join(raw[i + 2:i + 4] for i in range(0, len(raw), 4))
    return struct.pack(f"<{len(values)}{DTYPES[dtype][1]}", *values)


def unpacked(raw, dtype):
    if dtype == "bfloat16":
        raw, dtype = b"".join(b"\0\0" + raw[i:i + 2]
                              for i in range(0, len(raw), 2)), "float32"
    return struct.unpack(f"<{len(raw) // DTYPES[dtype][2]}{DTYPES[dtype][1]}",
                         raw)


def contiguous(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def repeated(made, storages):
    """The bytes of a storage that is made of pieces."""
    out = b""
    for piece in made["pieces"]:
        count = piece["count"]
        if "of" in piece:
            raw = storages[piece["of"]][1]
            length = count * DTYPES[made["dtype"]][2]
            out += (raw * (length // len(raw) + 1))[:length]
        else:
            out += pack([piece["from"] + i * piece["step"]
                         for i in range(count)], made["dtype"])
    return out


def file_texts(file, made=None):
    """The bytes of NAME.json and of NAME.safetensors."""
    described = {"op": "aten::" + file.name, "schema": file.schema,
                 "cases": file.cases}
    if made:
        described["repeated"] = made
    header, data = {}, []
    end = 0
    for key, (dtype, raw) in file.storages.items():
        tag, _, size = DTYPES[dtype]
        header[key] = {"dtype": tag, "shape": [len(raw) // size],
                       "data_offsets": [end, end + len(raw)]}
        end += len(raw)
        data.append(raw)
    text = json.dumps(header).encode()
    return (json.dumps(described).encode(),
            struct.pack("<Q", len(text)) + text + b"".join(data))


def tensors(v):
    """The VALUEs of tensors in a case, or in a part of one."""
    if isinstance(v, list):
        for e in v:
            yield from tensors(e)
    elif isinstance(v, dict) and isinstance(v.get("tensor"), str):
        yield v
    elif isinstance(v, dict):
        for e in v.values():
            yield from tensors(e)


class CaseFile:
    """The cases of one overload; storages: key -> (dtype, bytes)."""

    def __init__(self, name, schema="", cases=(), storages=None):
        self.name = name
        self.schema = schema or f"aten::{name}"
        self.cases = list(cases)
        self.storages = dict(storages or {})

    @classmethod
    def load(cls, folder, name):
        with open(os.path.join(folder, name + ".json"),
                  encoding="utf-8") as file:
            data = json.load(file)
        with open(os.path.join(folder, name + ".safetensors"), "rb") as file:
            raw = file.read()
        length = struct.unpack("<Q", raw[:8])[0]
        storages = {}
        for key, entry in json.loads(raw[8:8 + length]).items():
            begin, end = entry["data_offsets"]
            storages[key] = (NAMES[entry["dtype"]],
                             raw[8 + length + begin:8 + length + end])
        for key, made in data.get("repeated", {}).items():
            storages[key] = (made["dtype"], repeated(made, storages))
        return cls(name, data["schema"], data["cases"], storages)

    def save(self, folder):
        os.makedirs(folder, exist_ok=True)
        for kind, data in zip((".json", ".safetensors"), file_texts(self)):
            with open(os.path.join(folder, self.name + kind), "wb") as file:
                file.write(data)

    def add_storage(self, dtype, raw):
        key = f"s{len(self.storages)}"
        self.storages[key] = (dtype, raw)
        return key

    def tensor(self, values, dtype="float32", sizes=None, **fields):
        """A VALUE of a contiguous tensor over a storage of its own."""
        sizes = [len(values)] if sizes is None else sizes
        value = {"tensor": self.add_storage(dtype, pack(values, dtype)),
                 "dtype": dtype, "sizes": sizes, "strides": contiguous(sizes),
                 "offset": 0}
        value.update(fields)
        return value

    def take(self, case, source):
        """Adds a case of `source`, and the storages of its tensors."""
        keys = {}
        for t in tensors(case):
            key = t["tensor"]
            if key not in keys:
                keys[key] = self.add_storage(*source.storages[key])
            t["tensor"] = keys[key]
        self.cases.append(case)

    def case(self, args, returns=None, **fields):
        """Adds a case; `error` among the fields makes it one that fails."""
        case = {"id": f"case-{len(self.cases)}", "args": args, "kwargs": {}}
        if "error" not in fields:
            case.update(returns=returns, rtol=0.0, atol=0.0)
        case.update(fields)
        self.cases.append(case)
        return case


class Run:
    """One run of `sy conform`: exit code, texts and the JSON report."""

    def __init__(self, sy, folder, *flags, report_in=None):
        out = os.path.join(report_in or folder, "report")
        done = subprocess.run(
            [sy, "conform", "--cases", folder, "--json", out, *flags],
            capture_output=True, text=True, check=False, timeout=300)
        self.code, self.out, self.err = (done.returncode, done.stdout,
                                         done.stderr)
        self.report = None
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                self.report = json.load(file)
            os.remove(out)

    def counts(self):
        return tuple(self.report[k] for k in ("passed", "failed", "missing"))

    def why(self):
        """case id -> why it failed, of all overloads."""
        return {f["id"]: f["why"] for o in self.report["overloads"].values()
                for f in o["failures"]}
