"""A curve or a family of curves, solid, and their derivatives, dashed."""

import math

from pictures.curve_lines import Cutter, Window, simplified, tick_step
from pictures.svg import (ACCENT, ACCENT2, FAINT, LINE, WIDTH, Svg,
                          path_through, text_width)

HEIGHT, TOP, BOTTOM, LEFT = 300, 12, 34, 46


def tick_text(v):
    """"−1.5", with the minus of mathematics."""
    return f"{0 if abs(v) < 1e-12 else v:.6g}".replace("-", "−", 1)


def tenth(v):
    return math.floor(10 * v + 0.5) / 10


def in_order(curves):
    """"beta=0.5" before "beta=1": the colours go with the numbers."""
    try:
        return sorted(curves, key=lambda c: float(
            c.get("label", "").partition("=")[2] or c["label"]))
    except (KeyError, ValueError):
        return curves


def colour(k, n):
    """Colour k of n, between the first colour of the page and the second."""
    if k == 0 or n < 2:
        return ACCENT
    if k + 1 == n:
        return ACCENT2
    return f"color-mix(in oklab,{ACCENT},{ACCENT2} {100 * k // (n - 1)}%)"


class Line:
    def __init__(self, label, paint, is_derivative, cutter):
        self.label, self.paint = label, paint
        self.is_derivative = is_derivative
        self.lines, self.poles = cutter.lines, cutter.poles

    # Colours that are mixed are written as style: attributes may not mix.
    def fill(self):
        return {"style": f"fill:{self.paint}"}

    def stroke(self):
        out = {"style": f"stroke:{self.paint}",
               "stroke_width": 1.5 if self.is_derivative else 2.25}
        return out | ({"stroke_dasharray": "5 4"} if self.is_derivative else {})


class Picture:
    def __init__(self, name, axis, curves):
        self.name, self.axis = name, axis
        self.window = window = Window(curves)
        curves = in_order(curves)
        self.count = len(curves)
        paints = [colour(k, self.count) for k in range(self.count)]
        self.lines = [
            Line(c.get("label") or name, paint, False,
                 Cutter(c["x"], c["y"], c.get("dy", []), window))
            for c, paint in zip(curves, paints)]
        self.lines += [
            Line("derivative", ACCENT2 if self.count == 1 else paint, True,
                 Cutter(c["x"], c["dy"], [], window))
            for c, paint in zip(curves, paints) if c.get("dy")]
        self.left, self.right = LEFT, WIDTH - 14
        self.top, self.bottom = TOP, HEIGHT - BOTTOM
        # Lines that are named: the derivatives of a family are not.
        self.named = [l for l in self.lines if l.lines and
                      (not l.is_derivative or self.count == 1)]

    def draw(self):
        ends = self.ends()
        legend = [] if ends else self.legend()
        rows = 1 + (legend[-1][0][1] - 14) // 18 if legend else 0 if ends else 1
        height = HEIGHT + 18 * rows
        if ends:
            self.right = WIDTH - self.label_room()
        self.top += 18 * rows
        self.bottom += 18 * rows
        svg = Svg(height, "curves", self.title())
        for (x, y), l in legend:
            svg.path(path_through([(x, y - 4), (x + 22, y - 4)]), **l.stroke())
            svg.text((x + 28, y), l.label, **l.fill())
        self.axes(svg)
        for l in self.lines:
            if l.poles and not l.is_derivative:
                svg.path("".join(self.upright(self.px(x)) for x in l.poles),
                         stroke=FAINT, stroke_dasharray="2 4")
        svg.open(fill="none", stroke_linejoin="round", stroke_linecap="round")
        for l in self.lines:
            self.curve(svg, l)
        svg.close()
        for y, l in ends:
            svg.text((self.right + 7, y), l.label, **l.fill())
        return svg.finish()

    def title(self):
        derived = any(l.is_derivative for l in self.lines)
        return (f"{self.name} of {self.axis or 'x'}"
                f"{' and its derivative, dashed' if derived else ''}, from "
                f"{tick_text(self.window.x0)} to {tick_text(self.window.x1)}"
                f"{f', {self.count} curves' if self.count > 1 else ''}")

    def px(self, x):
        share = (x - self.window.x0) / self.window.width
        return self.left + share * (self.right - self.left)

    def py(self, y):
        share = (self.window.y1 - y) / self.window.height
        return self.top + share * (self.bottom - self.top)

    def upright(self, x):
        return path_through([(x, self.top), (x, self.bottom)])

    def label_room(self):
        return max(text_width(l.label, 12) for l in self.named) + 22

    def ends(self):
        """Names at the lines' ends, if all go to the right border, not too
        close to each other; else none."""
        if not self.named or self.label_room() >= 150:
            return []
        border = self.window.x1 - 0.02 * self.window.width
        if any(l.lines[-1][-1][0] <= border for l in self.named):
            return []
        out, last = [], -1e9
        for l in sorted(self.named, key=lambda l: -l.lines[-1][-1][1]):
            wanted = self.py(l.lines[-1][-1][1]) + 4
            last = max(wanted, last + 14)
            if last - wanted >= 30 or last >= self.bottom + 8:
                return []
            out.append((last, l))
        return out

    def legend(self):
        out, x, y = [], self.left, 14
        for l in self.named:
            width = text_width(l.label, 12) + 46
            if x + width > self.right and x > self.left:
                x, y = self.left, y + 18
            out.append(((x, y), l))
            x += width
        return out

    def axes(self, svg):
        window = self.window
        step_x, step_y = tick_step(window.width, 6), tick_step(window.height, 5)
        lines = {False: "", True: ""}  # those at zero
        v = math.ceil(window.x0 / step_x - 1e-9) * step_x
        across, up = [], []
        while v <= window.x1 + 1e-9 * step_x:
            lines[abs(v) < 1e-9 * step_x] += self.upright(self.px(v))
            across.append(((self.px(v), self.bottom + 15), tick_text(v)))
            v += step_x
        v = math.ceil(window.y0 / step_y) * step_y
        while v <= window.y1:
            y = self.py(v)
            lines[abs(v) < 1e-9 * step_y] += path_through(
                [(self.left, y), (self.right, y)])
            up.append(((self.left - 7, y + 4), tick_text(v)))
            v += step_y
        svg.path(lines[False], stroke=LINE)
        if lines[True]:
            svg.path(lines[True], stroke=FAINT)
        for texts, anchor in ((across, "middle"), (up, "end")):
            svg.open(fill=FAINT, font_size=11, text_anchor=anchor)
            for at, text in texts:
                svg.text(at, text)
            svg.close()
        if self.axis:
            svg.text(((self.left + self.right) / 2, self.bottom + 30),
                     self.axis, fill=FAINT, text_anchor="middle",
                     font_style="italic")

    def curve(self, svg, l):
        d = ""
        for part in l.lines:
            points = [(tenth(self.px(x)), tenth(self.py(y))) for x, y in part]
            d += path_through(simplified(points, 0.12))
        if d:
            svg.path(d, **l.stroke())


def curves_svg(name, curves):
    """`curves` as `sy facts` has them. A value that is the same everywhere
    needs no picture."""
    lines = curves.get("lines", [])
    if not any(len({y for y in c["y"] if math.isfinite(y)}) > 1 for c in lines):
        return ""
    return Picture(name, curves.get("axis", ""), lines).draw()
