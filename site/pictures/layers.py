"""A graph without cycles drawn in layers, from left to right or downwards."""

from pictures.svg import curve, path_through

BETWEEN_LAYERS, BETWEEN_NODES = 28, 12


class Graph:
    """Nodes are (width, height), edges (from, to): to a node with a larger
    number. Laid out, it has the nodes' upper left corners in `at` and the
    points of each edge in `points`; its own corner is 0, 0."""

    def __init__(self, nodes, edges, most_width):
        self.nodes, self.edges = nodes, edges
        for self.downwards in (False, True):
            self.lay_out()
            if self.width <= most_width:
                break

    def lay_out(self):
        self.layer = self.assign_layers()
        # A place is a node, or where a long edge goes through a layer.
        self.across = [self.sides(v)[1] for v in range(len(self.nodes))]
        self.before = [[] for _ in self.nodes]
        self.after = [[] for _ in self.nodes]
        self.layers = [[] for _ in range(max(self.layer) + 1)]
        for v, l in enumerate(self.layer):
            self.layers[l].append(v)
        chains = [self.chain(*edge) for edge in self.edges]
        for k in range(6):
            self.sort(k % 2 == 0)
        self.centre = self.pack()
        for k in range(8):
            self.align(k % 2 == 0)
        self.write(chains)

    def sides(self, node):
        """Its extents along the layers and across them."""
        width, height = self.nodes[node]
        return (height, width) if self.downwards else (width, height)

    def assign_layers(self):
        out = [0] * len(self.nodes)
        for v in range(len(out)):
            out[v] = max([out[a] + 1 for a, b in self.edges if b == v],
                         default=0)
        # A node without an edge to it stands right before the first it leads
        # to.
        ends = {b for _, b in self.edges}
        for v in range(len(out)):
            to = [out[b] for a, b in self.edges if a == v]
            if v not in ends and to:
                out[v] = min(to) - 1
        return out

    def chain(self, start, end):
        """The places that an edge goes through."""
        out = [start]
        for l in range(self.layer[start] + 1, self.layer[end]):
            place = len(self.across)
            self.across.append(2)
            self.before.append([])
            self.after.append([])
            self.layers[l].append(place)
            out.append(place)
        out.append(end)
        for a, b in zip(out, out[1:]):
            self.after[a].append(b)
            self.before[b].append(a)
        return out

    def sweep(self, forwards):
        beside = self.before if forwards else self.after
        return beside, self.layers if forwards else self.layers[::-1]

    def sort(self, forwards):
        """Orders each layer by the places of its neighbours, so that fewer
        lines cross."""
        rank = {}

        def number(layer):
            for i, p in enumerate(layer):
                rank[p] = i - (len(layer) - 1) / 2
        for layer in self.layers:
            number(layer)
        beside, layers = self.sweep(forwards)
        for layer in layers:
            key = {p: sum(rank[q] for q in beside[p]) / len(beside[p])
                   if beside[p] else rank[p] for p in layer}
            layer.sort(key=key.get)
            number(layer)

    def room(self, a, b):
        gap = 16 if self.downwards else BETWEEN_NODES
        return (self.across[a] + self.across[b]) / 2 + gap

    def pack(self):
        centre = [0.0] * len(self.across)
        for layer in self.layers:
            total = 0
            for i, p in enumerate(layer):
                total += self.room(layer[i - 1], p) if i else 0
                centre[p] = total
            for p in layer:
                centre[p] -= total / 2
        return centre

    def align(self, forwards):
        """Moves each place to the middle of its neighbours, as far as there is
        room: to the mean of the tightest places from both sides."""
        beside, layers = self.sweep(forwards)
        for layer in layers:
            low = [sum(self.centre[q] for q in beside[p]) / len(beside[p])
                   if beside[p] else self.centre[p] for p in layer]
            high = list(low)
            for i in range(1, len(layer)):
                least = low[i - 1] + self.room(layer[i - 1], layer[i])
                low[i] = max(low[i], least)
            for i in range(len(layer) - 1, 0, -1):
                most = high[i] - self.room(layer[i - 1], layer[i])
                high[i - 1] = min(high[i - 1], most)
            for p, a, b in zip(layer, low, high):
                self.centre[p] = (a + b) / 2

    def point(self, along, across):
        return (across, along) if self.downwards else (along, across)

    def write(self, chains):
        least = min([c - a / 2 for c, a in zip(self.centre, self.across)] + [0])
        most = max([c + a / 2 for c, a in zip(self.centre, self.across)] + [0])
        self.at = [(0, 0)] * len(self.nodes)
        enters, leaves, start = {}, {}, 0
        for layer in self.layers:
            extent = max([self.sides(p)[0] for p in layer
                          if p < len(self.nodes)], default=0)
            for p in layer:
                c, first, size = self.centre[p] - least, start, extent
                if p < len(self.nodes):
                    size = self.sides(p)[0]
                    first += (extent - size) / 2
                    self.at[p] = self.point(first, c - self.across[p] / 2)
                enters[p] = self.point(first, c)
                leaves[p] = self.point(first + size, c)
            start += extent + BETWEEN_LAYERS
        self.points = []
        for chain in chains:
            points = [leaves[chain[0]]]
            for p in chain[1:-1]:
                points += [enters[p], leaves[p]]
            self.points.append(points + [enters[chain[-1]]])
        self.width, self.height = self.point(start - BETWEEN_LAYERS,
                                             most - least)

    def path(self, edge):
        """A smooth line along the edge of that number."""
        points = self.points[edge]
        out = path_through(points[:1])
        for a, b in zip(points, points[1:]):
            if abs(a[not self.downwards] - b[not self.downwards]) < 0.01:
                out += "L" + path_through([b])[1:]
                continue
            middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
            if self.downwards:
                out += curve((a[0], middle[1]), (b[0], middle[1]), b)
            else:
                out += curve((middle[0], a[1]), (middle[0], b[1]), b)
        return out
