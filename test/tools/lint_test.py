"""Each rule of tools/lint.py fires on a bad file and not on a good one."""

import os
import tempfile
import unittest

import lint


def found_in(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return list(lint.problems(root))


def found(path, text):
    return found_in({path: text})


SHAPE = """- func: tril(Tensor self) -> Tensor
  dispatch: {CPU: tril_out, CompositeExplicitAutograd: tril_by_where}
- func: flip(Tensor self) -> Tensor
  dispatch:
    CPU: flip_out
  doc: Elements the other way round.
"""
KERNELS = """namespace sy::cpu {

void tril_out(const Tensor& self,
              const Tensor& out) {
  flip_out(self, out);
}

std::tuple<Tensor, Tensor>
flip_out(const Tensor& self) {
}

void only_declared(int);

}  // namespace sy::cpu
"""
TRIL = "Tensor tril_by_where(const Tensor& self) {\n}\n"


class LintTest(unittest.TestCase):

    def expect(self, path, text, *parts):
        problems = found(path, text)
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def expect_clean(self, path, text):
        self.assertEqual(found(path, text), [])

    def test_the_library_reads_its_environment_by_one_function(self):
        for call in ("std::getenv(\"A\")", "::getenv(name)", "getenv (n)"):
            self.expect("c10/a.cpp", f"const char* v = {call};\n",
                        "environment()")
        self.expect_clean("frontend/a.cpp", "// not getenv()\n")
        self.expect_clean("tools/sy/a.cpp", "auto v = std::getenv(\"A\");\n")
        self.expect_clean("c10/process/environment.h",
                          "#pragma once\nreturn ::secure_getenv(name);\n")

    def test_folders_of_sy_stand_on_those_before(self):
        def include(folder):
            return f'#include "tools/sy/{folder}/a.h"\n'
        for path in ("tools/sy/prove/b.cpp", "tools/sy/cases/b.cpp",
                     "tools/sy/main.cpp"):
            self.expect_clean(path, include("cases"))
        self.expect("tools/sy/cases/b.cpp", include("prove"),
                    "tools/sy/cases/ comes before", "need each other")
        for path, target in (("tools/sy/new/b.cpp", "cases"),
                             ("tools/sy/prove/b.cpp", "new")):
            self.expect(path, include(target), "tools/sy/new/", "SY_FOLDERS")

    def test_locks_are_free_in_children(self):
        for lock in ("std::mutex mutex_;", "static std::shared_mutex m;",
                     "new std::recursive_mutex;", "static std::once_flag f;"):
            self.expect("aten/a.cpp", lock + "\n", "child of fork")
        self.expect_clean("aten/a.cpp", "ForkMutex mutex_;\n")
        self.expect_clean("c10/process/parallel.cpp", "std::mutex mutex_;\n")

    def test_only_the_active_instruction_set_is_called(self):
        self.expect("backends/cpu/x.cpp",
                    "const K k[] = {N_AVX3::kernel<T>()};\n", "may not have")
        self.expect_clean("backends/cpu/x.cpp",
                          "constexpr F f[] = {&N_AVX3::run<T>};\n"
                          "case A: return N_AVX3::run(n);\n")

    def test_layers_point_downwards(self):
        good = {
            "c10/a.cpp": "c10/b.h", "c10/schema/a.cpp": "c10/schema/b.h",
            "aten/a.cpp": "lang/b.h", "autograd/a.cpp": "aten/b.h",
            "backends/x/a.cpp": "aten/b.h", "codegen/a.cpp": "c10/schema/b.h",
            "lang/a.cpp": "c10/schema/b.h", "codegen/b.cpp": "lang/b.h",
            "test/c10/a.cpp": "autograd/b.h",
        }
        for path, target in good.items():
            self.expect_clean(path, f'#include "{target}"\n')
        bad = {
            "c10/a.cpp": "aten/b.h", "c10/schema/a.cpp": "c10/b.h",
            "aten/a.cpp": "autograd/b.h", "aten/b.cpp": "backends/cpu/b.h",
            "autograd/a.cpp": "backends/cpu/b.h", "codegen/a.cpp": "c10/b.h",
            "lang/a.cpp": "codegen/b.h", "lang/b.cpp": "c10/b.h",
            "backends/x/a.cpp": "autograd/b.h",
            "backends/x/b.cpp": "backends/y/b.h",
        }
        for path, target in bad.items():
            self.expect(path, f'#include "{target}"\n', f"{path}:1: ", target)

    def test_a_layer_failure_says_why(self):
        self.expect("c10/a.cpp", '\n#include "aten/tensor.h"\n',
                    "c10/a.cpp:2: includes aten/tensor.h",
                    "the lowest layer and knows no operator")

    def test_heavy_headers(self):
        self.expect("c10/a.h", "#pragma once\n#include <map>\n", "a.h:2:",
                    "every user would pay")
        self.expect("aten/a.h", "#pragma once\n#include <fmt/core.h>\n",
                    "<fmt/core.h>")
        self.expect_clean("c10/a.cpp", "#include <map>\n")
        self.expect_clean("codegen/a.h", "#pragma once\n#include <map>\n")

    def test_relative_include(self):
        self.expect("c10/a.cpp", '#include "../c10/b.h"\n', "project's root")

    def test_sizes(self):
        self.expect_clean("c10/a.cpp", "\n" * 800)
        self.expect("c10/a.cpp", "\n" * 801, "has 801 lines", "by topic")
        self.expect_clean("README.md", "a\n" * 100)
        self.expect("README.md", "a\n" * 101, "has 101 lines", "docs/")
        self.expect_clean("aten/README.md", "a\n" * 30)
        self.expect("aten/README.md", "a\n" * 31, "has 31 lines", "docs/")

    def test_functions_have_at_most_a_hundred_lines(self):
        block = "  if (a) {\n#if B\n\n    b();\n#endif\n  }\n"
        for head, body, end in (
                ("TEST(A, B) {", block * 16 + "  c();\n" * 2, "}"),
                ("A::A(int b)\n    : b_(b) {", block * 16 + "  c();\n", "}"),
                ("class A {\n  int f() {", "    c();\n" * 98, "  }\n};")):
            self.expect_clean("c10/a.cpp", f"int a;\n{head}\n{body}{end}\n")
            self.expect("c10/a.cpp", f"int a;\n{head}\n\n{body}{end}\n",
                        "begins a function of 101 lines", "name its parts")
        rows = "  f(1),\n" * 200
        self.expect_clean("c10/a.cpp", f"const int kA[] = {{\n{rows}}};\n")

    def test_pragma_once(self):
        self.expect("c10/a.h", "int a;\n", "no #pragma once")

    def test_machine_paths(self):
        for top in ("home", "work", "tmp"):
            self.expect("c10/a.cpp", f"// see /{top}/someone/a\n", "fresh")
        self.expect_clean("c10/a.cpp", "// $" + "{x}/home/a, a/home/b\n")

    def test_the_functions_that_a_source_defines(self):
        self.assertEqual(lint.defined(KERNELS.splitlines()),
                         {"tril_out", "flip_out"})

    def test_kernels_are_in_files_of_their_family(self):
        files = {"schemas/ops/shape.yaml": SHAPE,
                 "schemas/ops/shape_more.yaml": "# none\n",
                 "backends/cpu/shape_flip.cpp": KERNELS,
                 "aten/composite/shape.cpp": TRIL}
        self.assertEqual(found_in(files), [])
        # A longer family's file is not that of a shorter one.
        moved = dict(files)
        moved["aten/composite/shape_more.cpp"] = \
            moved.pop("aten/composite/shape.cpp")
        problems = found_in(moved)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("schemas/ops/shape.yaml:2: names tril_by_where, which is "
                      "in aten/composite/shape_more.cpp", problems[0])
        self.assertIn("found without a search", problems[0])
        # Two families that share a kernel: it is with one of them.
        moved["schemas/ops/shape_more.yaml"] = \
            "  dispatch: {CompositeExplicitAutograd: tril_by_where}\n"
        self.assertEqual(found_in(moved), [])

    def test_a_kernel_without_a_definition(self):
        problems = found_in({"schemas/ops/shape.yaml": SHAPE,
                             "backends/cpu/shape.cpp": KERNELS})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("shape.yaml:2: names tril_by_where for "
                      "CompositeExplicitAutograd, which no file of "
                      "aten/composite/ defines", problems[0])

    def test_the_folder_of_a_backend_is_in_its_description(self):
        problems = found_in({
            "schemas/ops/a.yaml": "  dispatch: {Npu: a_out}\n",
            "backends/mine/backend.yaml": "backend: Npu\n",
            "backends/mine/b.cpp": "void a_out() {\n}\n"})
        self.assertEqual(len(problems), 2, problems)
        self.assertIn("backends/mine/b.cpp:1: is named after no family",
                      problems[0])
        self.assertIn("backends/mine/a.cpp or a_<topic>.cpp", problems[1])

    def test_kernels_that_a_backend_lists_are_in_files_of_their_family(self):
        tree = {
            "schemas/ops/a.yaml": "- func: f.Tensor(Tensor self) -> Tensor\n",
            "schemas/ops/b.yaml": "- func: g(Tensor self) -> Tensor\n",
            "backends/npu/backend.yaml":
                "backend: Npu\nsupported:\n"
                "  - f_.Tensor  # in place\n  - g: {dtypes: [float32]}\n",
            "backends/npu/a.cpp": "void f__Tensor() {\n}\n"}
        good = {**tree, "backends/npu/b_more.cpp": "void g() {\n}\n"}
        self.assertEqual(found_in(good), [])
        problems = found_in({**tree, "backends/npu/a.cpp":
                             "void f__Tensor() {\n}\nvoid g() {\n}\n"})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("backends/npu/backend.yaml:4: names g, which is in "
                      "backends/npu/a.cpp", problems[0])
        problems = found_in(tree)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("backends/npu/backend.yaml:4: names g for Npu, which no "
                      "file of backends/npu/ defines", problems[0])
        problems = found_in({**good, "backends/npu/group.cu": ""})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("backends/npu/group.cu:1: is named after no family",
                      problems[0])

    def test_no_backend_is_named_where_all_are_meant(self):
        npu = {"backends/npu/backend.yaml": "backend: Npu\n"}
        for path, text in (
                ("BUILD.bazel", 'deps = ["//backends/npu"]\n'),
                ("schemas/BUILD.bazel", '"backends/npu/{family}_gen.cpp",\n'),
                ("codegen/emit/a.cpp", 'f("backends/npu/");  // why\n')):
            problems = found_in({**npu, path: text})
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(f"{path}:1: names backends/npu: a backend costs a "
                          "folder", problems[0])
        self.assertEqual(found_in({
            **npu,
            "codegen/emit/a.cpp": "// Of backends/npu, say.\n",
            "backends/README.md": "backends/npu\n",
            "test/a.cpp": '"backends/npu"\n',
            "BUILD.bazel": '# backends/npu\n"backends/npus"\n'}), [])

    def test_paths_that_pages_name_are_there(self):
        tree = {"c10/a.h": "#pragma once\n", "c10/b/d.h": "#pragma once\n"}
        good = "`c10/a.h`, b/d.h, aten/none.h, `c10/x_gen.h`, c10/<name>.h\n" \
            "```\nc10/mine.h\n```\n"
        self.assertEqual(found_in({**tree, "c10/README.md": good}), [])
        problems = found_in({**tree, "docs/page.md": "\nsee (c10/c.h)\n"})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("docs/page.md:2: names c10/c.h, which is not there",
                      problems[0])

    def test_families_that_devices_skip_are_there(self):
        there = {"test/backends/sort_test.cpp": "",
                 "test/backends/skips_npu.txt":
                     "# a comment\nsort Sort.Rows fails it has no rows\n"}
        self.assertEqual(found_in(there), [])
        del there["test/backends/sort_test.cpp"]
        self.assertIn("skips_npu.txt:2: names the family sort",
                      found_in(there)[0])

    def test_a_family_of_two_backends_has_a_test(self):
        tree = {"schemas/ops/a.yaml": "", "schemas/ops/a_b.yaml": "",
                "backends/x/a.cpp": "", "backends/x/a_b.cpp": "",
                "backends/x/a_more.cpp": "", "backends/x/sub/a.cpp": ""}
        self.assertEqual(found_in(tree), [])
        tree["backends/y/a_own.cu"] = ""
        tree["test/backends/a_b_test.cpp"] = ""
        problems = found_in(tree)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("backends/y/a_own.cu:1: holds kernels of a, which 2 "
                      "backends have: test/backends/a_test.cpp", problems[0])
        tree["test/backends/a_more_test.cpp"] = ""
        self.assertEqual(found_in(tree), [])

    def test_todo(self):
        self.expect("c10/a.cpp", "// TO" + "DO later\n", "issue number")
        self.expect_clean("c10/a.cpp", "// TO" + "DO(#12) later\n")


if __name__ == "__main__":
    unittest.main()
