"""Holds our own declarations of NVIDIA's libraries to the toolkit's headers.

Usage: toolkit_test.py NVCC ROOT    exit 1 if a declaration differs

The library is built without a toolkit, so it declares what it uses of the
driver, NVRTC, cuBLASLt, cuDNN, the CUDA runtime and NCCL itself. If there is a
toolkit, a C++ file is made that compares each function, argument by argument,
and each struct and number; and the toolkit's libraries must have every symbol.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

# For each library: the file with our list, its macro, the header, the namespace
# of our declarations, and the toolkit's library with the symbols.
LISTS = [
    ("backends/cuda/driver/api.h", "SY_CUDA_DRIVER_FUNCTIONS", "cuda.h",
     "sy::cuda::driver", "stubs/libcuda.so"),
    ("backends/cuda/compile/nvrtc.cpp", "SY_CUDA_NVRTC_FUNCTIONS", "nvrtc.h",
     "nvrtc", "libnvrtc.so*"),
    ("backends/cuda/blas/api.h", "SY_CUDA_BLAS_FUNCTIONS", "cublasLt.h",
     "sy::cuda::blas", "libcublasLt.so*"),
    ("backends/cuda/dnn/api.h", "SY_CUDA_DNN_FUNCTIONS", "cudnn_graph.h",
     "sy::cuda::dnn", "libcudnn.so*"),
    ("frontend/distributed/nccl/api.h", "SY_CUDA_FUNCTIONS",
     "cuda_runtime_api.h", "sy::distributed::nccl", "libcudart.so*"),
    ("frontend/distributed/nccl/api.h", "SY_NCCL_FUNCTIONS", "nccl.h",
     "sy::distributed::nccl", "libnccl.so*"),
]

ROW = re.compile(r'X\((\w+),\s*"(\w+)",\s*(?:([\w* ]+),)?\s*\(')


def rows(root, path, macro):
    """(symbol, result or None, arguments) of each row of a list."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    start = text.index(f"#define {macro}(X)")
    text = text[start:text.index("\n\n", start)].replace("\\\n", " ")
    for m in ROW.finditer(text):
        depth, end = 1, m.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield m.group(2), m.group(3), text[m.end():end - 1]


def symbols(pattern):
    """The exports of the first library that a pattern names, or None."""
    for path in sorted(glob.glob(pattern), key=len):
        run = subprocess.run(["nm", "-D", "--defined-only", path], check=False,
                             text=True, capture_output=True)
        if run.returncode == 0:
            return {line.split()[-1].split("@")[0]
                    for line in run.stdout.splitlines() if line.split()}
    return None


def checks(root, include):
    """The C++ text, and how many functions it compares."""
    out, headers, skipped, n = [], [], [], 0
    for path, macro, header, namespace, _ in LISTS:
        if not os.path.exists(os.path.join(include, header)):
            skipped.append(header)
            continue
        headers.append(f"#include <{header}>")
        out.append(f"namespace of_{macro.lower()} {{")
        out.append(f"using namespace {namespace};")
        for symbol, result, arguments in rows(root, path, macro):
            result = result or "Result"
            out.append(f'static_assert(kSame<{result}(*)({arguments}), '
                       f'decltype(&::{symbol})>, "{symbol}");')
            n += 1
        out.append("}")
    return "\n".join(headers), "\n".join(out), skipped, n


def main(nvcc, root):
    if not nvcc:
        print("SKIPPED: this machine has no CUDA toolkit")
        return 0
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    include = os.path.join(toolkit, "include")
    headers, text, skipped, n = checks(root, include)
    if n == 0:
        print("SKIPPED: the toolkit has no headers")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "check.cpp")
        with open(source, "w", encoding="utf-8") as file:
            with open(os.path.join(root, "test/backends/cuda/toolkit_check.inc"),
                      encoding="utf-8") as fixed:
                file.write(headers + "\n" + fixed.read() + "\n" + text + "\n")
        # Old functions too: drivers keep them for ever.
        run = subprocess.run(
            ["g++", "-std=c++20", "-fsyntax-only", "-Wno-deprecated-declarations",
             "-D__CUDA_API_VERSION_INTERNAL=1", "-I" + root, "-I" + include,
             source],
            check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
    failures = [run.stdout] if run.returncode else []
    for path, macro, header, _, library in LISTS:
        has = symbols(os.path.join(toolkit, "lib64", library))
        if has is None:
            skipped.append(library)
            continue
        failures += [f"{library} has no {symbol}, which {path} lists"
                     for symbol, _, _ in rows(root, path, macro)
                     if symbol not in has]
    print("\n".join(failures))
    if skipped:
        print("SKIPPED, as the toolkit lacks them:", " ".join(skipped))
    print(f"{n} functions compared, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
