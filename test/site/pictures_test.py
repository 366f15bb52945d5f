"""Pictures of curves, flows, calls and dispatch."""

import math
import random
import re
import unittest
import xml.etree.ElementTree as ElementTree

from pictures.calls import calls_svg, shortened
from pictures.curve_lines import Cutter, Window, simplified, tick_step
from pictures.curves import curves_svg
from pictures.dispatch import dispatch_svg
from pictures.flow import flow_svg
from pictures.flow_cells import CellSize, Paints, blocks_of
from pictures.layers import Graph
from pictures.svg import Svg, coordinate, path_through


def sampled(start, end, f, derivative=False, label=""):
    x = [start + (end - start) * k / 200 for k in range(201)]
    out = {"label": label, "x": x, "y": [f(v) for v in x], "dy": []}
    if derivative:
        out["dy"] = [(f(v + 1e-6) - f(v - 1e-6)) / 2e-6 for v in x]
    return out


def moved(inputs, outputs, start):
    return {"call": "f(self)", "moves": True,
            "inputs": [{"name": "self", "sizes": inputs}],
            "outputs": [{"name": "result", "sizes": outputs}], "from": start}


class PictureTest(unittest.TestCase):
    def good(self, svg):
        """The rules that every picture obeys."""
        self.assertTrue(svg.startswith("<svg "))
        root = ElementTree.fromstring(svg)
        self.assertLessEqual(len(svg), 8192)
        self.assertEqual(root.get("role"), "img")
        self.assertTrue(root.get("aria-label"))
        self.assertEqual(root[0].tag, "title")
        self.assertNotRegex(svg, 'script|id="')
        # Colours are the page's, and no letter is smaller than 11.
        for colour in re.findall('(?:fill|stroke)="([^"]*)"', svg):
            self.assertRegex(colour, r"^(none|var\(--.*)$")
        for size in re.findall('font-size="([^"]*)"', svg):
            self.assertGreaterEqual(float(size), 11)


class SvgTest(PictureTest):
    def test_numbers_are_short(self):
        for v, text in {0.5: ".5", -0.25: "-.25", 12.346: "12.35", 30: "30",
                        -0.001: "0", 100: "100"}.items():
            self.assertEqual(coordinate(v), text)
        self.assertEqual(path_through([(1, 2), (3, -4)]), "M1 2 3-4")

    def test_text_is_escaped(self):
        svg = Svg(10, "x", 'a < "b"')
        svg.open(fill="none")
        svg.text((1, 2), "<&>")
        self.good(svg.finish())


class Curves(PictureTest):
    def test_a_curve_and_its_derivative(self):
        svg = curves_svg("tanh", {"axis": "self", "lines": [
            sampled(-4, 4, math.tanh, True)]})
        self.good(svg)
        self.assertEqual(svg.count('stroke-dasharray="5 4"'), 1)
        for part in (">tanh<", ">derivative<", ">self<"):
            self.assertIn(part, svg)

    def test_the_curves_of_a_family_are_named(self):
        svg = curves_svg("soft", {"axis": "self", "lines": [
            sampled(-2, 2, lambda x, k=k: math.exp(x * k), True, f"beta={k}")
            for k in (2, 1, 3)]})
        self.good(svg)
        self.assertIn("color-mix", svg)
        # Colours go with the numbers, whichever comes first.
        places = [svg.index(f">beta={k}<") for k in (1, 2, 3)]
        self.assertEqual(places, sorted(places))

    def test_nothing_without_a_change(self):
        self.assertEqual(curves_svg("none", {}), "")
        for value in (1.0, math.nan):
            self.assertEqual(curves_svg("one", {"lines": [
                sampled(-1, 1, lambda _, v=value: v)]}), "")

    def test_the_window_leaves_outliers_out(self):
        tan = Window([sampled(-4, 4, math.tan)])
        self.assertTrue(-12 < tan.y0 < -2 < 2 < tan.y1 < 12)
        line = sampled(-4, 4, lambda x: 100 * x)
        self.assertGreater(Window([line]).y1, 400)
        line["y"][3] = 1e9
        self.assertLess(Window([line]).y1, 600)

    def parts(self, curve):
        return Cutter(curve["x"], curve["y"], curve["dy"], Window([curve]))

    def test_poles_and_jumps_part_a_line(self):
        tan = self.parts(sampled(-4, 4, math.tan, True))
        self.assertEqual(len(tan.lines), 3)
        self.assertAlmostEqual(tan.poles[1], 1.5708, delta=0.05)
        floor = self.parts(sampled(-2.2, 2.2, math.floor))
        self.assertEqual((len(floor.lines), floor.poles), (6, []))
        root = self.parts(sampled(-1, 4, lambda x: math.sqrt(x) if x >= 0
                                  else math.nan))
        self.assertEqual(len(root.lines), 1)
        self.assertGreaterEqual(root.lines[0][0][0], -1e-9)
        # The derivative of abs has a sample in the middle of its jump.
        sign = self.parts(sampled(-4, 4, lambda x: (x > 1e-9) - (x < -1e-9)))
        self.assertEqual(len(sign.lines), 2)
        # A steep place is no jump.
        steep = self.parts(sampled(-4, 4, lambda x: math.tanh(20 * x), True))
        self.assertEqual(len(steep.lines), 1)

    def test_lines_stay_in_the_window(self):
        c = sampled(-4, 4, lambda x: x ** 3)
        for line in Cutter(c["x"], c["y"], [],
                           Window(box=(-4, 4, -5, 5))).lines:
            self.assertTrue(all(abs(y) <= 5 + 1e-9 for _, y in line))
            self.assertAlmostEqual(line[-1][1], 5)

    def test_simplified_lines_are_near(self):
        line = [(k / 3, 40 * math.sin(k / 30)) for k in range(301)]
        few = simplified(line, 0.1)
        self.assertLess(len(few), 80)
        for x, y in line:
            b = next((i for i in range(1, len(few)) if few[i][0] >= x), -1)
            (ax, ay), (bx, by) = few[b - 1], few[b]
            self.assertAlmostEqual(ay + (by - ay) * (x - ax) / (bx - ax), y,
                                   delta=0.6)
        self.assertEqual(tick_step(10, 5), 2)
        self.assertAlmostEqual(tick_step(0.7, 5), 0.1)


class Flows(PictureTest):
    def test_cells_have_the_colour_of_where_they_come_from(self):
        cells = [divmod(k, 4) for k in range(12)]
        for start in ([[i * 4 + 3 - j] for i, j in cells],
                      [[(k + 12 - 5) % 12] for k in range(12)],
                      [[i * 4 + (i + j) % 3] for i, j in cells]):
            flow = moved([3, 4], [3, 4], start)
            paints = Paints(flow, 0)
            self.assertEqual(len(set(paints.inputs)), 12)
            self.assertEqual(paints.outputs,
                             [paints.inputs[f] for f, in start])
            self.good(flow_svg(flow))

    def test_padding_has_no_colour(self):
        flow = moved([2], [4], [[], [0], [1], []])
        self.assertEqual([p is None for p in Paints(flow, 1).outputs],
                         [True, False, False, True])
        self.good(flow_svg(flow))

    def test_reductions_and_scans(self):
        grid = {"name": "self", "sizes": [3, 4], "texts": ["1"] * 12}
        to = {"name": "result", "sizes": [3, 1], "texts": ["4"] * 3,
              "note": "with keepdim [3, 1]", "shape": "[3]"}
        svg = flow_svg({"call": "total(self, dim=[1])", "inputs": [grid],
                        "outputs": [to],
                        "from": [[4 * i + j for j in range(4)]
                                 for i in range(3)]})
        self.good(svg)
        for part in (">result [3]<", ">with keepdim [3, 1]<", ">self [3, 4]<"):
            self.assertIn(part, svg)
        row = {"name": "self", "sizes": [6], "texts": list("314159")}
        self.good(flow_svg({"call": "running(self)", "scan": True,
                            "inputs": [row], "outputs": [row],
                            "from": [[k] for k in range(6)]}))

    def test_large_flows_are_not_drawn(self):
        self.assertEqual(flow_svg(moved([200], [200],
                                        [[k] for k in range(200)])), "")

    def test_blocks_join_neighbours(self):
        size = CellSize(10, 10)
        self.assertEqual(blocks_of([(10, 0), (0, 0), (0, 10), (10, 10)], size),
                         [[0, 0, 20, 20]])
        self.assertEqual(len(blocks_of([(0, 0), (20, 0), (10, 10)], size)), 3)


class Calls(PictureTest):
    GRAPH = {"boxes": [
        {"role": "argument", "label": "self", "words": None, "page": ""},
        {"role": "call", "label": "mul", "words": ["·", "2"], "page": "mul"},
        {"role": "choice", "label": "if a == 1", "words": None, "page": ""},
        {"role": "result", "label": "result", "words": None, "page": ""}],
        "edges": [[0, 1, False], [1, 2, False], [0, 2, True], [2, 3, False]]}

    def test_boxes_and_links(self):
        svg = calls_svg("f", self.GRAPH, lambda page: page and page + ".html")
        self.good(svg)
        for part in (">self<", ">mul<", ">·, 2<", ">if a == 1<", ">result<"):
            self.assertEqual(svg.count(part), 1, part)
        self.assertEqual(svg.count("<a href="), 1)
        self.assertIn("f is made of mul", svg)
        self.assertNotIn("<a ", calls_svg("f", self.GRAPH, lambda _: ""))

    def test_no_graph_of_too_many(self):
        boxes = self.GRAPH["boxes"] * 6
        self.assertEqual(calls_svg("f", {"boxes": boxes, "edges": []},
                                   lambda _: ""), "")

    def test_long_words_are_left_out(self):
        self.assertEqual(shortened(None), "")
        self.assertEqual(shortened(["·", "2"]), "·, 2")
        self.assertEqual(shortened(["·", "self.size(0) - 1", "other.dim()"]),
                         "·, …, …")

    def test_nodes_stand_apart_and_edges_go_forward(self):
        draw = random.Random(7)
        for trial in range(100):
            n = draw.randint(2, 20)
            nodes = [(draw.randint(20, 99), draw.randint(26, 39))
                     for _ in range(n)]
            edges = [(u, v) for v in range(n) for u in range(v)
                     if draw.random() < 0.25]
            g = Graph(nodes, edges, 460 if trial % 2 else 5000)
            boxes = [(x, y, x + w, y + h)
                     for (x, y), (w, h) in zip(g.at, nodes)]
            for i, b in enumerate(boxes):
                self.assertGreaterEqual(min(b[:2]), -0.01)
                self.assertLessEqual(b[2], g.width + 0.01)
                self.assertLessEqual(b[3], g.height + 0.01)
                for a in boxes[:i]:
                    self.assertTrue(
                        a[2] <= b[0] + 0.01 or b[2] <= a[0] + 0.01 or
                        a[3] <= b[1] + 0.01 or b[3] <= a[1] + 0.01, trial)
            for k, (u, v) in enumerate(edges):
                self.assertLess(g.layer[u], g.layer[v])
                self.assertRegex(g.path(k), "^M[-0-9. CL]+$")


class Dispatch(PictureTest):
    def test_keys_of_one_kernel_share_a_row(self):
        self.assertEqual(dispatch_svg([]), "")
        svg = dispatch_svg([
            ["AutogradCPU", "alias: Autograd", "a/autograd.cpp:1"],
            ["AutogradMeta", "alias: Autograd", "a/autograd.cpp:1"],
            ["CPU", "own: CPU", "a/b/cpu.cpp:2, guarded"],
            ["Undefined", "missing", ""]])
        self.good(svg)
        for part in ("a/autograd.cpp:1", ">guard<",
                     ">AutogradCPU and 1 more<", ">own kernel<"):
            self.assertEqual(svg.count(part), 1, part)
        self.assertIn("NotImplementedError", svg)
        self.assertNotIn("guarded", svg)


if __name__ == "__main__":
    unittest.main()
