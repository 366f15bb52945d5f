"""The machine code of kernels is what their speed needs: 16 bytes at a time
where operands lie together, no registers in memory, no atomic additions of
floats, no more registers than before. Then bad kernels, which must be refused.

Usage: sass_test.py NVCC NVDISASM RECORDED SOURCES GOLDENS FOLDER...

RECORDED has a line for each kernel: target, kernel, registers. To accept what
is now: SY_UPDATE_REGISTERS=$PWD/test/backends/cuda/sass_registers.txt, and run
this test.
"""

import collections
import concurrent.futures
import os
import sys
import tempfile
import unittest

import nvcc
import sass
from sass import Promise

TARGETS = ("sm_80", "sm_90")
HEADING = "# Registers of kernels, of sass_test.py.\n"
# Printed kernels, the files of GOLDENS. A tile is 4 packs of each operand.
PRINTED = {
    "linear_float32": Promise(loads=8, stores=4),
    "linear_immediate": Promise(loads=4, stores=4),
    "linear_single": Promise(loads=4, stores=4),
    "packs_bfloat16": Promise(loads=4, stores=4),
    "reduce_columns_var_mean": Promise(loads=4),
    "reduce_pieces_any_int64": Promise(fused=False),
    "reduce_rows_mean_float16": Promise(loads=4),
    "region_packs_mul": Promise(loads=4, stores=4, fused=False),
    "region_row": Promise(),
    "region_rows_sum": Promise(),
    "region_walk_mul": Promise(fused=False),
    "scan_columns_cummax_int32": Promise(fused=False),
    "scan_rows_cumsum_float32": Promise(fused=False),
    "squares_lt": Promise(fused=False),
    "strided_int64": Promise(),
    "wide_float64": Promise(),
}
_THREE = ("ptxas rather has three blocks on a multiprocessor than 6 more "
          "registers for the places beside the values")
# The files of SOURCES: definitions, and promises that not all kernels make.
WRITTEN = {
    "activation_softmax.cu": ("SY_E=float SY_F=f32 SY_T=float", {
        "softmax_rows": Promise(loads=3, stores=1),
        "softmax_grad_rows": Promise(loads=4, stores=1)}),
    "convolution.cu": (
        "SY_ALONG_A=0 SY_ALONG_B=1 SY_ELEMENT=float SY_RESULT=0 SY_SIDE=64",
        {}),
    "copy.cu": ("SY_ITEM=16", {
        "copy_items": Promise(loads=4, stores=4),
        "transpose_items": Promise(loads=1, stores=1)}),
    "factory.cu": ("SY_ITEM=16", {"fill_items": Promise(stores=1)}),
    "scatter_join.cu": ("SY_JOIN=kJoinAdd SY_T=float", {}),
    "linalg.cu": ("SY_ALONG_A=0 SY_ALONG_B=1 SY_ELEMENT=float SY_SIDE=64", {}),
    "normalization.cu": ("SY_E=float SY_T=float", {
        "norm_rows": Promise(loads=3, stores=1),
        "norm_grad_rows": Promise(loads=4, stores=1)}),
    "random.cu": ("SY_DIGITS=24 SY_ELEMENT=float", {}),
    "reduction_argmax.cu": ("SY_E=float SY_MAX=1 SY_T=float", {
        "find_columns": Promise(loads=4, stack=24, spills=60, why=_THREE),
        "find_rows": Promise(loads=4, stack=24, spills=60, why=_THREE)}),
    "scatter.cu": ("SY_ITEM=4", {}),
    "shape.cu": ("SY_ITEM=16", {"cat_items": Promise(loads=4, stores=4)}),
    "sort_radix.cu": (
        "SY_KEY_BITS=32 SY_KEY_INF=0 SY_KEY_KIND=1 SY_PLACE=uint32_t", {}),
}

Job = collections.namedtuple("Job", "source definitions promises target")


def all_jobs(sources, goldens):
    printed = sorted(f[:-3] for f in os.listdir(goldens) if f.endswith(".cu"))
    missing = set(PRINTED) - set(printed)
    if missing:
        raise SystemExit(f"{goldens} has not what PRINTED has: {missing}")
    for target in TARGETS:
        for name in printed:
            yield Job(os.path.join(goldens, name + ".cu"), [],
                      {name: PRINTED.get(name, Promise())}, target)
        for name, (definitions, promises) in WRITTEN.items():
            yield Job(os.path.join(sources, name), definitions.split(),
                      promises, target)


class Checker:
    def __init__(self, compiler, nvdisasm):
        self.compiler = compiler
        self.nvdisasm = nvdisasm

    def kernels(self, job, options=()):
        compiled = self.compiler.compile(job.source, job.definitions,
                                         job.target, options)
        if not compiled.cubin:
            raise RuntimeError(compiled.log)
        return sass.read(self.nvdisasm, compiled)


def read_recorded(path):
    """(target, kernel) -> registers."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if not line.startswith("#")]
    return {(target, kernel): int(count) for target, kernel, count in lines}


def check_all(checker, recorded, jobs):
    """Lines of what is broken; (target, kernel) -> registers now."""
    broken, registers = [], {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, kernels in zip(jobs, pool.map(checker.kernels, jobs)):
            broken += [f"{job.source} has no kernel {name}"
                       for name in job.promises if name not in kernels]
            for name, kernel in sorted(kernels.items()):
                ident = (job.target, name)
                while ident in registers:  # of another source
                    ident = (job.target, ident[1] + "_")
                registers[ident] = kernel.registers
                promise = job.promises.get(name, Promise())
                broken += [f"{os.path.basename(job.source)}, {name}, "
                           f"{job.target}: {line}" for line in sass.broken(
                               kernel, promise, recorded.get(ident))]
    return broken, registers


def differences(recorded, registers):
    """The lines that recording would add and remove; no failure."""
    for target, kernel in sorted(set(registers) - set(recorded)):
        yield f"{kernel}, {target}: no registers are recorded"
    for target, kernel in sorted(set(recorded) - set(registers)):
        yield f"{kernel}, {target}: is recorded, and there is no such kernel"


BAD = {
    # 100 values that all are wanted at once do not fit 32 registers.
    "spills": """
extern "C" __global__ void __launch_bounds__(1024, 2) spills(float* x) {
  float v[100];
#pragma unroll
  for (int i = 0; i < 100; ++i) v[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 100; ++i) x[i * 1024 + threadIdx.x] = v[99 - i] * v[i];
}""",
    "local_array": """
extern "C" __global__ void local_array(float* x, const int* at) {
  float v[32];
  for (int i = 0; i < 32; ++i) v[i] = x[i + threadIdx.x];
  for (int i = 0; i < 32; ++i) x[i] += v[at[i]];
}""",
    "single_loads": """
extern "C" __global__ void single_loads(float* x, const float* y) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = 0; i < 4; ++i) x[first + i] = 2 * y[first + i];
}""",
    "adds_floats": """
extern "C" __global__ void adds_floats(float* x, double* y) {
  atomicAdd(x, 1.5f);
  y[0] = atomicAdd(y + 1, 1.5);
}""",
    "contracted": """
extern "C" __global__ void contracted(float* x, const float* y) {
  x[threadIdx.x] = x[threadIdx.x] * y[threadIdx.x] + y[0];
}""",
}


class BadKernels(unittest.TestCase):
    checker = None

    def broken(self, name, promise=Promise(), recorded=255, options=()):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, name + ".cu")
            with open(source, "w", encoding="utf-8") as file:
                file.write(BAD[name])
            job = Job(source, [], {}, "sm_90")
            kernels = self.checker.kernels(job, options)
            return "\n".join(sass.broken(kernels[name], promise, recorded))

    def test_spilled_registers(self):
        self.assertRegex(self.broken("spills"), r"^spills \d+ bytes")

    def test_an_array_in_local_memory(self):
        said = self.broken("local_array")
        self.assertRegex(said, r"^has 128 bytes of local memory, which \d+ ")
        self.assertEqual(self.broken("local_array", Promise(
            stack=128, why="it looks up what it has read")), "")

    def test_single_loads_and_stores(self):
        said = self.broken("single_loads", Promise(loads=1, stores=1))
        self.assertIn("0 loads of 16 bytes, expected 1: it has 4", said)
        self.assertIn("0 stores of 16 bytes, expected 1: it has 4", said)
        self.assertEqual(self.broken("single_loads"), "")

    def test_atomic_additions_of_floats(self):
        said = self.broken("adds_floats")
        self.assertRegex(said, r"adds floats by RED\S*F32")
        self.assertRegex(said, r"adds floats by ATOM\S*F64")

    def test_contraction(self):
        self.assertEqual(
            self.broken("contracted", Promise(fused=False)), "")
        said = self.broken("contracted", Promise(fused=False),
                           options=["--fmad=true"])
        self.assertIn("1 fused multiplications", said)

    def test_more_registers_than_recorded(self):
        kernel = sass.Kernel("k", {}, registers=45)
        self.assertEqual(list(sass.broken(kernel, Promise(), 41)), [])
        self.assertEqual(list(sass.broken(kernel, Promise(), 40)),
                         ["45 registers, recorded are 40"])
        self.assertEqual(list(sass.broken(kernel, Promise(), None)), [])
        self.assertEqual(
            list(differences({("sm_90", "old"): 1}, {("sm_90", "new"): 2})),
            ["new, sm_90: no registers are recorded",
             "old, sm_90: is recorded, and there is no such kernel"])


def main(compiler, nvdisasm, recorded, sources, goldens, *folders):
    if not compiler or not nvdisasm:
        print("SKIPPED: this machine has no "
              f"{'nvdisasm' if compiler else 'nvcc'}; `./sy setup --cuda` "
              "fetches both")
        return 0
    checker = Checker(nvcc.Compiler(compiler, folders, nvcc.default_cache()),
                      nvdisasm)
    jobs = list(all_jobs(sources, goldens))
    update = os.environ.get("SY_UPDATE_REGISTERS")
    before = read_recorded(recorded)
    broken, registers = check_all(checker, before, jobs)
    if update:
        with open(update, "w", encoding="utf-8") as file:
            file.write(HEADING)
            for (target, kernel), count in sorted(registers.items()):
                file.write(f"{target} {kernel} {count}\n")
    print("\n".join([*broken, *differences(before, registers)]))
    print(f"{len(registers)} kernels of {len(jobs)} cubins, {len(broken)} "
          f"broken promises, {checker.compiler.compiled} compiled")
    if any("registers" in line for line in broken):
        print("if the registers are worth it, SY_UPDATE_REGISTERS=FILE records "
              "them: see sass_test.py")
    BadKernels.checker = checker
    run = unittest.TextTestRunner().run(
        unittest.defaultTestLoader.loadTestsFromTestCase(BadKernels))
    return 0 if not broken and run.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
