"""A folder of guides, as its guides.txt describes it. Lines are

    name: Switchyard                what the site is about
    says: Two sentences.            on the start page
    program: FILE, output: FILE     a first program and what it prints
    door: FILE.md#part: Title: A sentence.      a file of the list, or
    door: operators.html: Title: A sentence.    a page of the site
    section: Title                  of the guides that follow
    FILE.md: Title: A sentence.

and comments with #. Paths are relative to the folder. Without the file, all .md
files of the folder by name.
"""

import os
import re
from html import escape

from document import Document
from page import Page, link


class Guide:
    def __init__(self, file, source, title, sentence, section):
        self.file = file  # to read: "docs/../README.md"
        stem = os.path.splitext(os.path.basename(file))[0].lower()
        self.page = Page(f"guides/{stem}.html", title, sentence, source=source)
        self.section = section  # of the navigation
        self.sections = []  # of the text


class Door:
    """A link from the start page to a page that most people look for."""

    def __init__(self, target, title, sentence, line):
        self.target, self.title, self.sentence = target, title, sentence
        self.line = line


class Guides:
    def __init__(self, folder=None, problems=None):
        self.name = self.says = self.program = self.output = ""
        self.doors, self.guides = [], []
        self.problems, self.section = problems, "Guides"
        if folder is None:
            return
        self.folder = folder.rstrip("/") or "/"
        self.root = os.path.dirname(os.path.abspath(self.folder))
        self.list = f"{self.folder}/guides.txt"
        if not os.path.isdir(self.folder):
            problems.error("is no folder of guides", self.folder)
        elif os.path.exists(self.list):
            self.read_list()
        else:
            for file in self.files():
                self.add(file, os.path.basename(file)[:-len(".md")], "", 0)

    def files(self):
        return sorted(f"{self.folder}/{name}"
                      for name in os.listdir(self.folder)
                      if name.endswith(".md"))

    def error(self, line, text):
        self.problems.error(text, self.list, line, 1)

    def read_list(self):
        lines = (self.problems.read(self.list) or "").splitlines()
        for number, text in enumerate(lines, 1):
            if text.strip() and not text.strip().startswith("#"):
                self.read_line(number, text.strip())
        for door in self.doors:
            self.find_target(door)
        listed = {os.path.normpath(g.file) for g in self.guides}
        for file in self.files():
            if os.path.normpath(file) not in listed and \
                    not file.endswith("/README.md"):
                self.error(len(lines), f"'{file}' is not in this list: add "
                           "FILE.md: Title: A sentence.")

    def read_line(self, number, text):
        key, *rest = (part.strip() for part in text.split(": ", 1))
        value = rest[0] if rest else ""
        parts = [part.strip() for part in value.split(": ")]
        if key in ("name", "says") and value:
            setattr(self, key, value)
        elif key in ("program", "output") and value:
            path = f"{self.folder}/{value}"
            if not self.is_missing(number, path):
                setattr(self, key, self.problems.read(path) or "")
        elif key == "section" and value:
            self.section = value
        elif key == "door" and len(parts) > 2:
            self.doors.append(Door(*value.split(": ", 2), number))
        elif key.endswith(".md") and len(parts) > 1:
            path = f"{self.folder}/{key}"
            if not self.is_missing(number, path):
                self.add(path, *value.split(": ", 1), number)
        else:
            self.error(number, "expected name, says, program, output, section "
                       "or door: …, or FILE.md: Title: A sentence., got "
                       f"'{text}'")

    def is_missing(self, number, path):
        if os.path.exists(path):
            return False
        self.error(number, f"there is no file '{path}'")
        return True

    def source_of(self, file):
        """"README.md" of "docs/../README.md"."""
        return os.path.relpath(os.path.abspath(file), self.root)

    def add(self, file, title, sentence, line):
        guide = Guide(file, self.source_of(file), title, sentence, self.section)
        for other in self.guides:
            if other.page.path == guide.page.path:
                return self.error(line, f"'{other.file}' and '{file}' would be "
                                  f"one page, {guide.page.path}")
        self.guides.append(guide)

    def find_target(self, door):
        file, mark, place = door.target.partition("#")
        path = os.path.normpath(f"{self.folder}/{file}")
        for guide in self.guides:
            if os.path.normpath(guide.file) == path:
                door.target = guide.page.path + mark + place
                return
        if door.target != "operators.html":
            self.error(door.line, "a door leads to a guide of this list or to "
                       f"operators.html, got '{door.target}'")

    def read(self, operator_page):
        """Reads the guides. `operator_page` gives the page of an operator of
        that C++ name ("cumsum", "mine::bump"), or "". A link to a file that is
        no guide is shown as its path."""
        by_file = {os.path.normpath(g.file): g for g in self.guides}
        wanted = []  # (target, path, line, column)
        for guide in self.guides:
            Reader(self, guide, by_file, operator_page, wanted).run()
        wanted += [(d.target, self.list, d.line, 1) for d in self.doors
                   if d.target.startswith("guides/")]
        places = {g.page.path for g in self.guides}
        for g in self.guides:
            places |= {f"{g.page.path}#{s.id}" for s in g.sections}
        for target, *at in wanted:
            if target not in places:
                self.problems.error("links to a heading that does not exist: "
                                    f"{target}", *at)


def called(code):
    """"cumsum" of "sy::cumsum(x, 0)", "sy::cumsum" and "cumsum"; or ""."""
    found = re.fullmatch(r"(sy::)?([\w:]+)(\(.*\))?", code, re.DOTALL)
    if not found:
        return ""
    qualified, name, call = found.groups()
    # A short word may mean anything.
    return name if qualified or call or len(name) >= 5 else ""


class Reader:
    """Reads one guide."""

    def __init__(self, guides, guide, by_file, operator_page, wanted):
        self.guides, self.guide, self.by_file = guides, guide, by_file
        self.operator_page, self.wanted = operator_page, wanted
        self.linked = set()

    def run(self):
        text = self.guides.problems.read(self.guide.file)
        document = Document(self.guide.file, text or "", self.link,
                            self.code_link, self.guides.problems)
        self.guide.page.parts = document.parts
        self.guide.sections = document.sections

    def code_link(self, code):
        name = called(code)
        to = self.operator_page(name) if name else ""
        # A page links to a target once.
        if not to or to in self.linked:
            return ""
        self.linked.add(to)
        return link(self.guide.page.path, to)

    def link(self, href, html, text, *at):
        def anchor(to):
            return f'<a href="{escape(to)}">{html}</a>'
        if href.startswith(("https://", "http://", "mailto:")):
            return anchor(href)
        at = (self.guide.file, *at)
        # A browser may take this part for a scheme, such as `javascript:`.
        if ":" in re.split("[/#?]", href)[0]:
            self.guides.problems.error(f"links to '{href}': expected https:, "
                                       "http:, mailto: or a file", *at)
            return html
        path, mark, place = href.partition("#")
        if not path:
            self.wanted.append((self.guide.page.path + href, *at))
            return anchor(href)
        file = os.path.normpath(os.path.join(os.path.dirname(self.guide.file),
                                             path))
        if file in self.by_file:
            to = self.by_file[file].page.path
            self.wanted.append((to + mark + place, *at))
            return anchor(link(self.guide.page.path, to) + mark + place)
        if not os.path.exists(file):
            self.guides.problems.error(
                f"links to '{href}', which does not exist", *at)
            return html
        source = self.guides.source_of(file)
        shown = f"<code>{escape(source)}</code>"
        return shown if source.endswith(text) else f"{html} ({shown})"
