"""Guides: their list, their Markdown, their links."""

import os
import tempfile
import unittest

from guides import Guides
from problems import Problems
from render import Site
from reference import Reference

NOTHING = {"version": 1, "families": [], "others": []}


class GuidesTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.problems = Problems()
        self.write("docs/a.md", "# A\n\nFirst.\n\n## Part one\n\nText.\n")

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def list(self, lines):
        """guides.txt with these lines behind one for a.md."""
        self.write("docs/guides.txt", "a.md: A: About a.\n" + lines)

    def read(self):
        guides = Guides(os.path.join(self.root, "docs"), self.problems)
        guides.read(lambda name: f"ops/{name}.html"
                    if name in ("cumsum", "add", "mine::bump") else "")
        return guides

    def body(self, markdown):
        self.write("docs/b.md", markdown)
        self.list("b.md: B: About b.\n")
        guides = self.read()
        self.assertEqual(self.errors(), [])
        site = Site("S", Reference(NOTHING, {}, []), guides)
        return site.body("guide.html", guides.guides[1].page).rstrip("\n")

    def errors(self):
        return [line.replace(self.root + "/", "")
                for line in self.problems.lines() if ": error: " in line]

    def test_list_gives_order_sections_and_the_start_page(self):
        self.write("README.md", "# R\n")
        self.write("x.cpp", "int main() {}\n")
        self.write("x.txt", "7\n")
        self.list("# a comment\n\nname: Yard\nsays: So: it is.\n"
                  "program: ../x.cpp\noutput: ../x.txt\n"
                  "door: a.md#part-one: Go: In: side.\n"
                  "door: operators.html: Look: Up.\nsection: More\n"
                  "../README.md: Read: It first.\n")
        guides = self.read()
        self.assertEqual(self.errors(), [])
        self.assertEqual((guides.name, guides.says, guides.program,
                          guides.output),
                         ("Yard", "So: it is.", "int main() {}\n", "7\n"))
        self.assertEqual([(d.target, d.title, d.sentence)
                          for d in guides.doors],
                         [("guides/a.html#part-one", "Go", "In: side."),
                          ("operators.html", "Look", "Up.")])
        self.assertEqual([(g.page.path, g.page.summary, g.section,
                           g.page.source) for g in guides.guides],
                         [("guides/a.html", "About a.", "Guides", "docs/a.md"),
                          ("guides/readme.html", "It first.", "More",
                           "README.md")])

    def test_without_a_list_all_files_are_guides(self):
        self.write("docs/b_c.md", "# B\n")
        self.assertEqual([(g.page.title, g.page.source)
                          for g in self.read().guides],
                         [("a", "docs/a.md"), ("b_c", "docs/b_c.md")])

    def test_markdown_becomes_html(self):
        self.assertEqual(
            self.body("# B\n\nFirst *a* & <b>.\n\n<!-- file: x -->\n## C `d`\n\n"
                      "- e\n\n3. f ~~g~~\n\n> h\n\n```cpp\nint f;\n```\n\n"
                      "| g |\n|---|\n| `h` |\n"),
            '<h1 id="b">B</h1>\n<p class="lead">First <em>a</em> &amp; '
            '&lt;b&gt;.</p>\n<h2 id="c-d">C <code>d</code></h2>\n<ul>\n'
            '<li>e</li>\n</ul>\n<ol start="3">\n<li>f <del>g</del></li>\n</ol>\n'
            '<blockquote class="note">\n<p>h</p>\n</blockquote>\n'
            '<pre tabindex="0"><code class="language-cpp">'
            '<span class="k">int</span> f;\n</code></pre>\n<div '
            'class="scroll"><table>\n<thead>\n<tr><th scope="col">g</th>'
            "</tr>\n</thead>\n<tbody>\n<tr><td><code>h</code></td></tr>\n"
            "</tbody>\n</table></div>")

    def test_links_lead_to_pages_or_show_paths(self):
        self.write("src/x.h", "")
        self.assertEqual(
            self.body("[a](a.md#part-one) [b](#end) [w](https://x.y/?a&b) "
                      "[x.h](../src/x.h) [it](../src/x.h)\n\n## End\n"),
            '<p><a href="a.html#part-one">a</a> <a href="#end">b</a> <a '
            'href="https://x.y/?a&amp;b">w</a> <code>src/x.h</code> it '
            '(<code>src/x.h</code>)</p>\n<h2 id="end">End</h2>')

    def test_names_of_operators_are_links_once(self):
        self.assertEqual(
            self.body("`sy::cumsum(x, 0)` `cumsum` `add` `add(a, b)` "
                      "`mine::bump` `cumsum + 1`\n"),
            '<p><a href="../ops/cumsum.html"><code>sy::cumsum(x, 0)</code></a> '
            '<code>cumsum</code> <code>add</code> <a href="../ops/add.html">'
            '<code>add(a, b)</code></a> <a href="../ops/mine::bump.html">'
            "<code>mine::bump</code></a> <code>cumsum + 1</code></p>")

    def test_links_to_nothing_are_errors(self):
        self.write("docs/b.md", "# B\n\nText [x](none.md)\nand "
                   "[y](a.md#no-part),\n\n[z](#here) [j](javascript:x)\n")
        self.list("b.md: B: About b.\ndoor: a.md#gone: G: H.\n")
        self.read()
        self.assertEqual(self.errors(), [
            "docs/b.md:3:10: error: links to 'none.md', which does not exist",
            "docs/b.md:6:16: error: links to 'javascript:x': expected https:, "
            "http:, mailto: or a file",
            "docs/b.md:4:9: error: links to a heading that does not exist: "
            "guides/a.html#no-part",
            "docs/b.md:6:5: error: links to a heading that does not exist: "
            "guides/b.html#here",
            "docs/guides.txt:3:1: error: links to a heading that does not "
            "exist: guides/a.html#gone"])

    def test_errors_quote_the_line(self):
        self.list("nonsense\n")
        self.read()
        self.assertEqual(list(self.problems.lines())[1:], ["  nonsense", "  ^"])

    def test_mistakes_in_the_list_are_errors(self):
        self.write("docs/new.md", "# N\n")
        self.write("docs/A.md", "# A\n")
        self.list("b.md: B: About b.\nnonsense\nA.md: A: Again.\n"
                  "program: x.cpp\ndoor: b.html: B: C.\na.md: only a title\n")
        self.read()
        expected = ("expected name, says, program, output, section or door: …, "
                    "or FILE.md: Title: A sentence., got ")
        place = "docs/guides.txt:{}:1: error: ".format
        self.assertEqual(self.errors(), [
            place(2) + "there is no file 'docs/b.md'",
            place(3) + expected + "'nonsense'",
            place(4) + "'docs/a.md' and 'docs/A.md' would be one page, "
            "guides/a.html",
            place(5) + "there is no file 'docs/x.cpp'",
            place(7) + expected + "'a.md: only a title'",
            place(6) + "a door leads to a guide of this list or to "
            "operators.html, got 'b.html'",
            place(7) + "'docs/A.md' is not in this list: add FILE.md: Title: A "
            "sentence.",
            place(7) + "'docs/new.md' is not in this list: add FILE.md: Title: "
            "A sentence."])

    def test_images_and_folders_that_are_none_are_errors(self):
        self.write("docs/a.md", "# A\n\n![p](p.png)\n")
        self.list("")
        self.read()
        Guides(os.path.join(self.root, "gone/"), self.problems)
        self.assertEqual(self.errors(), [
            "docs/a.md:3:6: error: the site has no images, got 'p.png'",
            "gone: error: is no folder of guides"])


if __name__ == "__main__":
    unittest.main()
