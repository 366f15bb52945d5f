"""The recipe of a primitive (CONTRIBUTING.md): followed, and compared with the
places that name primitives.

Usage: new_primitive_test.py ROOT-OF-THE-CHECKOUT

The recipe's blocks are put into a copy of the sources. A program with the
copy's tables says what became of the new primitives; device code is compiled
for the host.
"""

import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
# Where the blocks of a file go: before the last match.
BEFORE = {
    "lang/special/functions.h": r"}  // namespace sy::special",
    "lang/special/error.cpp": r"}  // namespace sy::special",
    "lang/primitives.inc": r"#undef SY_PRIM\b",
    "aten/program/functors/arithmetic.inc": r"\Z",
    "aten/program/functors/list.inc": r"#endif\n+#if defined\(SY_LIST_COMPARE",
}
NAMES = ("cube", "log_cosh")
POINTS = (-2.5, -0.375, 0.0, 0.75, 3.0)
# They are named by all that names some primitive of their kind.
SAMPLES = ("copysign", "erfc", "erfinv", "hypot", "lgamma", "expm1")
# Sources that choose by primitives: of the language, backends, examples.
SOURCES = ("aten", "backends", "codegen", "examples", "lang", "model",
           "runtime")

PROBE = """#include <cstdio>
#include "aten/program/functors/environment.h"
#include "lang/primitive_operators.h"
#include "lang/program.h"
#include "lang/special/functions.h"

namespace sy {
namespace {
#include "aten/program/functors/arithmetic.inc"
#include "aten/program/functors/special.inc"

using lang::Prim;
constexpr const char* kSlopes[][4] = {
#define SY_I1_SLOPE
#define SY_J1_SLOPE
#define SY_PRIM(name, type, domain, value, call, ...) {"", ##__VA_ARGS__},
#include "lang/primitives.inc"
};

// The value of the table, and that of the functor.
template <Prim prim, class T, class F>
void show(const char* type, double (*)(T)) {
  const lang::PrimInfo& info = lang::kPrims[static_cast<int>(prim)];
  if constexpr (lang::kPrims[static_cast<int>(prim)].type ==
                lang::PrimType::T_T) {
    for (const double x : {POINTS}) {
      std::printf("%s\\t%s\\t%a\\t%a\\t%a\\n", info.name.data(), type, x,
                  lang::eval_uniform(prim, lang::Uniform::of(x)).d,
                  static_cast<double>(F::f(static_cast<T>(x))));
    }
  }
}
}  // namespace
}  // namespace sy

int main() {
  using namespace sy;
#define SHOW_f32(p, F) show<Prim::p, float, F>("f32", nullptr);
#define SHOW_f64(p, F) show<Prim::p, double, F>("f64", nullptr);
#define SHOW_u8(p, F)
#define SHOW_i8(p, F)
#define SHOW_i16(p, F)
#define SHOW_i32(p, F)
#define SHOW_i64(p, F)
#define SHOW_b8(p, F)
#define SY_FUNCTOR(p, type, F) SHOW_##type(p, F)
#define SY_LIST_ARITHMETIC
#define SY_LIST_SPECIAL
#include "aten/program/functors/list.inc"
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    const auto prim = static_cast<Prim>(p);
    std::printf("%s\\tslope\\t%s\\t%d\\n", lang::kPrims[p].name.data(),
                kSlopes[p][1] ? kSlopes[p][1] : "",
                lang::has_operators(prim));
  }
}
""".replace("POINTS", ", ".join(map(str, POINTS)))


def recipe():
    """The section of the page that says how a primitive is added."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.search(r"^## A primitive\n(.*?)^## ", page, re.S | re.M)[1]


def blocks():
    """(file, text) of each block; its first line is a comment with the file."""
    return re.findall(r"^```cpp\n// (\S+)\n(.*?)^```$", recipe(), re.S | re.M)


def follow(copy):
    """Puts the blocks into the copy's files."""
    for file, text in blocks():
        path = copy / file
        before = path.read_text(encoding="utf-8")
        at = list(re.finditer(BEFORE[file], before))[-1].start()
        path.write_text(before[:at] + text + "\n" + before[at:],
                        encoding="utf-8")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed:\n{done.stdout[:4000]}")
    return done.stdout


class FollowTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.copy = pathlib.Path(cls.folder.name)
        for part in ("aten/program", "backends/cuda", "lang"):
            shutil.copytree(ROOT / part, cls.copy / part)
        follow(cls.copy)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_table_knows_all_of_them(self):
        (self.copy / "probe.cpp").write_text(PROBE, encoding="utf-8")
        special = sorted((self.copy / "lang/special").glob("*.cpp"))
        run("g++", "-std=c++20", "-O0", "-w", "-ffp-contract=off",
            f"-I{self.copy}", "probe.cpp", "lang/uniform.cpp", *special, "-o",
            "probe", cwd=self.copy)
        rows = [line.split("\t") for line in run(self.copy / "probe")
                .splitlines()]
        expected = {"cube": lambda x: x**3,
                    "log_cosh": lambda x: math.log(math.cosh(x))}
        slopes = {r[0]: r[2:] for r in rows if r[1] == "slope"}
        for name in NAMES:
            shown = [r for r in rows if r[0] == name and r[1] != "slope"]
            self.assertEqual({r[1] for r in shown}, {"f32", "f64"}, name)
            for _, kind, *numbers in shown:
                x, value, functor = map(float.fromhex, numbers)
                self.assertAlmostEqual(value, expected[name](x), 12, name)
                self.assertAlmostEqual(functor, value,
                                       12 if kind == "f64" else 5, name)
            slope, operators = slopes[name]
            self.assertEqual(operators, "0", name)
            for x in POINTS:
                by = eval(slope, {"tanh": math.tanh}, {"g": 2, "x0": x})
                chord = (expected[name](x + 1e-5) -
                         expected[name](x - 1e-5)) / 1e-5
                self.assertAlmostEqual(by, chord, 6, name)

    def test_device_code_knows_all_of_them(self):
        device = self.copy / "backends/cuda/device"
        for source in sorted((self.copy / "lang/special").glob("*.cpp")):
            run(sys.executable, device / "functors/annotate.py",
                device / f"functors/special_{source.stem}.inc", source)
        (self.copy / "device.cpp").write_text(
            '#include "backends/cuda/engine/interpret.cu"\n' + "".join(
                f"static_assert(sy::cuda::type_of(sy::cuda::Prim::{name}) == "
                "sy::cuda::PrimType::T_T);\n" for name in NAMES),
            encoding="utf-8")
        for special in "01":
            run("g++", "-std=c++20", "-fsyntax-only", "-w", "-mavx2", "-mfma",
                "-DSY_CUDA_ON_HOST", "-DSY_ON_HOST_UNCHECKED", "-DSY_TYPE_f32",
                f"-DSY_SPECIAL={special}", "-include", "cuda_on_host.h",
                f"-I{ROOT / 'test/backends/cuda/fake'}", f"-I{device}",
                f"-I{device.parent}", f"-I{self.copy}", "device.cpp",
                cwd=self.copy)


class RecipeTest(unittest.TestCase):

    def test_it_names_every_place_that_names_primitives(self):
        text = recipe()
        asks = re.compile(r"(?:Prim::(?:{0})\b|\"(?:{0})\"|\((?:{0})[,)])"
                          .format("|".join(SAMPLES)))
        found = 0
        for top in SOURCES:
            for folder, _, files in os.walk(ROOT / top):
                for file in files:
                    path = pathlib.Path(folder, file)
                    if path.suffix not in (".h", ".cpp", ".inc", ".cuh", ".cu",
                                           ".py"):
                        continue
                    match = asks.search(path.read_text(encoding="utf-8"))
                    if not match:
                        continue
                    found += 1
                    name = path.relative_to(ROOT).as_posix()
                    if f"`{name}`" not in text and name not in BEFORE:
                        self.fail(f"{name} has {match[0]}: the recipe of a "
                                  "primitive in CONTRIBUTING.md does not name "
                                  "the file")
        self.assertGreater(found, 5)

    def test_its_places_exist(self):
        for name in re.findall(r"`([\w/]+/[\w.]*)`", recipe()):
            self.assertTrue((ROOT / name).exists(), name)
        for file, _ in blocks():
            self.assertTrue((ROOT / file).is_file(), file)
        self.assertEqual({file for file, _ in blocks()}, set(BEFORE))


if __name__ == "__main__":
    unittest.main()
