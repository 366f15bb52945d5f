"""Tests the library that nvcc made of backends/cuda/cub, without a GPU.

Usage: cub_built_test.py LIBRARY API.H
"""

import ctypes
import os
import re
import subprocess
import sys
import unittest

# With the kernels of libswitchyard_cuda.so and its pack it is to stay below
# the 15 MB of benchmarks.
MOST_BYTES = 4 << 20
NO_DEVICE = {35, 100, 101}  # also: a driver that is too old, or none
LIBRARY, HEADER = sys.argv.pop(1), sys.argv.pop(1)


def said(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


class Table(ctypes.Structure):
    """struct SwitchyardCub."""

    Function = ctypes.CFUNCTYPE(ctypes.c_int)
    Text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)
    Sum = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                           ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p,
                           ctypes.c_int64, ctypes.c_void_p)
    _fields_ = [("version", ctypes.c_int), ("cuda", ctypes.c_int),
                ("cub", ctypes.c_int), ("error_text", Text),
                ("sort_pairs", Function), ("sort_rows", Function),
                ("select_places", Function), ("sum_before", Sum),
                ("count_numbers", Function)]


class CubLibrary(unittest.TestCase):

    def test_exports_one_function(self):
        names = [line.split()[-1] for line in
                 said("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        self.assertEqual(names, ["switchyard_cuda_cub"])

    def test_needs_nothing_of_cuda(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*?)\]",
                            said("readelf", "-d", LIBRARY))
        self.assertEqual([n for n in needed if "cu" in n], [])

    def test_is_small(self):
        self.assertLess(os.path.getsize(LIBRARY), MOST_BYTES)

    def test_table_is_that_of_the_header(self):
        entry = ctypes.CDLL(LIBRARY).switchyard_cuda_cub
        entry.restype = ctypes.POINTER(Table)
        table = entry().contents
        with open(HEADER, encoding="utf-8") as file:
            text = file.read()
        version = re.search(r"CUDA_CUB_VERSION = (\d+)", text)[1]
        self.assertEqual(table.version, int(version))
        self.assertEqual(re.findall(r"\(\*(\w+)\)", text)[:-1],
                         [name for name, _ in Table._fields_[3:]])
        self.assertGreaterEqual(table.cuda, 12000)
        self.assertIn(b"no kernel image", table.error_text(209))
        # A call says so if there is no device, and does not crash.
        size = ctypes.c_size_t(0)
        error = table.sum_before(None, ctypes.byref(size), None, 1000, None)
        if error == 0:
            self.assertGreater(size.value, 0)
        else:
            self.assertIn(error, NO_DEVICE)


if __name__ == "__main__":
    unittest.main()
