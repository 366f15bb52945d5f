"""Pages before they get their frame, and links between them."""


class Page:
    def __init__(self, path, title, summary, source="", family=None):
        self.path = path  # in the site: "ops/add.html", "guides/lazy.html"
        self.title = title
        self.summary = summary  # one sentence for search and previews
        self.source = source  # the file that the page was made of
        self.family = family  # that the page is about or within, or None
        self.before = self.after = None  # the pages around it


def link(here, to):
    """link("ops/add.html", "guides/lazy.html") is "../guides/lazy.html"."""
    folder, slash, _ = here.rpartition("/")
    if folder and to.startswith(folder + "/"):
        return to[len(folder) + 1:]
    return ("../" if slash else "") + to
