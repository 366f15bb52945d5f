"""Guides as HTML: CommonMark with tables. Comments of HTML are left out, any
other HTML is shown as it is written."""

import re
from collections import namedtuple
from html import escape

from markdown_it import MarkdownIt

Code = namedtuple("Code", "language text")


class Section:
    """A heading and its text, up to the next heading, for search."""

    def __init__(self, level=0):
        self.level = level  # 1 of <h1>; 0 before the first heading
        self.id = self.title = ""
        self.text = ""  # of paragraphs, lists and tables, without code blocks


def slug(text):
    """As GitHub makes it: small letters, digits, - and _; a space becomes -."""
    return re.sub(r"[^\w-]", "", text.lower().replace(" ", "-"))


class Document:
    """`parts` are HTML and Code.

    `link(href, html, text, line, column)` gives the HTML in place of a link,
    `code_link(code)` the target of a name in `code`, or ""."""

    def __init__(self, path, text, link, code_link, problems):
        self.path, self.lines = path, text.split("\n")
        self.link, self.code_link, self.problems = link, code_link, problems
        self.sections, self.ids = [Section()], set()
        parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        # `link` says which addresses go.
        parser.validateLink = lambda _: True
        parser.normalizeLink = lambda address: address
        self.parts = self.blocks(parser.parse(text))

    @property
    def section(self):
        return self.sections[-1]

    def blocks(self, tokens):
        out = []
        for i, token in enumerate(tokens):
            if token.type == "inline":
                self.line = token.map[0]
                is_heading = tokens[i - 1].type == "heading_open"
                html, text = self.inline(token.children, is_heading)
                if is_heading:
                    out[-1] = self.heading(token, tokens[i - 1], html, text)
                else:
                    self.section.text += text + " "
                    out.append(html)
            elif not token.hidden:
                out.append(self.block(token))
        return out

    def block(self, token):
        kind, tag = token.type, token.tag
        if kind in ("fence", "code_block"):
            return Code(token.info.split(" ")[0] or "text", token.content)
        if kind == "html_block":
            if token.content.startswith("<!--"):
                return ""
            return (f'<pre tabindex="0"><code>{escape(token.content)}</code>'
                    "</pre>\n")
        if kind == "hr":
            return "<hr>\n"
        if kind == "table_open":
            return '<div class="scroll"><table>\n'
        if kind == "table_close":
            return "</table></div>\n"
        if token.nesting < 0:
            return f"</{tag}>" + ("" if tag in ("th", "td") else "\n")
        extra = {"blockquote": ' class="note"',
                 "th": ' scope="col"'}.get(tag, "")
        if kind == "paragraph_open" and self.is_lead():
            extra = ' class="lead"'
        if kind == "ordered_list_open" and "start" in token.attrs:
            extra = f' start="{token.attrs["start"]}"'
        breaks = tag in ("ul", "ol", "thead", "tbody", "blockquote")
        return f"<{tag}{extra}>" + ("\n" if breaks else "")

    def is_lead(self):
        """Whether a paragraph is the first one, which says what the page is
        about."""
        return len(self.sections) == 2 and self.section.level == 1 and \
            not self.section.text

    def heading(self, token, opening, html, text):
        self.sections.append(Section(int(opening.tag[1])))
        self.section.title = text
        plain = self.section.id = slug(text)
        n = 0
        while self.section.id in self.ids:
            n += 1
            self.section.id = f"{plain}-{n}"
        self.ids.add(self.section.id)
        return f'<{opening.tag} id="{escape(self.section.id)}">{html}'

    def place(self, address):
        """The line and column of an address in the block that is read."""
        for number in range(self.line, len(self.lines)):
            found = re.search(r"(?<=\]\()<?" + re.escape(address),
                              self.lines[number])
            if found:
                return number + 1, found.start() + 1
        return self.line + 1, 1

    def inline(self, tokens, in_heading):
        """The HTML and the text of a paragraph, a cell or a heading."""
        html, text = [[]], ""
        links = []  # (href, where its text begins)
        for token in tokens:
            kind, content = token.type, token.content
            if kind == "link_open":
                links.append((token.attrs["href"], len(text)))
                html.append([])
            elif kind == "link_close":
                href, begin = links.pop()
                inner = "".join(html.pop())
                html[-1].append(self.link(href, inner, text[begin:],
                                          *self.place(href)))
            elif kind == "code_inline":
                text += content
                code = f"<code>{escape(content)}</code>"
                to = "" if links or in_heading else self.code_link(content)
                html[-1].append(f'<a href="{escape(to)}">{code}</a>' if to
                                else code)
            elif kind == "image":
                src = token.attrs["src"]
                self.problems.error(f"the site has no images, got '{src}'",
                                    self.path, *self.place(src))
            elif kind == "softbreak":
                text += " "
                html[-1].append("\n")
            elif kind == "hardbreak":
                html[-1].append("<br>\n")
            elif token.tag:
                html[-1].append(f"<{'/' * (token.nesting < 0)}{token.tag}>"
                                .replace("<s>", "<del>")
                                .replace("</s>", "</del>"))
            elif not (kind == "html_inline" and content.startswith("<!--")):
                text += content
                html[-1].append(escape(content))
        return "".join(html[0]), text
