"""Makes testdata/ from the formats' descriptions, by struct and zipfile alone.

The files that C++ reads must not have been written by the same C++. Element i of every
array is (7 * i) % 11, less 3 for signed and floating dtypes, i % 2 for bools.

Usage: make_testdata.py FOLDER
"""

import io
import json
import os
import struct
import sys
import zipfile

# safetensors' name, numpy's, struct's; None where there is none.
DTYPES = [("BOOL", "b1", "?"), ("U8", "u1", "B"), ("I8", "i1", "b"),
          ("I16", "i2", "h"), ("I32", "i4", "i"), ("I64", "i8", "q"),
          ("F16", "f2", "e"), ("F32", "f4", "f"), ("F64", "f8", "d"),
          ("BF16", None, None)]


def value(code, i):
    if code == "?":
        return i % 2 == 1
    return 7 * i % 11 - (0 if code == "B" else 3)


def elements(code, indices, order="<"):
    if code is None:  # bfloat16: the upper half of a float
        return b"".join(struct.pack("<f", value("f", i))[2:] for i in indices)
    return b"".join(struct.pack(order + code, value(code, i)) for i in indices)


def safetensors(tensors, metadata=None):
    """tensors: (name, dtype's name, struct's code, sizes)."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, code, sizes in tensors:
        count = 1
        for size in sizes:
            count *= size
        part = elements(code, range(count))
        header[name] = {"dtype": dtype, "shape": sizes,
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def npy(descr, shape, data, fortran=False, version=1, align=64):
    text = (f"{{'descr': '{descr}', 'fortran_order': {fortran}, "
            f"'shape': {shape}, }}").encode()
    start = 10 if version == 1 else 12
    text += b" " * (-(start + len(text) + 1) % align) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def plain_npy(numpy, code, *sizes):
    count = 1
    for size in sizes:
        count *= size
    return npy("<" + numpy, tuple(sizes), elements(code, range(count)))


class Unseekable(io.RawIOBase):
    """A stream, to which zipfile writes sizes behind each member."""

    def __init__(self):
        super().__init__()
        self.bytes = b""

    def writable(self):
        return True

    def write(self, data):
        self.bytes += bytes(data)
        return len(data)


def archive(target, method, force_zip64=False):
    with zipfile.ZipFile(target, "w", method) as z:
        for name, content in [("a", plain_npy("f4", "f", 3, 4)),
                              ("b/\u00e4", plain_npy("i8", "q", 5)),
                              ("empty", plain_npy("f8", "d", 0, 2))]:
            info = zipfile.ZipInfo(name + ".npy")
            info.compress_type = method
            with z.open(info, "w", force_zip64=force_zip64) as member:
                member.write(content)


def with_64bit_end(content):
    """The same archive with its directory's place in 64-bit records only."""
    end = content.rindex(b"PK\5\6")
    count, size, begin = struct.unpack("<HII", content[end + 10:end + 20])
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count,
                         count, size, begin)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    last = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xffff, 0xffff,
                       0xffffffff, 0xffffffff, 0)
    return content[:end] + record + locator + last


def files():
    tensors = [(dtype.lower(), dtype, code, [2, 3])
               for dtype, _, code in DTYPES if code != "?"]
    # Tensors of one-byte elements come last, so that the others are aligned.
    tensors.sort(key=lambda t: t[2] in ("B", "b"))
    yield "all.safetensors", safetensors(
        tensors + [("bool", "BOOL", "?", [5]), ("scalar", "U8", "B", []),
                   ("empty", "F32", "f", [0, 4])],
        {"format": "pt", "\u00e4": "\"\\\n"})
    yield "unaligned.safetensors", safetensors(
        [("first", "U8", "B", [3]), ("second", "F32", "f", [2, 2])])
    yield "f8.safetensors", safetensors(
        [("f8", "F8_E4M3", "B", [4]), ("f32", "F32", "f", [2])])
    yield "part-1.safetensors", safetensors([("x", "F32", "f", [2, 2])])
    yield "part-2.safetensors", safetensors(
        [("y", "I64", "q", [3]), ("z", "BF16", None, [4])])
    yield "model.safetensors.index.json", json.dumps(
        {"metadata": {"total_size": 48, "note": "two parts"},
         "weight_map": {"z": "part-2.safetensors", "x": "part-1.safetensors",
                        "y": "part-2.safetensors"}}, indent=2).encode()

    for _, numpy, code in DTYPES:
        if numpy:
            yield f"{numpy}.npy", plain_npy(numpy, code, 2, 3)
    fortran = [0, 3, 1, 4, 2, 5]  # elements of a 2x3 array, column by column
    yield "fortran.npy", npy("<i2", (2, 3), elements("h", fortran), True)
    for numpy, code in [("i2", "h"), ("f4", "f"), ("f8", "d")]:
        yield f"big_{numpy}.npy", npy(">" + numpy, (2, 3),
                                      elements(code, range(6), ">"))
    yield "big_fortran.npy", npy(">f2", (2, 3), elements("e", fortran, ">"),
                                 True)
    yield "scalar.npy", npy("<f8", (), elements("d", range(1)))
    yield "vector.npy", plain_npy("f4", "f", 5)
    yield "empty.npy", plain_npy("f4", "f", 3, 0)
    for version in (2, 3):
        yield f"v{version}.npy", npy("<f4", (2, 3), elements("f", range(6)),
                                     version=version)
    yield "python2.npy", npy("<f4", "(2L, 3L)", elements("f", range(6)),
                             align=16)

    for name, method in [("stored", zipfile.ZIP_STORED),
                         ("deflated", zipfile.ZIP_DEFLATED)]:
        for force, suffix in [(False, ""), (True, "64")]:
            target = io.BytesIO()
            archive(target, method, force)
            yield f"{name}{suffix}.npz", target.getvalue()
        stream = Unseekable()
        archive(stream, method)
        yield f"{name}_stream.npz", stream.bytes
    target = io.BytesIO()
    archive(target, zipfile.ZIP_STORED)
    yield "end64.npz", with_64bit_end(target.getvalue())


def main():
    folder = sys.argv[1]
    for name, content in files():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
