"""The parts of a composite, as a graph of its calls."""

from pictures.layers import Graph
from pictures.svg import (ACCENT, BG, FAINT, FG, LINE, PANEL, WIDTH, Svg,
                          arrow_head, coordinate, text_width)

MOST_BOXES, PAD = 20, 6
STYLES = {"call": {"rx": 4, "fill": BG, "stroke": ACCENT},
          "choice": {"rx": 4, "fill": BG, "stroke": FAINT,
                     "stroke_dasharray": "4 3"}}
PLAIN = {"rx": 13, "fill": PANEL, "stroke": LINE}


def shortened(words):
    """The words of a call, with long ones left out."""
    whole = ", ".join(words or ())
    if len(whole.encode()) <= 22:
        return whole
    words = ["…" if len(w.encode()) > 9 else w for w in words]
    while len(words) > 4 or text_width(", ".join(words), 11) > 120:
        words.pop()
        if len(words) < 2:
            break
        words[-1] = "…"
    return ", ".join(words)


def draw_box(svg, box, below, address, at, size):
    x = at[0] + size[0] / 2
    y = at[1] + (17 if below else size[1] / 2 + 4)
    if address:
        svg.open("a", href=address)
    svg.rect(at, *size, **STYLES.get(box["role"], PLAIN))
    if box["role"] == "choice":
        svg.text((x, y), box["label"], fill=FAINT, font_size=11)
    else:
        svg.text((x, y), box["label"], fill=ACCENT if address else FG)
    if below:
        svg.text((x, y + 15), below, fill=FAINT, font_size=11)
    if address:
        svg.close()


def calls_svg(name, graph, address_of):
    """`address_of` gives the address of a page by its name, or ""."""
    boxes = graph["boxes"]
    if len(boxes) > MOST_BOXES:
        return ""
    belows = [shortened(b["words"]) for b in boxes]
    sizes = [(max(text_width(b["label"], 12.5) + 18,
                  text_width(w, 11) + 14, 36),
              40 if w else 26) for b, w in zip(boxes, belows)]
    laid = Graph(sizes, [edge[:2] for edge in graph["edges"]], WIDTH - 2 * PAD)
    if laid.width > WIDTH - 2 * PAD:
        return ""
    called = ", ".join(b["label"] for b in boxes if b["role"] == "call")
    svg = Svg(laid.height + 2 * PAD, "composition",
              f"{name} is made of {called}")
    left = coordinate((WIDTH - laid.width) / 2)
    svg.open(text_anchor="middle", transform=f"translate({left} {PAD})")
    svg.open(fill="none", stroke=FAINT, stroke_width=1.25)
    for k, (_, _, other) in enumerate(graph["edges"]):
        x, y = laid.points[k][-1]
        before = (x, y - 9) if laid.downwards else (x - 9, y)
        dashed = {"stroke_dasharray": "4 3"} if other else {}
        svg.path(laid.path(k), **dashed)
        svg.path(arrow_head(before, (x, y)))
    svg.close()
    for box, below, at, size in zip(boxes, belows, laid.at, sizes):
        draw_box(svg, box, below, address_of(box["page"]), at, size)
    return svg.finish()
