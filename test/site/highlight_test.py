"""Code in colours."""

import html
import re
import unittest

from highlight import highlighted


def shown(language, code):
    """Words that have a class, as "class word"."""
    return re.findall(r'<span class="(\w)">([^<]*)</span>',
                      highlighted(language, code).strip())


class Highlight(unittest.TestCase):
    def test_cpp_has_keywords_types_calls_and_literals(self):
        self.assertEqual(
            highlighted("cpp", "const sy::Tensor x = sy::add(a, 1.5e-3f);\n"),
            '<span class="k">const</span> sy::<span class="t">Tensor</span> '
            'x = sy::<span class="f">add</span>(a, <span class="n">1.5e-3f'
            "</span>);\n")
        self.assertEqual(shown("cpp", "R\"x(a\n\")x\"; /* b\n */ sy::kFloat"),
                         [("s", 'R"x(a\n")x"'), ("c", "/* b\n */"),
                          ("n", "kFloat")])

    def test_yaml_has_keys_and_expressions(self):
        self.assertEqual(
            shown("yaml", "- func: f(Tensor self) -> Tensor  # why\n"
                  "  doc: If it is, 1.\n"
                  "  pointwise: if a then exp(self) else 0\n"),
            [("k", "func"), ("f", "f"), ("t", "Tensor"), ("t", "Tensor"),
             ("c", "# why"), ("k", "doc"), ("k", "pointwise"), ("k", "if"),
             ("k", "then"), ("f", "exp"), ("k", "else"), ("n", "0")])

    def test_shell_has_commands_options_and_strings(self):
        self.assertEqual(
            shown("sh", "./sy test --full | grep 'a b'\nA=1 cc $X\n"),
            [("f", "./sy"), ("t", "--full"), ("f", "grep"), ("s", "'a b'"),
             ("n", "A"), ("n", "1"), ("f", "cc"), ("n", "$X")])

    def test_any_other_language_is_text(self):
        self.assertEqual(highlighted("text", 'if a < b & "c"'),
                         'if a &lt; b &amp; "c"')
        self.assertEqual(highlighted("", "return"), "return")

    def test_every_prefix_of_code_is_shown_whole(self):
        code = ("#include \"a\"\nR\"(x)\" 'c' \"s\\\"\" /* */ 0x1F'F ${A} - "
                "key: 'v'\n# c")
        for language in ("cpp", "python", "cmake", "yaml", "sh", "text"):
            for n in range(len(code) + 1):
                text = re.sub("<[^>]*>", "", highlighted(language, code[:n]))
                self.assertEqual(html.unescape(text).rstrip("\n"),
                                 code[:n].rstrip("\n"), language)


if __name__ == "__main__":
    unittest.main()
