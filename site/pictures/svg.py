"""SVG that takes its colours from the page, so that it is right in light, dark
and print, and carries a title for those who cannot see it."""

import math
from html import escape

# Colours of the page, each with one for pictures without a page.
FG = "var(--fg,#222)"
FAINT = "var(--faint,#777)"
LINE = "var(--line,#ddd)"
PANEL = "var(--panel,#f5f5f7)"
BG = "var(--bg,#fff)"
ACCENT = "var(--accent,#36c)"
ACCENT2 = "var(--accent2,#c2410c)"
GOOD = "var(--good,#1b7f3b)"
WARN = "var(--warn,#a16207)"

# Pictures are so wide in their own units, so that letters have one size in all
# of them.
WIDTH = 480


def coordinate(v):
    """At most two decimals and no redundant zero: "12.35", "-.5"."""
    out = f"{v:.2f}".rstrip("0").rstrip(".")
    if out in ("-0", ""):
        return "0"
    if out.startswith("0."):
        return out[1:]
    return "-" + out[2:] if out.startswith("-0.") else out


def text_width(text, size):
    """About how wide a text is in the page's font."""
    em = sum(0.36 if c in "iljtfr.,:;'|()[] " else
             0.88 if c in "mwMW@" else 0.61 for c in text)
    return em * size


def path_through(points):
    """"M3 4 5 6": a line through the points."""
    out = []
    for x, y in points:
        down = coordinate(y)
        out.append(coordinate(x) + ("" if down[0] == "-" else " ") + down)
    return "M" + " ".join(out)


def curve(c, d, to):
    return "C" + path_through([c, d, to])[1:]


def arrow_head(start, tip, size=5):
    """Two sides of an arrow's head that ends at `tip`."""
    a = math.atan2(tip[1] - start[1], tip[0] - start[0])

    def side(turn):
        return (tip[0] - size * math.cos(a + turn),
                tip[1] - size * math.sin(a + turn))
    return path_through([side(0.45), tip, side(-0.45)])


def attributes(values):
    return "".join(f' {name.replace("_", "-")}="{value}"'
                   for name, value in values.items())


class Svg:
    """An <svg> element, made part by part. Attributes are written as they are,
    with - for _; texts are escaped."""

    def __init__(self, height, kind, title):
        title = escape(title)
        self.parts = [
            f'<svg class="{kind}" viewBox="0 0 {WIDTH} {coordinate(height)}" '
            f'width="100%" style="max-width:40rem" role="img" '
            f'aria-label="{title}" font-size="12"><title>{title}</title>\n']
        self.closing = []

    def open(self, tag="g", **values):
        self.parts.append(f"<{tag}{attributes(values)}>")
        self.closing.append(f"</{tag}>\n")

    def close(self):
        self.parts.append(self.closing.pop())

    def rect(self, at, width, height, **values):
        self.parts.append(
            f'<rect x="{coordinate(at[0])}" y="{coordinate(at[1])}" '
            f'width="{coordinate(width)}" height="{coordinate(height)}"'
            f'{attributes(values)}/>')

    def path(self, d, **values):
        self.parts.append(f'<path d="{d}"{attributes(values)}/>')

    def arrow(self, start, tip, **values):
        self.path(path_through([start, tip]), **values)
        self.path(arrow_head(start, tip), **values)

    def text(self, at, text, **values):
        self.parts.append(
            f'<text x="{coordinate(at[0])}" y="{coordinate(at[1])}"'
            f"{attributes(values)}>{escape(text, quote=False)}</text>")

    def finish(self):
        while self.closing:
            self.close()
        return "".join(self.parts) + "</svg>\n"
