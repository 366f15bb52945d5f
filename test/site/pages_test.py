"""Pages of operators and families, and their frame.

Environment: SYGEN.
"""

import json
import os
import posixpath
import re
import subprocess
import tempfile
import unittest

from guides import Guides
from page import Page, link
from reference import Reference, stem
from render import Site, with_links
from words import time_text, type_words

SOFT = """\
# yaml-language-server: $schema=x.json
# Small things. They serve
# as examples.

- func: soft(Tensor self, Scalar beta=1) -> Tensor
  doc: Smooth <&> `self` <b>.
  variants: function, method
  promote: {rule: int_to_float, args: [self]}
  require:
    - beta > 0: above 0
  pointwise: log1p(exp(self * beta)) / beta
  derivative:
    self: soft_backward(grad, self, beta)

- func: soft_backward(Tensor grad, Tensor self, Scalar beta) -> Tensor
  doc: The derivative of soft.
  require:
    - grad.dim() == self.dim(): as many dims
  pointwise: grad * sigmoid(self * beta)
  derivative: non_differentiable

- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  doc: The product.
  variants: function, method
  pointwise: self * other
  derivative:
    self: auto
    other: auto

- func: mul.Scalar(Tensor self, Scalar other) -> Tensor
  doc: The product with a number.
  variants: function, method
  pointwise: self * other
  derivative:
    self: auto

- func: gated(Tensor self, Tensor gate) -> Tensor
  doc: A product of two.
  composite: mul(soft(self, 1), gate)

- func: reset_(Tensor(a!) self) -> Tensor(a!)
  doc: Zeros in place.
  variants: method
  dispatch: {CompositeExplicitAutograd: reset_}
"""
# Overloads, of which one has the bare name.
TOTAL = """\
- func: total(Tensor self) -> Tensor
  doc: The sum of all.
  reduce: {map: self, identity: 0, combine: a + b}
  derivative: non_differentiable

- func: total.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  doc: The sum along some dims.
  reduce: {map: self, identity: 0, combine: a + b}
  derivative: non_differentiable
"""
MINE = """\
- func: mine::bump(Tensor self) -> Tensor
  doc: 1 above.
  pointwise: self + 1
  derivative:
    self: auto

- func: mine::twice(Tensor self) -> Tensor
  doc: A product with 1 above.
  composite: mul(self, bump(self))
"""


def described(own):
    """The output of sygen for these files as a library, with mine.yaml within
    it or beside it."""
    with tempfile.TemporaryDirectory() as folder:
        files = {"schemas/tags.yaml": "- {name: core, doc: few}\n",
                 "schemas/ops/soft.yaml": SOFT, "schemas/ops/total.yaml": TOTAL,
                 "mine.yaml" if own else "schemas/ops/mine.yaml": MINE}
        os.makedirs(os.path.join(folder, "schemas/ops"))
        for path, text in files.items():
            with open(os.path.join(folder, path), "w",
                      encoding="utf-8") as file:
                file.write(text)
        with_ = ["schemas"] + (["mine.yaml"] if own else [])
        run = subprocess.run([os.environ["SYGEN"], "describe", "--with", *with_],
                             cwd=folder, capture_output=True, text=True,
                             check=False)
    if run.returncode:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


def plain(html):
    return re.sub("<[^>]*>", "", html)


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.description = described(own=False)

    def bodies(self, facts=None, timings=(), description=None):
        site = Site("S", Reference(description or self.description,
                                   facts or {}, list(timings)), Guides())
        self.site = site
        return {page.path: site.body(template, page)
                for template, page in site.pages()}

    def body(self, path, facts=None, timings=()):
        return self.bodies(facts, timings)[path]

    def has(self, text, *parts):
        for part in parts:
            self.assertIn(part, text)

    def test_one_for_each_name_and_family(self):
        self.assertEqual(sorted(self.bodies()), [
            "families/mine.mine.html", "families/soft.html",
            "families/total.html", "index.html", "operators.html",
            "ops/gated.html", "ops/mine.bump.html", "ops/mine.twice.html",
            "ops/mul.html", "ops/reset.html", "ops/soft.html",
            "ops/soft_backward.html", "ops/total.html"])

    def test_a_page(self):
        b = self.body("ops/soft.html")
        self.has(b, ">pointwise</span></h1>",
                 '<p class="lead">Smooth &lt;&amp;&gt; <code>self</code> '
                 "&lt;b&gt;.</p>", "schemas/ops/soft.yaml:5",
                 "torch.ops.aten.soft<", "<p>They serve as examples.</p>",
                 "<td><code>beta</code></td><td>number</td>"
                 "<td><code>1</code></td>"
                 "<td>above 0: <code>beta &gt; 0</code></td>",
                 "soft_backward(grad, self, beta)",
                 "log1p(exp(self * beta)) / beta")
        self.assertNotIn("<&>", b)
        self.has(plain(b),
                 "Tensor sy::soft(const Tensor&amp; self, const "
                 "Scalar&amp; beta = 1);",
                 "Tensor Tensor::soft(const Scalar&amp; beta = 1)",
                 "Tensor&amp; sy::soft_out(",
                 "soft_(Tensor(a!) self, Scalar beta=1) -&gt; Tensor(a!)",
                 "that of self; the default dtype for integers",
                 "  doc: Smooth &lt;&amp;&gt; `self` &lt;b&gt;.")
        # Its entry, and no more of the file.
        self.assertNotIn("doc: The derivative of soft.", plain(b))

    def test_links_both_ways(self):
        bodies = self.bodies()
        self.has(bodies["ops/gated.html"], '<a href="mul.html">mul</a>',
                 '<a href="soft.html">soft</a>')
        self.has(bodies["ops/mul.html"],
                 '<th>Part of</th><td><a href="gated.html">gated</a>',
                 'href="../families/soft.html"')
        self.has(bodies["ops/soft_backward.html"],
                 '<th>In gradients of</th><td><a href="soft.html">soft',
                 '<th>See also</th><td><a href="soft.html">soft</a></td>')

    def test_links_lead_to_pages(self):
        bodies = self.bodies()
        links = [(path, to) for path, b in bodies.items()
                 for to in re.findall('href="([^"]*)"', b)]
        for path, to in links:
            self.assertIn(posixpath.normpath(posixpath.join(
                posixpath.dirname(path), to)), bodies, path)
        self.assertGreater(len(links), 20)

    def test_what_several_arguments_must_be(self):
        b = self.body("ops/soft_backward.html")
        item = "<li>as many dims: <code>grad.dim() == self.dim()</code></li>"
        self.assertGreater(b.index(item), b.index('id="errors"'))
        self.assertEqual(b.count("as many dims: <"), 1)

    def test_overloads(self):
        self.has(self.body("ops/mul.html"), '<h2 id="mul.Tensor">',
                 '<h2 id="mul.Scalar">', '<h3 id="mul.Scalar-gradient">',
                 "<p>The product with a number.</p>",
                 "<td>broadcast with the other tensors</td>")

    def test_internal(self):
        bodies = self.bodies()
        self.has(bodies["ops/soft_backward.html"], 'class="note">Internal')
        self.assertNotIn("torch.ops", bodies["ops/soft_backward.html"])
        self.assertNotIn("Internal", bodies["ops/soft.html"])

    def test_in_place_alone(self):
        b = self.body("ops/reset.html")
        self.has(b, "<h1>reset_ ", "<td>tensor</td><td>is written</td>")
        self.has(plain(b), "sy::composite::reset_ in aten/composite/soft*")

    def test_an_own_namespace(self):
        bodies = self.bodies()
        b = bodies["ops/mine.bump.html"]
        self.has(b, "<h1>mine::bump ")
        self.has(plain(b), "Tensor mine::bump(const Tensor&amp; self);")
        self.assertNotIn("torch.ops", b)
        self.has(bodies["families/mine.mine.html"],
                 '<a href="../ops/mine.bump.html">mine::bump</a>')

    def test_facts(self):
        bodies = self.bodies({"devices": ["cpu"], "operators": {
            "soft": {
                "example": {"lines": ["sy::Tensor self = sy::ones({2});"],
                            "call": "sy::soft(self)", "output": " 1 < 2"},
                "errors": [{"call": "sy::soft()", "type": "ValueError",
                            "text": "[soft] a<b"}],
                "dtypes": {"cpu": [["native", "float32,float64"],
                                   ["composed", "int64"]]}},
            "mul.Scalar": {"example": {"call": "sy::mul(a, 2)"}},
            "mul": {"example": {"call": "sy::mul(a, b)"}},
            "mine::bump": {"example": {"call": "sy::mine::bump(a)"}}}})
        b = bodies["ops/soft.html"]
        self.has(b, "<th>float64</th>", '<td class="native" title="a kernel of '
                 'the device">●</td>')
        self.has(plain(b), "sy::Tensor self = sy::ones({2});\nsy::soft(self)",
                 " 1 &lt; 2", "sy::soft();\n// ValueError: [soft] a&lt;b",
                 "native: a kernel of the device, ◐ composed")
        self.assertNotIn("on the CPU, and back", plain(b))
        mul = plain(bodies["ops/mul.html"])
        # An example of some overload comes before all of them.
        self.assertLess(mul.index("sy::mul(a, b)"), mul.index("mul.Tensor"))
        self.assertGreater(mul.index("sy::mul(a, 2)"), mul.index("mul.Scalar"))
        self.has(plain(bodies["ops/mine.bump.html"]), "sy::mine::bump(a)")

    def test_facts_of_a_bare_name_are_shared_by_its_overloads(self):
        # The example may be of total.dim.
        b = self.body("ops/total.html", {"operators": {"total": {
            "example": {"call": "sy::total(a, 1)"},
            "dtypes": {"cpu": [["native", "bool"]]}}}})
        self.assertLess(b.index('id="example"'), b.index('id="total"'))
        self.has(b, "<p>On cpu: <code>bool</code>.</p>")

    def test_flows_belong_to_overloads(self):
        def flow(call):
            grid = {"name": "self", "sizes": [2], "texts": ["0", "1"]}
            return {"call": call, "moves": True, "inputs": [grid],
                    "outputs": [grid], "from": [[1], [0]]}
        bodies = self.bodies({"operators": {
            "mul": {"flows": {"mul.Tensor": flow("mul(a)"),
                              "mul.Scalar": flow("mul(b)")}},
            "mine::twice": {"flows": {"mine::twice": flow("twice(c)")}}}})
        mul = bodies["ops/mul.html"]
        self.assertEqual(mul.count('<svg class="flow"'), 2)
        self.assertLess(mul.index("mul(a)"), mul.index("mul(b)"))
        self.has(bodies["ops/mine.twice.html"], "twice(c)")

    def test_without_facts(self):
        b = self.body("ops/soft.html")
        self.has(plain(b), "sy::soft(sy::rand({2, 3}))")
        self.assertNotIn('id="dtypes"', b)
        self.assertNotIn('id="speed"', b)

    def test_timings_of_the_longest_name(self):
        bodies = self.bodies(timings=[
            ("soft_big/4096", 1500, 3000), ("soft_backward_x", 5, 0),
            ("softer/1", 7, 8)])
        soft = plain(bodies["ops/soft.html"])
        self.has(soft, "soft_big/40961.5 µs3 µs0.50")
        self.assertNotRegex(soft, "soft_backward_x|softer")
        self.has(bodies["ops/soft_backward.html"], "soft_backward_x")
        self.assertNotIn("libtorch", bodies["ops/soft_backward.html"])

    def test_a_family(self):
        b = self.body("families/soft.html")
        self.has(b, '<p class="lead">Small things. They serve as examples.</p>',
                 '<td><a href="../ops/soft.html">soft</a></td><td>Smooth '
                 "&lt;&amp;&gt; `self` &lt;b&gt;.</td><td>pointwise</td>",
                 "<summary>1 internal</summary>",
                 # Method, in place, out, gradient.
                 "<td>A product of two.</td><td>composite</td><td></td>"
                 "<td></td><td></td><td>✓</td>",
                 "<td>Zeros in place.</td><td>kernel</td><td>✓</td>"
                 "<td>✓</td><td></td><td></td>")
        # A family without a comment says what there is.
        self.has(self.body("families/mine.mine.html"), '<p class="lead">2 '
                 "operators: 1 pointwise, 1 composite.</p>")

    def test_all(self):
        b = self.body("operators.html")
        self.has(plain(b), "8 operators in 3 families.")
        self.has(b, '<a href="ops/mine.bump.html">mine::bump</a>',
                 '<a href="families/soft.html">soft</a>', '<input id="filter"')

    def test_others_are_named_without_a_link(self):
        bodies = self.bodies(description=described(own=True))
        self.assertEqual(sorted(bodies), [
            "families/mine.mine.html", "index.html", "operators.html",
            "ops/mine.bump.html", "ops/mine.twice.html"])
        twice = bodies["ops/mine.twice.html"]
        self.has(twice, '<th>Calls</th><td><a href="mine.bump.html">mine::bump'
                 "</a>, <code>mul</code></td>",
                 ">mul</text>")  # in the picture
        for body in bodies.values():
            self.assertNotRegex(body, "mul.html|gated")
        self.has(bodies["operators.html"], ">2</span> operators in 1 family.")
        self.has(bodies["index.html"], "<dt>family</dt><dd>1</dd>")

    def test_navigation_shows_the_family_of_the_page(self):
        self.bodies()
        page = next(p for _, p in self.site.pages() if p.path == "ops/mul.html")
        html = self.site.render("operator.html", page)
        self.has(html, '<a href="mul.html" aria-current="page">mul</a>',
                 '<li><a href="soft.html">soft</a>', "<details open>",
                 '› <a href="../families/soft.html">soft</a></nav>',
                 "<title>mul · S</title>",
                 "Made from <code>schemas/ops/soft.yaml:22</code>")
        self.assertNotIn('"total.html"', html)

    def test_pages_around(self):
        page = Page("guides/a.html", "A & B", "It's \"so\".", "docs/a.md")
        page.after = Page("guides/b.html", "B", "")
        page.parts = ["<h1>A</h1>"]
        self.bodies()
        html = self.site.render("guide.html", page)
        self.has(html, "<title>A &amp; B · S</title>",
                 "Made from <code>docs/a.md</code>",
                 '<a rel="next" href="b.html">')
        self.assertNotIn('rel="prev"', html)


class Parts(unittest.TestCase):
    def test_link_goes_up_only_as_far_as_it_must(self):
        for here, to, expected in [
                ("ops/add.html", "guides/lazy.html", "../guides/lazy.html"),
                ("index.html", "ops/add.html", "ops/add.html"),
                ("ops/add.html", "ops/sub.html", "sub.html"),
                ("ops/add.html", "index.html", "../index.html"),
                ("ops/add.html", "", "../"), ("index.html", "", "")]:
            self.assertEqual(link(here, to), expected)

    def test_headings_get_ids_links_and_a_list(self):
        html, headings = with_links(
            "<h1>A</h1><h2>One <code>x</code></h2><h3 id=\"k\">Two</h3>"
            "<h2>One x</h2><a class=\"card\" href=\"x\"><h3>In</h3></a>")
        self.assertIn('<h2 id="one-x">One <code>x</code> <a '
                      'class="permalink" href="#one-x"', html)
        self.assertIn("<h3>In</h3></a>", html)
        self.assertEqual(headings, [("2", "one-x", "One x"), ("3", "k", "Two"),
                                    ("2", "one-x-2", "One x")])

    def test_stem_of_names_that_belong_together(self):
        for name in ("softmax", "_softmax", "special_softmax", "softmax_",
                     "_softmax_backward_data", "_masked_softmax",
                     "mine::softmax"):
            self.assertEqual(stem(name), "softmax", name)
        self.assertEqual(stem("_backward"), "backward")

    def test_types_in_words(self):
        for text, expected in {
                "Tensor": "tensor", "ScalarType": "dtype", "SymInt[]": "ints",
                "SymInt[]?": "ints, or none", "int[2]": "2 ints, or one for all",
                "int[1]?": "ints, or one, or none", "bool[3]": "3 bools",
                "Tensor?[]": "tensors, some of them none"}.items():
            self.assertEqual(type_words(text), expected)

    def test_units_of_time(self):
        self.assertEqual([time_text(t) for t in (52.25, 999, 1570000, 4.1e9)],
                         ["52.2 ns", "999 ns", "1.57 ms", "4100 ms"])


if __name__ == "__main__":
    unittest.main()
