"""The flow of elements from a small input to a small output, with arrows."""

from pictures.flow_cells import Paints, blocks_of
from pictures.flow_layout import MARGIN, FlowLayout, has_short_note
from pictures.svg import (ACCENT, ACCENT2, FAINT, FG, GOOD, LINE, PANEL, WARN,
                          WIDTH, Svg, arrow_head, coordinate, curve,
                          path_through, text_width)

COLOURS = (ACCENT, ACCENT2, GOOD, WARN)
LETTERS = 62  # that fit: all letters have the same width
SMALL = {"fill": FAINT, "font_size": 11}


def cut(call):
    if len(call) <= LETTERS:
        return call
    comma = call.rfind(", ", 0, LETTERS - 2)
    return call[:LETTERS if comma < 0 else comma] + ", …)"


def around(blocks):
    """One block around all blocks."""
    x, y = min(b[0] for b in blocks), min(b[1] for b in blocks)
    return [x, y, max(b[0] + b[2] for b in blocks) - x,
            max(b[1] + b[3] for b in blocks) - y]


class Picture:
    def __init__(self, flow, layout):
        self.flow, self.layout = flow, layout
        best = layout.best_shown()
        self.paints = Paints(flow, best)
        if self.paints.shown is None and not flow.get("scan") and \
                not self.arrows_stay_apart():
            self.paints.shown = best
        self.svg = Svg(layout.height, "flow", self.title())

    def draw(self):
        self.svg.text((MARGIN, 15), cut(self.flow["call"]), fill=FAINT,
                      font_family="ui-monospace,monospace")
        self.fills()
        self.arrows()
        self.texts()
        for plan in self.layout.inputs + self.layout.outputs:
            self.name(plan)
        return self.svg.finish()

    def title(self):
        inputs = ", ".join(g["name"] for g in self.flow["inputs"])
        verb = "become those of" if self.flow.get("moves") else "go into"
        return (f"{self.flow['call']}: which elements of {inputs} {verb} "
                f"{self.flow['outputs'][0]['name']}")

    def arrows_stay_apart(self):
        """Whether arrows to all results cross neither cells nor each other."""
        sizes = self.flow["outputs"][0]["sizes"]
        return len(self.layout.inputs) == 1 and (
            self.layout.downwards or not sizes or sizes[-1] == 1)

    def sides(self):
        layout = self.layout
        yield layout.inputs, layout.input_size, iter(self.paints.inputs)
        yield layout.outputs, layout.output_size, iter(self.paints.outputs)

    def fills(self):
        """Cells of one paint are one path."""
        paths = {}
        for plans, size, paints in self.sides():
            width = coordinate(size.width - 2)
            height = coordinate(size.height - 2)
            for plan in plans:
                for k in range(len(plan.cells)):
                    x, y = plan.cell(k)
                    paths.setdefault(next(paints), []).append(
                        f"{path_through([(x + 1, y + 1)])}"
                        f"h{width}v{height}h-{width}z")
        for paint in sorted(paths, key=lambda p: p or (-1, 0)):
            if paint is None:
                self.svg.path("".join(paths[paint]), fill=PANEL, stroke=LINE)
            else:
                self.svg.path("".join(paths[paint]), fill=COLOURS[paint[0]],
                              fill_opacity=f".{paint[1]}")

    def texts(self):
        self.svg.open(fill=FG, text_anchor="middle")
        for plans, size, _ in self.sides():
            for plan in plans:
                for k in range(len(plan.cells) if plan.shows_texts else 0):
                    x, y = plan.cell(k)
                    self.svg.text((x + size.width / 2, y + size.height / 2 + 4),
                                  plan.grid["texts"][k])
        self.svg.close()

    def name(self, p):
        layout, svg, (x, y) = self.layout, self.svg, p.at
        both = layout.names_beside and has_short_note(p) and p.note
        line = y + p.height / 2 + (-3 if both else 4)
        if layout.names_beside:
            svg.text((x - 12, line), p.name, fill=FG, text_anchor="end")
        else:
            svg.text((x + 1, y - 6), p.name, fill=FG)
        if both:
            svg.text((x - 12, line + 15), p.note, text_anchor="end", **SMALL)
        elif p.note and layout.name_has_note(p):
            svg.text((x + text_width(p.name, 12.5) + 12, y - 6), p.note,
                     **SMALL)
        elif p.note:
            most = WIDTH - MARGIN - text_width(p.note, 11)
            svg.text((max(min(x + 1, most), MARGIN), y + p.height + 15), p.note,
                     **SMALL)

    def arrow(self, block, cell):
        """From the side of a block that looks to the outputs, to a cell's
        side."""
        x, y, width, height = block
        size = self.layout.output_size
        if self.layout.downwards:
            a = (x + width / 2, y + height + 1)
            b = (cell[0] + size.width / 2, cell[1] - 2)
            c, d = ((p[0], (a[1] + b[1]) / 2) for p in (a, b))
        else:
            a = (x + width + 1, y + height / 2)
            b = (cell[0] - 2, cell[1] + size.height / 2)
            bend = max(24, (b[0] - a[0]) / 2)
            c, d = (a[0] + bend, a[1]), (b[0] - bend, b[1])
        self.svg.path(path_through([a]) + curve(c, d, b))
        self.svg.path(arrow_head(d, b))

    def outline(self, x, y, width, height):
        self.svg.rect((x + 1, y + 1), width - 2, height - 2, rx=2,
                      stroke_width=2)

    def sources(self, k):
        return blocks_of(map(self.layout.input_cell, self.flow["from"][k]),
                         self.layout.input_size)

    def arrows(self):
        layout, shown = self.layout, self.paints.shown
        self.svg.open(fill="none", stroke=FAINT if shown is None else FG,
                      stroke_width=1.5)
        if self.flow.get("scan"):
            self.scan_arrows()
        elif shown is not None:
            blocks, cell = self.sources(shown), layout.output_cell(shown)
            for b in blocks:
                self.outline(*b)
            self.outline(*cell, layout.output_size.width,
                         layout.output_size.height)
            for b in blocks if len(blocks) <= 4 else [around(blocks)]:
                self.arrow(b, cell)
        else:
            # The second result's arrows would be the same.
            for k in range(len(layout.outputs[0].cells)):
                blocks = self.sources(k)
                if blocks:
                    self.arrow(around(blocks), layout.output_cell(k))
        self.svg.close()

    def scan_arrows(self):
        layout, size = self.layout, self.layout.input_size
        cells = [layout.output_cell(k)
                 for k in range(len(layout.outputs[0].cells))]
        for k, (x, y) in enumerate(cells):
            self.arrow((*layout.input_cell(k), size.width, size.height), (x, y))
            if k + 1 < len(cells):
                across = y + layout.output_size.height / 2
                self.svg.arrow((x + layout.output_size.width + 1, across),
                               (cells[k + 1][0] - 2, across))


def flow_svg(flow):
    """"" if it would be too large."""
    layout = FlowLayout(flow)
    return Picture(flow, layout).draw() if layout.fits() else ""
