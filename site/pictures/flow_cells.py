"""The cells of a flow: where they stand in their grid, and their colours."""

from math import prod

BLOCK_GAP = 12


def count(grid):
    return prod(grid["sizes"])


class CellSize:
    def __init__(self, width, height, spread=0):
        self.width, self.height = width, height
        self.spread = spread  # between the cells of a row


class GridPlan:
    """A grid with a place for each cell, from `at` on: the last dim goes to the
    right, the one before it downwards, the next two lay such blocks out side by
    side and below each other."""

    def __init__(self, grid, size):
        self.grid, self.at = grid, (0, 0)
        dims = [max(n, 1) for n in [1, 1, 1, *grid["sizes"]][-3:]]
        step = size.width + size.spread
        block_width = dims[2] * step - size.spread + BLOCK_GAP
        block_height = dims[1] * size.height + BLOCK_GAP
        self.cells = []
        for k in range(count(grid)):
            rest, x = divmod(k, dims[2])
            rest, y = divmod(rest, dims[1])
            down, across = divmod(rest, dims[0])
            self.cells.append((x * step + across * block_width,
                               y * size.height + down * block_height))
        self.width = max([x for x, _ in self.cells] + [0]) + size.width
        self.height = max([y for _, y in self.cells] + [0]) + size.height

    def cell(self, k):
        return (self.at[0] + self.cells[k][0], self.at[1] + self.cells[k][1])

    @property
    def name(self):
        """The name with the sizes: "self [2, 3]"."""
        shape = self.grid.get("shape") or str(list(self.grid["sizes"]))
        return f"{self.grid['name']} {shape}"

    @property
    def note(self):
        return self.grid.get("note", "")

    @property
    def shows_texts(self):
        return len(self.grid.get("texts", ())) == len(self.cells)


def blocks_of(cells, size):
    """The fewest rectangles [x, y, width, height] that rows of neighbouring
    cells make."""
    def near(a, b):
        return abs(a - b) < 0.01
    rows = []
    for x, y in sorted(cells, key=lambda c: (c[1], c[0])):
        if rows and near(rows[-1][1], y) and near(rows[-1][0] + rows[-1][2], x):
            rows[-1][2] += size.width
        else:
            rows.append([x, y, size.width, size.height])
    out = []
    for row in rows:
        above = next((b for b in out if near(b[0], row[0]) and
                      near(b[2], row[2]) and near(b[1] + b[3], row[1])), None)
        if above:
            above[3] += row[3]
        else:
            out.append(row)
    return out


def origin(grids, number, cell):
    """The paint of a cell: rows and columns tell where it came from; with
    several inputs, which one it was."""
    grid = grids[number]
    if grid.get("plain"):
        return None
    sizes = grid["sizes"]
    columns = max(sizes[-1] if sizes else 1, 1)
    row, column = divmod(cell, columns)
    steps = max(columns - 1, 1)
    if sum(not g.get("plain") for g in grids) > 1:
        return (number % 4, 62 - 14 * (row % 2) - 30 * column // steps)
    if len(sizes) < 2:
        return (cell * 4 // max(count(grid), 1), 60 - cell % 2 * 22)
    return (row % 4, 66 - 46 * column // steps)


class Paints:
    """A colour, of four, and its strength in percent for each cell; None is
    plain. `shown` is the cell of the output that arrows go to; None: to every
    one."""

    def __init__(self, flow, best):
        """`best` is the cell that shows the operation best, if only one is to
        show it."""
        places = [(n, k) for n, g in enumerate(flow["inputs"])
                  for k in range(count(g))]
        self.inputs = [None] * len(places)
        self.outputs = [None] * len(flow["from"])
        self.shown = None
        if flow.get("scan"):
            return
        if flow.get("moves"):
            self.inputs = [origin(flow["inputs"], *p) for p in places]
            for k, cells in enumerate(flow["from"]):
                for f in cells:
                    self.outputs[k] = self.inputs[f] or self.outputs[k]
            self.shown = best
            return
        moving = [not flow["inputs"][n].get("plain") for n, _ in places]
        if self.by_group(flow, moving):
            if count(flow["outputs"][0]) > 8:
                self.shown = best
            return
        self.shown = best
        for f in flow["from"][best]:
            if moving[f]:
                self.inputs[f] = ((places[f][0] + 1) % 4, 42)
        self.outputs[best] = (0, 50)

    def by_group(self, flow, moving):
        """Whether each input goes to one cell of a result only: its colour is
        that cell's."""
        cells = count(flow["outputs"][0])
        group = {}
        for k, sources in enumerate(flow["from"]):
            for f in sources:
                if group.setdefault(f, k % cells) != k % cells:
                    return False

        def paint(g):
            return (g % 4, 24 if g // 4 % 2 else 42)
        for f, g in group.items():
            if moving[f]:
                self.inputs[f] = paint(g)
        for k, sources in enumerate(flow["from"]):
            if sources:
                self.outputs[k] = paint(k % cells)
        return True
