"""From samples of a curve to lines in a window."""

import math


def quantile(values, q):
    """The value below which the share `q` of sorted values lies."""
    at = q * (len(values) - 1)
    k = int(at)
    if k + 1 >= len(values):
        return values[-1]
    return values[k] * (1 - at + k) + values[k + 1] * (at - k)


def finite_sorted(curves, key):
    return sorted(v for c in curves for v in c.get(key, ())
                  if math.isfinite(v))


class Window:
    """The part of the plane that a picture shows: all of the curves that are
    not much taller than the rest; a derivative may add to it."""

    def __init__(self, curves=(), box=(0, 1, 0, 1)):
        self.x0, self.x1, self.y0, self.y1 = box
        xs, ys = finite_sorted(curves, "x"), finite_sorted(curves, "y")
        if xs and ys:
            self.x0, self.x1 = xs[0], xs[-1]
            low, high = self.heights(ys, finite_sorted(curves, "dy"))
            air = 0.06 * (high - low)
            self.y0, self.y1 = low - air, high + air

    def heights(self, ys, slopes):
        low, high = quantile(ys, 0.04), quantile(ys, 0.96)
        if ys[-1] - ys[0] <= 1.4 * (high - low):
            low, high = min(low, ys[0]), max(high, ys[-1])
        # A curve that shoots up is shown about where it is as high as wide.
        reach = 0.6 * self.width
        near_by = sum(abs(y) <= reach for y in ys)
        if high - low > 2 * reach and 3 * near_by > len(ys):
            low, high = max(low, -reach), min(high, reach)
        if slopes:
            most = max(high - low, 1.0 if high == low else 0.0)
            if max(high, slopes[-1]) - min(low, slopes[0]) <= 2.2 * most:
                low, high = min(low, slopes[0]), max(high, slopes[-1])
            else:
                floor, roof = low - 0.4 * most, high + 0.4 * most
                low = min(low, max(quantile(slopes, 0.03), floor))
                high = max(high, min(quantile(slopes, 0.97), roof))
        if 0 < low < 0.5 * high:
            low = 0
        if 0 > high > 0.5 * low:
            high = 0
        if not high - low > 1e-9 * max(abs(high), abs(low)):
            low, high = low - 1, high + 1
        return low, high

    @property
    def width(self):
        return self.x1 - self.x0

    @property
    def height(self):
        return self.y1 - self.y0

    def side(self, y):
        """1 above the window, -1 below, 0 inside."""
        return (y > self.y1) - (y < self.y0)


def tick_step(size, wanted):
    """1, 2 or 5 times a power of ten: some `wanted` steps fill `size`."""
    rough = size / wanted
    power = 10 ** math.floor(math.log10(rough))
    digits = rough / power
    return power * (1 if digits < 1.5 else 2 if digits < 3.5 else
                    5 if digits < 7.5 else 10)


class Cutter:
    """`y` over `x` inside of the window, in `lines`: there is none over NaN,
    outside of the window and across a jump. `dy` tells jumps from steep places
    and may be empty. `poles` are where a line leaves on both sides."""

    def __init__(self, x, y, dy, window):
        self.y, self.dy, self.window = y, dy, window
        self.slopes = [b - a for a, b in zip(x, x[1:])]
        self.lines, self.poles, self.line = [], [], []
        side = window.side
        for i in range(min(len(x), len(y)) - 1):
            a, b = (x[i], y[i]), (x[i + 1], y[i + 1])
            if math.isnan(a[1]) or math.isnan(b[1]):
                if i > 0 and math.isnan(a[1]) and \
                        side(y[i - 1]) * side(b[1]) < 0:
                    self.poles.append(a[0])
                self.end()
            elif side(a[1]) * side(b[1]) < 0:
                self.poles.append((a[0] + b[0]) / 2)
                self.end()
            elif self.is_jump(i):
                self.end()
            else:
                self.add(a, b)
        self.end()

    def is_jump(self, i):
        y, dy, height = self.y, self.dy, self.window.height
        step = y[i + 1] - y[i]
        if not abs(step) > 0.02 * height:
            return False
        if len(dy) == len(y):
            a, b = dy[i], dy[i + 1]
            if not (math.isfinite(a) and math.isfinite(b)):
                return False
            if a * step < 0 and b * step < 0:
                return True
            expected = (abs(a) + abs(b)) / 2 * self.slopes[i]
            return abs(step) > 3 * expected + 0.01 * height
        # A jump may have a sample in its middle, so that one side is as steep.
        if self.window.side(y[i]) or self.window.side(y[i + 1]):
            return False
        beside = abs(step)
        if i > 0:
            beside = min(beside, abs(y[i] - y[i - 1]))
        if i + 2 < len(y):
            beside = min(beside, abs(y[i + 2] - y[i + 1]))
        return abs(step) > 8 * beside + 0.03 * height

    def add(self, a, b):
        """Adds the piece of a line that lies in the window."""
        start, end = self.window.side(a[1]), self.window.side(b[1])
        if start and start == end:
            self.end()
            return

        def at_edge(side):
            v = self.window.y1 if side > 0 else self.window.y0
            return (a[0] + (v - a[1]) / (b[1] - a[1]) * (b[0] - a[0]), v)
        if start:
            self.end()
        if not self.line:
            self.line.append(at_edge(start) if start else a)
        self.line.append(at_edge(end) if end else b)
        if end:
            self.end()

    def end(self):
        if len(self.line) > 1:
            self.lines.append(self.line)
        self.line = []


def simplified(line, error):
    """The same line with fewer points, none of those left out further than
    `error` from it."""
    keep = {0, len(line) - 1}
    parts = [(0, len(line) - 1)]
    while parts:
        first, last = parts.pop()
        (ax, ay), (bx, by) = line[first], line[last]
        dx, dy = bx - ax, by - ay
        length = math.hypot(dx, dy)
        most, where = error, None
        for i in range(first + 1, last):
            px, py = line[i]
            far = abs(dx * (ay - py) - dy * (ax - px)) / length if length \
                else math.hypot(px - ax, py - ay)
            if far > most:
                most, where = far, i
        if where:
            keep.add(where)
            parts += [(first, where), (where, last)]
    return [line[i] for i in sorted(keep)]
