"""The text that recorded cases are kept as: a file for each family, which is
the file of schemas/ops/ that holds the operators. cases_format.md describes it.

    case_text.py unpack TEXTS DIR    NAME.json and NAME.safetensors of each
    case_text.py tar TEXTS FILE      the same as an archive; same bytes always
    case_text.py pack DIR TEXTS      the texts of what DIR holds
"""

import functools
import io
import json
import os
import re
import struct
import sys
import tarfile

from case_files import (DTYPES, CaseFile, contiguous, file_texts, pack,
                        unpacked)

FLOATS = ("float16", "bfloat16", "float32", "float64")
LONG = 64  # elements from which on repetitions are looked for
MISSING = "missing"  # the family of operators that no file of schemas/ops has


# Numbers -------------------------------------------------------------------

@functools.lru_cache(1 << 16)
def short_float(dtype, value, negative):
    """-0.0 equals 0.0: `negative` tells them apart."""
    del negative
    return float_text(dtype, value)


def float_text(dtype, value):
    """The shortest decimal number that is rounded to `value`; itself exact."""
    for digits in {"float16": (3, 4, 5), "float64": ()}.get(dtype, (6, 7, 8)):
        near = float(f"{value:.{digits}g}")
        if pack([near], dtype) == pack([value], dtype):
            return near
    return value


def numbers(dtype, raw):
    """The elements as JSON has them; an odd NaN is a string of its bits."""
    values = unpacked(raw, dtype)
    if dtype not in FLOATS:
        return [int(v) for v in values]
    size, out = DTYPES[dtype][2], []
    nan = pack([float("nan")], dtype)
    for i, v in enumerate(values):
        bits = raw[i * size:(i + 1) * size]
        if v != v and bits != nan:
            out.append(bits.hex())
        else:
            v = short_float(dtype, v, bits[-1] >= 128)
            whole = v == int(v) if abs(v) < 1e15 else False
            negative_zero = v == 0 and bits[-1] != 0
            out.append(int(v) if whole and not negative_zero else v)
    return out


def packed(values, dtype):
    """The bytes of what `numbers` gave."""
    try:
        return pack(values, dtype)
    except (struct.error, TypeError):
        return b"".join(bytes.fromhex(v) if isinstance(v, str) else
                        pack([v], dtype) for v in values)


# Repetitions ---------------------------------------------------------------

def period(raw, size):
    """The least number of elements that come again and again, or None."""
    start, at = raw[:8 * size], 0
    while True:
        at = raw.find(start, at + 1, len(raw) // 2 + len(start))
        if at < 0:
            return None
        if at % size == 0 and raw[at:] == raw[:-at]:
            return at // size


def same_from(values, at, p):
    """How far the elements from `at` on repeat with the period p."""
    end = at + p
    while end < len(values) and values[end] == values[end - p]:
        end += 1
    return end - at


def steady_from(values, at):
    """How far the whole numbers from `at` on have equal steps."""
    step, end = values[at + 1] - values[at], at + 2
    while end < len(values) and values[end] - values[end - 1] == step:
        end += 1
    return end - at


def pieces(values, integral):
    """Lists and objects in place of what repeats itself."""
    out, at = [], 0
    while at < len(values):
        best, piece = 0, None
        if integral and at + 2 < len(values) and values[at] != values[at + 1]:
            n = steady_from(values, at)
            if n >= 12:
                best, piece = n, {"from": values[at], "step": values[at + 1] -
                                  values[at], "count": n}
        for p in range(1, min(64, (len(values) - at - 8) // 3) + 1):
            least = at + 3 * p + 8
            if (values[at + p] == values[at]
                    and values[at + p:least] == values[at:least - p]):
                n = same_from(values, at, p)
                if n > best:
                    best, piece = n, [n, *values[at:at + p]]
        if piece is None:
            out.append(values[at])
            at += 1
        else:
            out.append(piece)
            at += best
    return out


def written(dtype, raw):
    size = DTYPES[dtype][2]
    n = len(raw) // size
    if n < LONG:
        return numbers(dtype, raw)
    p = period(raw, size)
    whole = None
    if p is not None and 3 * p <= n:
        whole = [[n, *numbers(dtype, raw[:p * size])]]
        if p <= LONG:
            return whole
    parts = pieces(numbers(dtype, raw), dtype not in FLOATS + ("bool",))
    return min(filter(None, (parts, whole)), key=lambda v: len(str(v)))


# Writing -------------------------------------------------------------------

class Writer:
    """One case: its tensors with what they hold in place of a key."""

    def __init__(self, file):
        self.file = file
        self.keys = {}    # key of a storage of the arguments -> number
        self.data = {}    # (dtype, bytes) -> number
        self.count = 0

    def storage(self, key, argument):
        dtype, raw = self.file.storages[key]
        known = (self.keys.get(key) if argument
                 else self.data.get((dtype, raw)))
        if known is not None:
            return known
        if argument:
            self.keys[key] = self.count
        self.data.setdefault((dtype, raw), self.count)
        self.count += 1
        return written(dtype, raw)

    def value(self, v, argument):
        if isinstance(v, list):
            return [self.value(e, argument) for e in v]
        if not isinstance(v, dict):
            return v
        if not isinstance(v.get("tensor"), str):
            return {k: self.value(e, argument) for k, e in v.items()}
        dtype, raw = self.file.storages[v["tensor"]]
        out = {v["dtype"]: self.storage(v["tensor"], argument)}
        if v["sizes"] != [len(raw) // DTYPES[dtype][2]]:
            out["sizes"] = v["sizes"]
        if v["strides"] != contiguous(v["sizes"]):
            out["strides"] = v["strides"]
        if v["offset"]:
            out["offset"] = v["offset"]
        out.update({k: e for k, e in v.items() if k not in (
            "tensor", "dtype", "sizes", "strides", "offset")})
        return out


def case_text(file, case):
    writer = Writer(file)
    out = {k: writer.value(v, k in ("args", "kwargs"))
           for k, v in case.items() if k != "kwargs" or v}
    return json.dumps(out, separators=(",", ":"))


def file_text(file):
    return "\n".join([file.schema, *(case_text(file, c) for c in file.cases),
                      ""])


def families(schemas):
    """Name of an operator -> family, of the files of schemas/ops."""
    out = {}
    for entry in sorted(os.listdir(schemas)):
        with open(os.path.join(schemas, entry), encoding="utf-8") as file:
            for name in re.findall(r"\b(\w+)(?:\.\w+)?\(", "".join(
                    line for line in file if re.match(
                        r"- func: |    \w+: \w+[.(]", line))):
                out.setdefault(name, entry.removesuffix(".yaml"))
    return out


def family_of(name, known):
    packet = name.partition(".")[0]
    for form in (packet, packet.rstrip("_"), packet.replace("__i", "__", 1),
                 packet + "_", packet.removesuffix("_functional") + "_",
                 packet.removesuffix("_copy")):
        if form in known:
            return known[form]
    return MISSING


# Reading -------------------------------------------------------------------

class Reader:
    """The cases of one overload: their tensors get keys again."""

    def __init__(self, schema):
        op = schema.partition("(")[0].removeprefix("aten::")
        self.file = CaseFile(op, schema)
        self.keys = {}      # (dtype, text of the elements) -> keys
        self.repeated = {}  # key -> what the runner makes it of

    def add(self, dtype, values, used):
        """A key with that content that the case does not use yet."""
        known = self.keys.setdefault((dtype, json.dumps(values)), [])
        for key in known:
            if key not in used:
                return key
        known.append(str(len(self.file.storages) + len(self.repeated)))
        if any(isinstance(v, (list, dict)) for v in values):
            self.repeat(known[-1], dtype, values)
        else:
            self.file.storages[known[-1]] = (dtype, packed(values, dtype))
        return known[-1]

    def repeat(self, key, dtype, values):
        made, single = [], []

        def entry(elements):
            return self.add(dtype, elements, ())

        self.repeated[key] = {"dtype": dtype, "pieces": made}
        for v in [*values, None]:
            if not isinstance(v, (list, dict)) and v is not None:
                single.append(v)
                continue
            if single:
                made.append({"of": entry(single), "count": len(single)})
                single = []
            if isinstance(v, list):
                made.append({"of": entry(v[1:]), "count": v[0]})
            elif v is not None:
                made.append(v)

    def size(self, key):
        if key in self.repeated:
            return sum(p["count"] for p in self.repeated[key]["pieces"])
        dtype, raw = self.file.storages[key]
        return len(raw) // DTYPES[dtype][2]

    def case(self, text):
        case = json.loads(text)
        numbered, used = [], set()

        def value(v, argument):
            if isinstance(v, list):
                return [value(e, argument) for e in v]
            if not isinstance(v, dict):
                return v
            dtype = next(iter(v), "")
            if dtype not in DTYPES:
                return {k: value(e, argument) for k, e in v.items()}
            held = v[dtype]
            if isinstance(held, int):
                key = numbered[held]
            else:
                key = self.add(dtype, held, used if argument else ())
                numbered.append(key)
                if argument:
                    used.add(key)
            sizes = v.get("sizes")
            sizes = [self.size(key)] if sizes is None else sizes
            strides = v.get("strides")
            out = {"tensor": key, "dtype": dtype, "sizes": sizes,
                   "strides": contiguous(sizes) if strides is None
                   else strides, "offset": v.get("offset", 0)}
            out.update({k: e for k, e in v.items() if k not in (
                dtype, "sizes", "strides", "offset")})
            return out

        out = {}
        for k, v in case.items():
            out[k] = value(v, k in ("args", "kwargs"))
            if k == "args" and "kwargs" not in case:
                out["kwargs"] = {}
        self.file.cases.append(out)


def read(texts):
    """A Reader for each overload, sorted by name within a family."""
    for entry in sorted(os.listdir(texts)):
        reader = None
        with open(os.path.join(texts, entry), encoding="utf-8") as file:
            for line in file:
                if line.startswith("{"):
                    reader.case(line)
                elif line.startswith("aten::"):
                    if reader is not None:
                        yield reader
                    reader = Reader(line.rstrip("\n"))
        if reader is not None:
            yield reader


def pairs(texts):
    """(file name, bytes) of all that DIR holds."""
    for reader in read(texts):
        json_text, tensors = file_texts(reader.file, reader.repeated)
        yield reader.file.name + ".json", json_text
        yield reader.file.name + ".safetensors", tensors


# The commands --------------------------------------------------------------

def unpack(texts, folder):
    os.makedirs(folder, exist_ok=True)
    for name, data in pairs(texts):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def tar(texts, path):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as out:
        for name, data in sorted(pairs(texts)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))


def pack_folder(folder, texts):
    here = os.path.dirname(os.path.abspath(__file__))
    known = families(os.path.join(here, "../../schemas/ops"))
    held = {}
    for name in sorted(e.removesuffix(".json") for e in os.listdir(folder)
                       if e.endswith(".json")):
        held.setdefault(family_of(name, known), []).append(name)
    os.makedirs(texts, exist_ok=True)
    for entry in os.listdir(texts):
        os.remove(os.path.join(texts, entry))
    for family, names in held.items():
        with open(os.path.join(texts, family + ".txt"), "w",
                  encoding="utf-8") as out:
            out.write("\n".join(file_text(CaseFile.load(folder, n))
                                for n in names))


if __name__ == "__main__":
    {"unpack": unpack, "tar": tar, "pack": pack_folder}[sys.argv[1]](
        *sys.argv[2:])
