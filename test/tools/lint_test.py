"""Each rule of tools/lint.py fires on a bad file and not on a good one."""

import os
import tempfile
import unittest

import lint


def found(path, text):
    with tempfile.TemporaryDirectory() as root:
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        return list(lint.problems(root))


class LintTest(unittest.TestCase):

    def expect(self, path, text, *parts):
        problems = found(path, text)
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def expect_clean(self, path, text):
        self.assertEqual(found(path, text), [])

    def test_layers_point_downwards(self):
        good = {
            "c10/a.cpp": "c10/b.h", "c10/schema/a.cpp": "c10/schema/b.h",
            "aten/a.cpp": "codegen/lang/b.h", "autograd/a.cpp": "aten/b.h",
            "backends/x/a.cpp": "aten/b.h", "codegen/a.cpp": "c10/schema/b.h",
            "test/c10/a.cpp": "autograd/b.h",
        }
        for path, target in good.items():
            self.expect_clean(path, f'#include "{target}"\n')
        bad = {
            "c10/a.cpp": "aten/b.h", "c10/schema/a.cpp": "c10/b.h",
            "aten/a.cpp": "autograd/b.h", "aten/b.cpp": "backends/cpu/b.h",
            "autograd/a.cpp": "backends/cpu/b.h", "codegen/a.cpp": "c10/b.h",
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

    def test_pragma_once(self):
        self.expect("c10/a.h", "int a;\n", "no #pragma once")

    def test_machine_paths(self):
        for top in ("home", "work", "tmp"):
            self.expect("c10/a.cpp", f"// see /{top}/someone/a\n", "fresh")
        self.expect_clean("c10/a.cpp", "// $" + "{x}/home/a, a/home/b\n")

    def test_todo(self):
        self.expect("c10/a.cpp", "// TO" + "DO later\n", "issue number")
        self.expect_clean("c10/a.cpp", "// TO" + "DO(#12) later\n")


if __name__ == "__main__":
    unittest.main()
