"""Tests the site as far as no browser is needed.

Environment: SITE, a folder that `sygen site` wrote of SCHEMAS; SYGEN.
"""

import collections
import html
import html.parser
import json
import os
import posixpath
import re
import subprocess
import tempfile
import unittest

SITE, SYGEN, SCHEMAS = (os.environ[n] for n in ("SITE", "SYGEN", "SCHEMAS"))
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta"}
MOST_BYTES = 100_000
LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src",
         "use": "href", "image": "href", "source": "src", "video": "src"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.problems = [], []
        self.ids, self.links, self.loads = [], [], []
        self.counts = collections.Counter()
        self.lang = self.title = ""
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.problems.append(f"{self.getpos()}: an attribute twice: {tag}")
        attrs = dict(attrs)
        self.counts[tag] += 1
        if tag == "a" and "a" in self.open:
            self.problems.append(f"{self.getpos()}: a link in a link")
        if tag == "html":
            self.lang = attrs.get("lang")
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if tag in LOADS and LOADS[tag] in attrs:
            self.loads.append(attrs[LOADS[tag]])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"{self.getpos()}: </{tag}> in {self.open}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["title"] and "svg" not in self.open:
            self.title += data


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_of(folder):
    return {os.path.relpath(os.path.join(at, name), folder)
            for at, _, names in os.walk(folder) for name in names}


def broken(folder):
    """Yields what is wrong with the pages of a site."""
    files = files_of(folder)
    pages = {path: Page(read(os.path.join(folder, path)))
             for path in sorted(files) if path.endswith(".html")}
    titles = collections.Counter(page.title for page in pages.values())
    for path, page in pages.items():
        for problem in page.problems[:3]:
            yield f"{path}: {problem}"
        for name, count in collections.Counter(page.ids).items():
            if count > 1:
                yield f"{path}: id {name} {count} times"
        if page.lang != "en" or not page.title or titles[page.title] > 1:
            yield f"{path}: language {page.lang}, title {page.title}"
        for tag in ("h1", "main", "header"):
            if page.counts[tag] != 1:
                yield f"{path}: {page.counts[tag]} <{tag}>"
        size = os.path.getsize(os.path.join(folder, path))
        if size > MOST_BYTES:
            yield f"{path}: {size} bytes"
        for target in page.links + page.loads:
            if re.match(r"[a-z]+:", target):
                if target in page.loads or not target.startswith("https://"):
                    yield f"{path}: {target}"
                continue
            file, _, place = target.partition("#")
            to = posixpath.normpath(posixpath.join(
                posixpath.dirname(path), file)) if file else path
            if to not in files:
                yield f"{path}: leads to {target}, which does not exist"
            elif place and place not in pages[to].ids:
                yield f"{path}: leads to {target}, no such place"
    for path in files:
        if path.endswith((".css", ".svg")):
            text = read(os.path.join(folder, path))
            if re.search(r"url\(|@import|(?<!xmlns=\")https?:", text):
                yield f"{path}: loads something"


def search_data(folder):
    text = read(os.path.join(folder, "assets/search.js"))
    return json.loads(text[len("site_data("):-len(");\n")])


class Site(unittest.TestCase):
    def test_pages_are_whole_and_every_link_leads_somewhere(self):
        self.assertEqual(list(broken(SITE))[:20], [])

    def test_every_operator_has_a_page_and_is_found(self):
        names = subprocess.run([SYGEN, "print", *schema_files()], check=True,
                               capture_output=True, text=True).stdout
        names = {re.match(r"(?:\w+::)?(\w+)", line)[0]
                 for line in names.splitlines()}
        found = search_data(SITE)["operators"]
        self.assertGreater(len(found), 900)
        known = set()
        for name, path, family, sentence, more in found:
            known |= {name, *more.split()}
            self.assertTrue(os.path.exists(os.path.join(SITE, path)), path)
            self.assertTrue(os.path.exists(
                os.path.join(SITE, f"families/{family}.html")), family)
        self.assertEqual(sorted(names - known), [])

    def test_every_heading_of_a_guide_is_found(self):
        found = {path for _, path, _, _ in search_data(SITE)["guides"]}
        for path in sorted(files_of(SITE)):
            if path.startswith("guides/"):
                text = read(os.path.join(SITE, path))
                for place in re.findall(r'<h[23] id="([^"]+)"', text):
                    self.assertIn(f"{path}#{place}", found)

    def test_start_page_has_figures_doors_and_the_first_program(self):
        text = read(os.path.join(SITE, "index.html"))
        self.assertIn(f"<dd>{len(search_data(SITE)['operators'])}</dd>", text)
        self.assertEqual(text.count('class="card"'), 4)
        here = os.path.dirname(os.path.abspath(__file__))
        shown = html.unescape(re.sub(r"<[^>]+>", "", text))
        for name in ("first.cpp", "first.txt"):
            lines = read(os.path.join(here, name)).splitlines()
            for line in filter(None, lines):
                self.assertIn(line, shown)


def schema_files():
    folder = os.path.join(SCHEMAS, "ops")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


class Checker(unittest.TestCase):
    """The test itself sees mistakes."""

    def test_mistakes_are_seen(self):
        frame = ('<html lang="en"><title>{}</title><header></header>'
                 "<main><h1>a</h1>{}</main></html>")
        bad = {"<p>": "not closed", "<b><i></b></i>": "</b>",
               '<a href="x.html">x</a>': "does not exist",
               '<a href="#y">x</a>': "no such place",
               '<i id="a"></i><i id="a"></i>': "2 times",
               '<img src="https://a/b.png">': "https://a/b.png",
               "<h1>b</h1>": "2 <h1>", "x" * MOST_BYTES: "bytes",
               '<a href="#a" id="a"><a href="#a">b</a></a>': "in a link"}
        for body, problem in bad.items():
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "a.html"), "w",
                          encoding="utf-8") as file:
                    file.write(frame.format("t", body))
                self.assertIn(problem, "\n".join(broken(folder)), body[:50])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.html"), "w",
                      encoding="utf-8") as file:
                file.write(frame.format("t", '<a href="#b" id="b">c</a>'))
            self.assertEqual(list(broken(folder)), [])


class Others(unittest.TestCase):
    """Libraries outside the tree, and mistakes on the command line."""

    def sygen(self, folder, *options):
        return subprocess.run([SYGEN, "site", folder, *options],
                              cwd=os.path.dirname(SCHEMAS),
                              capture_output=True, text=True, check=False)

    def test_library_without_guides_has_a_site(self):
        with tempfile.TemporaryDirectory() as folder:
            schema = os.path.join(folder, "mine.yaml")
            with open(schema, "w", encoding="utf-8") as file:
                file.write("- func: mine::bump(Tensor self) -> Tensor\n"
                           "  doc: One more.\n"
                           "  promote: int_to_float\n"
                           "  pointwise: exp(-square(self))\n"
                           "  derivative: {self: auto}\n"
                           "- func: mine::twice(Tensor self) -> Tensor\n"
                           "  doc: Two of it.\n"
                           "  composite: add(bump(self), bump(self))\n")
            site = os.path.join(folder, "site")
            run = self.sygen(site, "--with", schema, "--title", "Mine & more")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, r"site/index.html, \d+ files\n")
            self.assertEqual(list(broken(site)), [])
            text = read(os.path.join(site, "index.html"))
            self.assertIn("<h1>Mine &amp; more</h1>", text)
            # Its own operators and no others, which are named only.
            own = ["mine::bump", "mine::twice"]
            self.assertEqual(
                [o[0] for o in search_data(site)["operators"]], own)
            self.assertEqual(sorted(os.listdir(os.path.join(site, "ops"))),
                             ["mine.bump.html", "mine.twice.html"])
            self.assertIn("<code>add</code>",
                          read(os.path.join(site, "ops/mine.twice.html")))
            # The library's files may be named too.
            again = os.path.join(folder, "again")
            run = self.sygen(again, "--with", schema, SCHEMAS)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(
                [o[0] for o in search_data(again)["operators"]], own)

    def test_files_that_do_not_exist_are_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            run = self.sygen(folder, "--with", SCHEMAS, "/none")
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr, "sygen: error: --with /none: "
                                         "no schema files\n")
            for options in (["--guides", "/none"], ["--facts", "/none"],
                            ["--timings", "/none"]):
                run = self.sygen(folder, "--with", SCHEMAS, *options)
                self.assertEqual(run.returncode, 1, options)
                self.assertIn("/none", run.stderr)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
