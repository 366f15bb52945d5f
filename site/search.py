"""assets/search.js, which site.js loads when somebody begins to search."""

import json
import re

from reference import prefix

COMMON = set("""
a all also an and are as at be but by can do does each else for from has have if
in into is it its may more no not of on one only or other so than that the their
them then there they this to what when where which with without you
""".split())


def words_of(text):
    """Each word once, without those that say nothing."""
    found = set(re.findall(r"\w\w+", text.lower(), re.ASCII))
    return " ".join(sorted(found - COMMON))


def search_data(reference, guides):
    """A call
      site_data({"operators": [[name, path, family, sentence, more names]],
                 "guides": [[heading, path, guide, words]]});
    `guide` is the title of the guide that has the heading; for its own title,
    it is the sentence about the guide. `words` stand below the heading."""
    operators, parts = [], []
    for n in sorted(reference.names, key=lambda n: n.path):
        calls = {prefix(o) + form["call"] for o in n.operators
                 for form in o["forms"]}
        operators.append([n.name, n.path, n.family.name, n.doc,
                          " ".join(sorted(calls - {n.name}))])
    for guide in guides.guides:
        page = guide.page
        for s in guide.sections:
            if s.level == 0 and not s.text:
                continue
            own = s.level <= 1
            parts.append([page.title if own else s.title,
                          page.path if own else f"{page.path}#{s.id}",
                          page.summary if own else page.title,
                          words_of(s.text)])
    data = json.dumps({"operators": operators, "guides": parts},
                      ensure_ascii=False, separators=(",", ":"))
    return f"site_data({data.replace('<', chr(92) + 'u003c')});\n"
