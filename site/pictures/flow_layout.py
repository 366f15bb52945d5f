"""The places of the tensors of a flow."""

from pictures.flow_cells import CellSize, GridPlan, count
from pictures.svg import WIDTH, text_width

MARGIN = 8
GAP, CALL_HEIGHT, NAME_HEIGHT = 74, 26, 19
ROOM = WIDTH - 2 * MARGIN
MOST_CELLS, MOST_HEIGHT = 100, 560


def note_height(plan):
    return 18 if plan.note else 0


def has_short_note(plan):
    """Short ones stand beside the name."""
    return text_width(plan.note, 11) < 110


def move(plans, x, y):
    for p in plans:
        p.at = (p.at[0] + x, p.at[1] + y)


def column(plans):
    """Places grids of one side below each other, names above them, notes below.
    Returns the width and the height."""
    y = 0
    for p in plans:
        p.at = (0, y + NAME_HEIGHT)
        y += NAME_HEIGHT + p.height + note_height(p) + 12
    return max(max(p.width, text_width(p.name, 12.5), text_width(p.note, 11))
               for p in plans), y - 12


def middle(plans):
    """The y of the cells' middle."""
    return (plans[0].at[1] + plans[-1].at[1] + plans[-1].height) / 2


def cell_of(plans, k):
    for p in plans[:-1]:
        if k < len(p.cells):
            return p.cell(k)
        k -= len(p.cells)
    return plans[-1].cell(k)


class FlowLayout:
    """Inputs on the left and outputs on the right, or inputs above. fits() says
    whether there is room."""

    def __init__(self, flow):
        self.flow = flow
        self.downwards = self.names_beside = False
        self.height = 0

    def fits(self):
        cells = len(self.flow["from"]) + sum(map(count, self.flow["inputs"]))
        if cells > MOST_CELLS or not self.flow["from"]:
            return False
        spread = 26 if self.flow.get("scan") else 0
        for side in (30, 26, 22):
            widths = [self.cell_width(self.flow[key], side)
                      for key in ("inputs", "outputs")]
            if self.goes_down():
                widths = [max(widths)] * 2
            self.input_size, self.output_size = (
                CellSize(width, side, spread) for width in widths)
            self.inputs = [GridPlan(g, self.input_size)
                           for g in self.flow["inputs"]]
            self.outputs = [GridPlan(g, self.output_size)
                            for g in self.flow["outputs"]]
            if self.place_across() or self.place_down():
                return True
        return False

    @staticmethod
    def cell_width(grids, side):
        longest = max([len(t) for g in grids for t in g.get("texts", ())] + [1])
        return max(side, 6.6 * longest + 10)

    def goes_down(self):
        """Whether sums go down columns, which then stand above their sums."""
        flow = self.flow
        if flow.get("scan"):
            return True
        if flow.get("moves") or len(flow["outputs"]) > 1:
            return False
        to, start = flow["outputs"][0]["sizes"], flow["inputs"][0]["sizes"]
        return len(to) > 1 and len(to) == len(start) and to[-2] == 1 and \
            to[-1] != 1 and len(flow["inputs"]) == 1

    def place_across(self):
        """Inputs on the left."""
        if self.goes_down():
            return False
        in_wide, in_tall = column(self.inputs)
        out_wide, out_tall = column(self.outputs)
        width = in_wide + GAP + out_wide
        if width > ROOM:
            return False
        left = (WIDTH - width) / 2
        # One result stands in the middle of its inputs, several stand below
        # each other from the first input on.
        down = 0
        if len(self.outputs) == 1:
            down = middle(self.inputs) - middle(self.outputs)
        up, down = max(0, -down), max(0, down)
        move(self.inputs, left, CALL_HEIGHT + up)
        move(self.outputs, left + in_wide + GAP, CALL_HEIGHT + down)
        self.height = CALL_HEIGHT + max(in_tall + up, out_tall + down) + MARGIN
        self.downwards = self.names_beside = False
        return self.height <= MOST_HEIGHT

    def place_down(self):
        """Inputs above, names on the left if there is room."""
        plans = self.inputs + self.outputs
        widest = max(p.width for p in plans)
        names = 12 + max(
            max(text_width(p.name, 12.5),
                text_width(p.note, 11) if has_short_note(p) else 0)
            for p in plans)
        if widest > ROOM:
            return False
        self.downwards = True
        self.names_beside = names + widest <= ROOM
        left = (WIDTH - widest) / 2
        if self.names_beside:
            left = (WIDTH - widest - names) / 2 + names
        y = CALL_HEIGHT
        for side in (self.inputs, self.outputs):
            for p in side:
                y += 0 if self.names_beside else NAME_HEIGHT
                indent = 0 if self.goes_down() else (widest - p.width) / 2
                p.at = (left + indent, y)
                y += p.height + 12
                if not has_short_note(p):
                    y += note_height(p)
            if side is self.inputs:
                y += 30 if self.names_beside else 24
        self.height = y - 12 + MARGIN
        return self.height <= MOST_HEIGHT

    def name_has_note(self, plan):
        """Whether the note stands with the name above: arrows leave no room
        below the inputs."""
        return self.downwards and not self.names_beside and has_short_note(plan)

    def best_shown(self):
        """The cell of an output whose arrows cross the fewest cells and have
        come some way."""
        def merit(k):
            sources = self.flow["from"][k]
            if not sources:
                return -1e9
            to, size = self.output_cell(k), self.input_size
            out = -0.01 * k + 4 * min(len(sources), 9)
            for f in sources:
                at = self.input_cell(f)
                right = (to[0] - at[0]) / size.width
                below = (to[1] - at[1]) / size.height
                along, across = (below, right) if self.downwards \
                    else (right, below)
                out -= (along + 0.3 * abs(across)) / len(sources)
                out += 4 if self.flow.get("moves") and f != k else 0
            return out
        return max(range(len(self.flow["from"])), key=merit)

    def input_cell(self, k):
        return cell_of(self.inputs, k)

    def output_cell(self, k):
        return cell_of(self.outputs, k)
