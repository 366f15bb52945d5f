"""From templates to files."""

import os
import re
import shutil
import sys
import textwrap
from html import escape
from multiprocessing import get_context

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

import words
from dtypes import DtypeTable
from highlight import highlighted
from page import Page, link
from pictures.calls import calls_svg
from pictures.curves import curves_svg
from pictures.dispatch import dispatch_svg
from pictures.flow import flow_svg
from reference import in_order
from search import search_data

HERE = os.path.dirname(os.path.abspath(__file__))


def inline(text):
    """Text with `code` in it."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>",
                         escape(text, quote=False)))


def commented(text):
    """As // comments of at most 80 columns."""
    return textwrap.fill(text, 80, initial_indent="// ",
                         subsequent_indent="// ", break_long_words=False,
                         break_on_hyphens=False)


def without_tags(html):
    return re.sub("<[^>]*>", "", html)


def with_links(body):
    """The body with an id and a link at each <h2> and <h3>, and these as
    (level, id, html)."""
    headings, ids = [], set()

    def link_to(match):
        level, attributes, text = match.groups()
        before = body[:match.start()]
        if before.rfind("<a ") > before.rfind("</a>"):
            return match[0]  # the heading of a card
        found = re.search(' id="([^"]*)"', attributes)
        name = found and found[1]
        if not name:
            plain = name = re.sub("[^a-z0-9]+", "-",
                                  without_tags(text).lower()).strip("-")
            number = 1
            while name in ids:
                number += 1
                name = f"{plain}-{number}"
            attributes += f' id="{name}"'
        ids.add(name)
        headings.append((level, name, Markup(without_tags(text))))
        return (f"<h{level}{attributes}>{text} <a class=\"permalink\" "
                f'href="#{name}" aria-label="Link to this section">#</a>'
                f"</h{level}>")
    body = re.sub(r"<h([23])([^>]*)>(.*?)</h\1>", link_to, body,
                  flags=re.DOTALL)
    return Markup(body), headings


def environment():
    out = Environment(loader=FileSystemLoader(os.path.join(HERE, "templates")),
                      autoescape=True, trim_blocks=True, lstrip_blocks=True,
                      auto_reload=False)
    out.filters.update(
        inline=inline, commented=commented, in_order=in_order,
        time=words.time_text,
        highlighted=lambda code, language: highlighted(language, code),
        sentence=lambda text: words.first_sentence(text)[0])
    out.globals.update(words=words, DtypeTable=DtypeTable)
    return out


class Site:
    def __init__(self, title, reference, guides):
        self.title, self.reference, self.guides = title, reference, guides
        self.environment = environment()
        self.navigations = {}
        pages = [g.page for g in guides.guides]
        for before, after in zip(pages, pages[1:]):
            before.after, after.before = after, before
        self.sections = {}  # of the navigation
        for g in guides.guides:
            self.sections.setdefault(g.section, []).append(g.page)

    def pages(self):
        """(template, page)."""
        reference = self.reference
        start = Page("index.html", self.title,
                     self.guides.says or "Operators: what they do.")
        yield "start.html", start
        yield from (("guide.html", g.page) for g in self.guides.guides)
        yield from (("operator.html", p) for p in reference.operator_pages())
        yield from (("family.html", p) for p in reference.family_pages())
        count, families = len(reference.names), len(reference.families)
        yield "operators.html", Page(
            "operators.html", "Operators",
            f"{count} operator{'' if count == 1 else 's'} in {families} "
            f"{'family' if families == 1 else 'families'}.")

    def values(self, page):
        """The names that templates know."""
        return {"site": self, "page": page, "reference": self.reference,
                "to": lambda path: link(page.path, path)}

    def body(self, template, page):
        values = self.values(page)
        if template == "operator.html":
            values["pictures"] = Pictures(self.reference, page.named)
        return self.environment.get_template(template).render(values)

    def render(self, template, page):
        """The whole HTML of a page: its body in the frame."""
        body, headings = with_links(self.body(template, page))
        values = self.values(page)
        # "On this page" is worth it from two headings on.
        return self.environment.get_template("frame.html").render(
            values, body=body, headings=headings if len(headings) > 1 else [],
            navigation=self.navigation(page, values))

    def navigation(self, page, values):
        is_reference = bool(page.family) or page.path == "operators.html"
        key = (page.path.rpartition("/")[0], page.family, is_reference)
        if key not in self.navigations:
            self.navigations[key] = self.environment.get_template(
                "navigation.html").render(values, family=page.family,
                                          is_reference=is_reference)
        own = f'href="{escape(values["to"](page.path))}"'
        return Markup(self.navigations[key].replace(
            f"<a {own}>", f'<a {own} aria-current="page">'))

    def write(self, folder):
        """Writes all files and returns their number."""
        for name in ("assets", "families", "guides", "ops"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        assets = os.listdir(os.path.join(HERE, "assets"))
        for name in assets:
            shutil.copyfile(os.path.join(HERE, "assets", name),
                            os.path.join(folder, "assets", name))
        write_file(os.path.join(folder, "assets/search.js"),
                   search_data(self.reference, self.guides))
        pages = list(self.pages())
        # Processes that are forked know the site already.
        count = len(os.sched_getaffinity(0))
        workers = [get_context("fork").Process(target=self.write_pages,
                                               args=(folder, pages[k::count]))
                   for k in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if any(worker.exitcode for worker in workers):
            sys.exit(1)
        return len(assets) + 1 + len(pages)

    def write_pages(self, folder, pages):
        for template, page in pages:
            write_file(os.path.join(folder, page.path),
                       self.render(template, page))


def write_file(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Pictures:
    """The pictures of one operator's page, "" where there is nothing to
    draw."""

    def __init__(self, reference, named):
        self.reference, self.named = reference, named

    def curves(self, facts):
        return Markup(curves_svg(self.named.name, facts.get("curves", {})))

    def dispatch(self, facts):
        return Markup(dispatch_svg(facts.get("dispatch", ())))

    def flow(self, op):
        """As the schema says or else as running it tells."""
        flows = (op["flow"], self.reference.flow(op))
        return Markup(next(filter(None, map(flow_svg, filter(None, flows))),
                           ""))

    def calls(self, op):
        def address_of(page):
            return f"{page}.html" if page in self.reference.by_page else ""
        return Markup(calls_svg(op["name"], op["graph"], address_of)
                      if op["graph"] else "")
