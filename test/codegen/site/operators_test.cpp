#include "codegen/site/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "codegen/site/operators_html.h"
#include "codegen/site/operators_names.h"
#include "codegen/site/operators_words.h"
#include "lang/parser.h"

namespace sy::codegen::site {
namespace {

constexpr const char* kOps = R"(# yaml-language-server: $schema=x.json
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
)";
// Overloads, of which one has the bare name.
constexpr const char* kTotal = R"(- func: total(Tensor self) -> Tensor
  doc: The sum of all.
  reduce: {map: self, identity: 0, combine: a + b}
  derivative: non_differentiable

- func: total.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  doc: The sum along some dims.
  reduce: {map: self, identity: 0, combine: a + b}
  derivative: non_differentiable
)";
constexpr const char* kMine = R"(- func: mine::bump(Tensor self) -> Tensor
  doc: 1 above.
  pointwise: self + 1
  derivative:
    self: auto
)";

class OperatorPages : public ::testing::Test {
 protected:
  void SetUp() override {
    lang::Diagnostics d;
    model_ =
        Model::load(std::vector<SourceText>{{"/x/schemas/ops/soft.yaml", kOps},
                                            {"total.yaml", kTotal},
                                            {"mine.yaml", kMine}},
                    d);
    ASSERT_EQ(d.str(), "");
  }

  void facts(const std::string& text) {
    lang::Diagnostics d;
    facts_ = read_facts("facts.json", text, d);
    ASSERT_EQ(d.str(), "");
  }

  const std::vector<Page>& pages() {
    if (pages_.empty())
      pages_ = operator_pages(model_, model_.families(), facts_);
    return pages_;
  }
  std::string body(const std::string& path) {
    for (const Page& p : pages()) {
      if (p.path == path) return p.body;
    }
    ADD_FAILURE() << "no page " << path;
    return "";
  }

  Model model_;
  Facts facts_;
  std::vector<Page> pages_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// Text without tags.
std::string plain(const std::string& html) {
  std::string out;
  bool tag = false;
  for (const char c : html) {
    tag |= c == '<';
    if (!tag) out += c;
    if (c == '>') tag = false;
  }
  return out;
}

TEST_F(OperatorPages, OneForEachNameAndFamily) {
  std::vector<std::string> paths;
  for (const Page& p : pages()) paths.push_back(p.path);
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths,
            (std::vector<std::string>{
                "families/mine.mine.html", "families/soft.html",
                "families/total.html", "operators.html", "ops/gated.html",
                "ops/mine.bump.html", "ops/mul.html", "ops/reset.html",
                "ops/soft.html", "ops/soft_backward.html", "ops/total.html"}));
}

TEST_F(OperatorPages, APage) {
  const auto it =
      std::find_if(pages().begin(), pages().end(),
                   [](const Page& p) { return p.path == "ops/soft.html"; });
  ASSERT_NE(it, pages().end());
  EXPECT_EQ(it->title, "soft");
  EXPECT_EQ(it->place, "operators");
  EXPECT_EQ(it->summary, "Smooth <&> `self` <b>.");
  const std::string& b = it->body;
  EXPECT_TRUE(has(b, ">pointwise</span></h1>"));
  EXPECT_TRUE(has(b,
                  "<p class=\"lead\">Smooth &lt;&amp;&gt; "
                  "<code>self</code> &lt;b&gt;.</p>"));
  EXPECT_FALSE(has(b, "<&>"));
  EXPECT_TRUE(has(b, "schemas/ops/soft.yaml:5"));
  EXPECT_TRUE(has(b, "torch.ops.aten.soft<"));
  EXPECT_TRUE(has(b, "<p>They serve as examples.</p>"));
  const std::string text = plain(b);
  EXPECT_TRUE(has(text,
                  "Tensor sy::soft(const Tensor&amp; self, const "
                  "Scalar&amp; beta = 1);"));
  EXPECT_TRUE(has(text, "Tensor Tensor::soft(const Scalar&amp; beta = 1)"));
  EXPECT_TRUE(has(text, "Tensor&amp; sy::soft_out("));
  EXPECT_TRUE(has(text,
                  "soft_(Tensor(a!) self, Scalar beta=1) -&gt; "
                  "Tensor(a!)"));
  EXPECT_TRUE(has(b,
                  "<td><code>beta</code></td><td>number</td>"
                  "<td><code>1</code></td>"
                  "<td>above 0: <code>beta &gt; 0</code></td>"));
  EXPECT_TRUE(has(text, "that of self; the default dtype for integers"));
  EXPECT_TRUE(has(b, "soft_backward(grad, self, beta)"));
  EXPECT_TRUE(has(b, "log1p(exp(self * beta)) / beta"));
  // Its entry, and no more of the file.
  EXPECT_TRUE(has(text, "  doc: Smooth &lt;&amp;&gt; `self` &lt;b&gt;."));
  EXPECT_FALSE(has(text, "doc: The derivative of soft."));
}

TEST_F(OperatorPages, LinksBothWays) {
  EXPECT_TRUE(has(body("ops/gated.html"), "<a href=\"mul.html\">mul</a>"));
  EXPECT_TRUE(has(body("ops/gated.html"), "<a href=\"soft.html\">soft</a>"));
  EXPECT_TRUE(has(body("ops/mul.html"),
                  "<th>Part of</th><td><a href=\"gated.html\">gated</a>"));
  EXPECT_TRUE(has(body("ops/soft_backward.html"),
                  "<th>In gradients of</th><td><a href=\"soft.html\">soft"));
  EXPECT_TRUE(has(body("ops/soft_backward.html"),
                  "<th>See also</th><td><a href=\"soft.html\">soft</a></td>"));
  EXPECT_TRUE(has(body("ops/mul.html"), "href=\"../families/soft.html\""));
}

TEST_F(OperatorPages, LinksLeadToPages) {
  std::set<std::string> paths;
  for (const Page& p : pages()) paths.insert(p.path);
  int links = 0;
  for (const Page& p : pages()) {
    for (std::size_t at = 0;
         (at = p.body.find("href=\"", at)) != std::string::npos; ++links) {
      at += 6;
      std::string to = p.body.substr(at, p.body.find('"', at) - at);
      const std::size_t slash = p.path.rfind('/');
      std::string folder =
          slash == p.path.npos ? "" : p.path.substr(0, slash + 1);
      if (to.starts_with("../")) {
        to = to.substr(3);
        folder.clear();
      }
      EXPECT_EQ(paths.count(folder + to), 1u) << p.path << " has " << to;
    }
  }
  EXPECT_GT(links, 20);
}

TEST_F(OperatorPages, WhatSeveralArgumentsMustBe) {
  const std::string b = body("ops/soft_backward.html");
  const std::string item =
      "<li>as many dims: <code>grad.dim() == self.dim()</code></li>";
  EXPECT_GT(b.find(item), b.find("id=\"errors\""));
  EXPECT_TRUE(has(b, item));
  EXPECT_EQ(b.find("as many dims"), b.rfind("as many dims: <"));
}

TEST_F(OperatorPages, Overloads) {
  const std::string b = body("ops/mul.html");
  EXPECT_TRUE(has(b, "<h2 id=\"mul.Tensor\">"));
  EXPECT_TRUE(has(b, "<h2 id=\"mul.Scalar\">"));
  EXPECT_TRUE(has(b, "<h3 id=\"mul.Scalar-gradient\">"));
  EXPECT_TRUE(has(b, "<p>The product with a number.</p>"));
  EXPECT_TRUE(has(b, "<td>broadcast with the other tensors</td>"));
}

TEST_F(OperatorPages, Internal) {
  EXPECT_TRUE(has(body("ops/soft_backward.html"), "class=\"note\">Internal"));
  EXPECT_FALSE(has(body("ops/soft_backward.html"), "torch.ops"));
  EXPECT_FALSE(has(body("ops/soft.html"), "Internal"));
}

TEST_F(OperatorPages, InPlaceAlone) {
  const std::string b = body("ops/reset.html");
  EXPECT_TRUE(has(b, "<h1>reset_ "));
  EXPECT_TRUE(has(b, "<td>tensor</td><td>is written</td>"));
  EXPECT_TRUE(has(plain(b), "sy::composite::reset_ in aten/composite/soft*"));
}

TEST_F(OperatorPages, AnOwnNamespace) {
  const std::string b = body("ops/mine.bump.html");
  EXPECT_TRUE(has(b, "<h1>mine::bump "));
  EXPECT_TRUE(has(plain(b), "Tensor mine::bump(const Tensor&amp; self);"));
  EXPECT_FALSE(has(b, "torch.ops"));
  EXPECT_TRUE(has(body("families/mine.mine.html"),
                  "<a href=\"../ops/mine.bump.html\">mine::bump</a>"));
}

TEST_F(OperatorPages, Facts) {
  facts(R"_({"devices": ["cpu"], "operators": {
    "soft": {
      "example": {"lines": ["sy::Tensor self = sy::ones({2});"],
                  "call": "sy::soft(self)", "output": " 1 < 2"},
      "errors": [{"call": "sy::soft()", "type": "ValueError",
                  "text": "[soft] a<b"}],
      "dtypes": {
  "cpu" : [ [ "native", "float32,float64" ], [ "composed", "int64" ] ]
}
}
, "mul.Scalar" : {"example" : {"call" : "sy::mul(a, 2)"}},
                 "mul" : {"example" : {"call" : "sy::mul(a, b)"}},
                         "mine::bump" : {
  "example" : { "call" : "sy::mine::bump(a)" }
}
}
})_");
  const std::string text = plain(body("ops/soft.html"));
  EXPECT_TRUE(has(text, "sy::Tensor self = sy::ones({2});\nsy::soft(self)"));
  EXPECT_TRUE(has(text, " 1 &lt; 2"));
  EXPECT_TRUE(has(text, "sy::soft();\n// ValueError: [soft] a&lt;b"));
  const std::string b = body("ops/soft.html");
  EXPECT_TRUE(has(b, "<th>float64</th>"));
  EXPECT_TRUE(has(b,
                  "<td class=\"native\" title=\"a kernel of the "
                  "device\">●</td>"));
  EXPECT_TRUE(has(text, "native: a kernel of the device, ◐ composed"));
  EXPECT_FALSE(has(text, "on the CPU, and back"));
  const std::string mul = plain(body("ops/mul.html"));
  // An example of some overload comes before all of them.
  EXPECT_LT(mul.find("sy::mul(a, b)"), mul.find("mul.Tensor"));
  EXPECT_GT(mul.find("sy::mul(a, 2)"), mul.find("mul.Scalar"));
  EXPECT_TRUE(has(plain(body("ops/mine.bump.html")), "sy::mine::bump(a)"));
}

// The example may be of total.dim.
TEST_F(OperatorPages, FactsOfABareNameAreSharedByItsOverloads) {
  facts(R"_({"operators": {"total": {"example": {"call": "sy::total(a, 1)"},
      "dtypes": {"cpu": [["native", "bool"]]}}}})_");
  const std::string b = body("ops/total.html");
  EXPECT_LT(plain(b).find("sy::total(a, 1)"), b.find("id=\"total\""));
  EXPECT_LT(b.find("id=\"example\""), b.find("id=\"total\""));
  EXPECT_TRUE(has(b, "<p>On cpu: <code>bool</code>.</p>"));
}

TEST_F(OperatorPages, WithoutFacts) {
  const std::string b = body("ops/soft.html");
  EXPECT_TRUE(has(plain(b), "sy::soft(sy::rand({2, 3}))"));
  EXPECT_FALSE(has(b, "id=\"dtypes\""));
  EXPECT_FALSE(has(b, "id=\"speed\""));
}

TEST_F(OperatorPages, TimingsOfTheLongestName) {
  facts_.timings["soft_big"] = {{"soft_big/4096", 1500, 3000}};
  facts_.timings["soft_backward_x"] = {{"soft_backward_x", 5, 0}};
  facts_.timings["softer"] = {{"softer/1", 7, 8}};
  const std::string soft = plain(body("ops/soft.html"));
  EXPECT_TRUE(has(soft, "soft_big/40961.5 µs3 µs0.50"));
  EXPECT_FALSE(has(soft, "soft_backward_x"));
  EXPECT_FALSE(has(soft, "softer"));
  const std::string backward = body("ops/soft_backward.html");
  EXPECT_TRUE(has(backward, "soft_backward_x"));
  EXPECT_FALSE(has(backward, "libtorch"));
}

TEST_F(OperatorPages, AFamily) {
  const std::string b = body("families/soft.html");
  EXPECT_TRUE(has(b,
                  "<p class=\"lead\">Small things. They serve as "
                  "examples.</p>"));
  EXPECT_TRUE(has(b,
                  "<td><a href=\"../ops/soft.html\">soft</a></td><td>Smooth "
                  "&lt;&amp;&gt; `self` &lt;b&gt;.</td><td>pointwise</td>"));
  EXPECT_TRUE(has(b, "<summary>1 internal</summary>"));
  // Method, in place, out, gradient.
  EXPECT_TRUE(has(b,
                  "<td>A product of two.</td><td>composite</td><td></td>"
                  "<td></td><td></td><td>✓</td>"));
  EXPECT_TRUE(has(b,
                  "<td>Zeros in place.</td><td>kernel</td><td>✓</td>"
                  "<td>✓</td><td></td><td></td>"));
  // A family without a comment says what there is.
  EXPECT_TRUE(has(body("families/mine.mine.html"),
                  "<p class=\"lead\">1 operator: 1 pointwise.</p>"));
}

TEST_F(OperatorPages, All) {
  const std::string b = body("operators.html");
  EXPECT_TRUE(has(plain(b), "7 operators in 3 families."));
  EXPECT_TRUE(has(b, "<a href=\"ops/mine.bump.html\">mine::bump</a>"));
  EXPECT_TRUE(has(b, "<a href=\"families/soft.html\">soft</a>"));
  EXPECT_TRUE(has(b, "<input id=\"filter\""));
}

TEST(Stem, OfNamesThatBelongTogether) {
  for (const char* name :
       {"softmax", "_softmax", "special_softmax", "_softmax_backward_data",
        "_masked_softmax", "softmax_", "mine::softmax"}) {
    EXPECT_EQ(stem(name), "softmax") << name;
  }
  EXPECT_EQ(stem("_backward"), "backward");
}

TEST(LaidOut, LetAndIf) {
  EXPECT_EQ(laid_out(lang::parse("let x = 1 in x + 1")), "let x = 1 in x + 1");
  EXPECT_EQ(laid_out(lang::parse(
                "let some_value = one_function(first_argument) in if "
                "some_value == None then another_function(1) else if "
                "some_value > 2 then 3 else some_value")),
            "let some_value = one_function(first_argument) in\n"
            "if some_value == None then\n"
            "  another_function(1)\n"
            "else if some_value > 2 then 3 else some_value");
}

TEST(Words, Types) {
  const auto words = [](const char* type) {
    return type_words(*Type::base_named(type));
  };
  EXPECT_EQ(words("Tensor"), "tensor");
  EXPECT_EQ(words("ScalarType"), "dtype");
  const Type ints = Type::list_of(TypeKind::kSymInt);
  EXPECT_EQ(type_words(ints), "ints");
  EXPECT_EQ(type_words(Type::optional_of(ints)), "ints, or none");
  EXPECT_EQ(type_words(Type::list_of(TypeKind::kInt, 2)),
            "2 ints, or one for all");
  EXPECT_EQ(type_words(Type::list_of(TypeKind::kBool, 3)), "3 bools");
  EXPECT_EQ(type_words(Type::list_of(Type::optional_of(TypeKind::kTensor))),
            "tensors, some of them none");
}

TEST(Time, Units) {
  EXPECT_EQ(time_text(52.25), "52.2 ns");
  EXPECT_EQ(time_text(999), "999 ns");
  EXPECT_EQ(time_text(1570000), "1.57 ms");
  EXPECT_EQ(time_text(4100000000.0), "4100 ms");
}

}  // namespace
}  // namespace sy::codegen::site
