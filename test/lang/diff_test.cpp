#include "lang/diff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "lang/element_eval.h"
#include "lang/parser.h"
#include "test/lang/random_expr.h"

namespace sy::lang {
namespace {

std::string derivative(const char* text, const char* by = "self",
                       const char* result = "") {
  Diagnostics d;
  const Expr e =
      differentiate(parse(text), by, {.grad = "grad", .result = result}, d);
  return e ? to_string(e) : d.str();
}

struct Case {
  const char* text;
  const char* by;
  const char* expected;
};

TEST(DiffTest, ReadsAsAPersonWouldWriteIt) {
  const Case cases[] = {
      {"self + alpha * other", "self", "grad"},
      {"self + alpha * other", "other", "grad * alpha"},
      {"self - other", "other", "-grad"},
      {"self * other", "self", "grad * other"},
      {"self / other", "self", "grad / other"},
      {"self / other", "other", "-grad * self / other / other"},
      {"self * self", "self", "2 * grad * self"},
      {"self ** 3", "self", "3 * grad * self * self"},
      {"self ** 2.5", "self", "2.5 * grad * self ** 1.5"},
      {"self ** 0", "self", "0"},
      {"self ** other", "self",
       "if other == 0 then if self == 0 or isnan(self) then 0 else "
       "grad * other * self ** (other - 1) else "
       "grad * other * self ** (other - 1)"},
      {"2 ** self", "self", "0.6931471805599453 * grad * 2 ** self"},
      {"abs(self)", "self", "grad * sign(self)"},
      {"log(self)", "self", "grad / self"},
      {"log2(self)", "self", "grad / (0.6931471805599453 * self)"},
      {"cos(self)", "self", "-grad * sin(self)"},
      {"atan(self)", "self", "grad / (1 + self * self)"},
      {"erf(self)", "self", "1.1283791670955126 * grad * exp(-self * self)"},
      {"lgamma(self)", "self", "grad * digamma(self)"},
      {"atan2(self, other)", "self",
       "if self == 0 and other == 0 then 0 "
       "else grad * other / hypot(self, other) / hypot(self, other)"},
      {"lerp(self, end, weight)", "weight", "grad * (end - self)"},
      {"fma(self, other, 1)", "other", "grad * self"},
      {"square(self - target)", "target", "-2 * grad * (self - target)"},
      {"floor(self) + sign(self) + trunc(self)", "self", "0"},
      {"frac(self)", "self", "grad"},
      {"self > 0", "self", "0"},
      {"self * (other > 0)", "self", "grad * (other > 0)"},
      {"relu(self)", "self", "if self <= 0 then 0 else grad"},
      {"maximum(self, other)", "self",
       "if self == other then grad / 2 else if self < other then 0 else grad"},
      {"maximum(self, 0)", "self", "if self >= 0 then grad else 0"},
      {"clamp(self, low, high)", "self",
       "if self >= low and self <= high then grad else 0"},
      {"where(self > 0, self, slope * self)", "slope",
       "if self > 0 then 0 else grad * self"},
      {"where(self > 0, self, alpha * expm1(self))", "self",
       "if self > 0 then grad else grad * alpha * exp(self)"},
      {"self * sigmoid(self)", "self",
       "grad * sigmoid(self) * (1 + self * (1 - sigmoid(self)))"},
      {"self / (1 + exp(-self))", "self",
       "grad * sigmoid(self) * (1 + self * sigmoid(-self))"},
      {"log1p(exp(self))", "self", "grad * sigmoid(self)"},
      {"where(self * beta > threshold, self, log1p(exp(self * beta)) / beta)",
       "self",
       "if self * beta > threshold then grad else grad * sigmoid(self * beta)"},
      {"xlogy(self, other)", "self",
       "if self == 0 and other <= 0 then 0 else grad * log(other)"},
      {"fmod(self, other)", "other", "-grad * trunc(self / other)"},
      {"let t = tanh(self) in t * t", "self",
       "let t = tanh(self) in 2 * grad * t * (1 - t * t)"},
      {"0.5 * self * (1 + erf(self * sqrt(0.5)))", "self",
       "grad * (0.5 * (1 + erf(0.7071067811865476 * self)) + "
       "0.3989422804014327 * self * exp(-0.5 * self * self))"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(derivative(c.text, c.by), c.expected) << c.text;
  }
}

TEST(DiffTest, UsesTheResultWhereItIsAtHand) {
  const Case cases[] = {
      {"tanh(self)", "self", "grad * (1 - result * result)"},
      {"sigmoid(self)", "self", "grad * result * (1 - result)"},
      {"exp(self)", "self", "grad * result"},
      {"exp2(self)", "self", "0.6931471805599453 * grad * result"},
      {"expm1(self)", "self", "grad * (result + 1)"},
      {"sqrt(self)", "self", "grad / (2 * result)"},
      {"rsqrt(self)", "self", "-0.5 * grad * result ** 3"},
      {"reciprocal(self)", "self", "-grad * result * result"},
      {"1 / self", "self", "-grad * result * result"},
      {"tan(self)", "self", "grad * (1 + result * result)"},
      {"self / other", "other", "-grad * result / other"},
      {"hypot(self, other)", "other",
       "if self == 0 and other == 0 then 0 else grad * other / result"},
      {"self ** other", "other",
       "if self == 0 and other >= 0 then 0 else grad * result * log(self)"},
      {"log(self)", "self", "grad / self"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(derivative(c.text, c.by, "result"), c.expected) << c.text;
  }
}

TEST(DiffTest, AScalarDoesNotSplitTheGradient) {
  const ElementEnv env{{{"self", ElementKind::kTensor},
                        {"other", ElementKind::kTensor},
                        {"min", ElementKind::kNumber}}};
  Diagnostics d;
  EXPECT_EQ(to_string(differentiate(parse("maximum(self, min)"), "self",
                                    {.env = &env}, d)),
            "if self >= min then grad else 0");
  EXPECT_EQ(to_string(differentiate(parse("minimum(other, self)"), "self",
                                    {.env = &env}, d)),
            "if other == self then grad / 2 else if other < self then 0 else "
            "grad");
}

TEST(DiffTest, WhatHasNoDerivativeIsAnError) {
  EXPECT_EQ(derivative("nextafter(self, other)"),
            "<text>:1:1: error: 'nextafter' has no derivative; write "
            "'derivative:' as a formula");
  EXPECT_EQ(derivative("1 + airy_ai(self)"),
            "<text>:1:5: error: 'airy_ai' has no derivative; write "
            "'derivative:' as a formula");
  // Not on the way of the gradient.
  EXPECT_EQ(derivative("self * airy_ai(other)"), "grad * airy_ai(other)");
  EXPECT_EQ(derivative("other"), "0");
}

TEST(DiffTest, DifferentiablePrimitives) {
  for (Prim p :
       {Prim::airy_ai, Prim::chebyshev_t, Prim::chebyshev_u, Prim::chebyshev_v,
        Prim::chebyshev_w, Prim::hermite_h, Prim::hermite_he, Prim::laguerre_l,
        Prim::legendre_p, Prim::nextafter, Prim::bitwise_and, Prim::bitwise_or,
        Prim::bitwise_xor, Prim::bitwise_not, Prim::shift_left,
        Prim::shift_right, Prim::gcd, Prim::lcm}) {
    EXPECT_FALSE(is_differentiable(p)) << kPrims[static_cast<int>(p)].name;
  }
  int known = 0;
  for (int i = 0; i < static_cast<int>(Prim::kCount); ++i) {
    known += is_differentiable(static_cast<Prim>(i));
  }
  EXPECT_EQ(known, static_cast<int>(Prim::kCount) - 18);
}

// The derivative at a point against the slope of a chord.
void expect_slope(const Expr& e, std::map<std::string, double> at,
                  const char* by, const char* result) {
  Diagnostics d;
  const Expr g = differentiate(e, by, {.grad = "grad", .result = result}, d);
  ASSERT_TRUE(g) << to_string(e) << d.str();
  const double h = 1e-6;
  auto left = at, right = at;
  left[by] -= h;
  right[by] += h;
  const double slope = (eval_double(e, right) - eval_double(e, left)) / (2 * h);
  at["grad"] = 1.75;
  at["result"] = eval_double(e, at);
  EXPECT_NEAR(eval_double(g, at), 1.75 * slope, 2e-6 * (1 + std::fabs(slope)))
      << to_string(e) << " by " << by << ": " << to_string(g);
}

TEST(DiffTest, EveryPrimitiveAgreesWithFiniteDifferences) {
  const std::vector<std::vector<double>> points = {
      {0.3, 0.7, 0.45}, {0.62, 0.21, 0.9}, {0.85, 0.5, 0.15}};
  for (int i = 0; i < static_cast<int>(Prim::kCount); ++i) {
    const auto prim = static_cast<Prim>(i);
    const PrimInfo& info = kPrims[i];
    if (!is_differentiable(prim) || info.type == PrimType::BTT_T ||
        info.type == PrimType::B_T) {
      continue;
    }
    const int n = arity(info.type);
    for (const auto& point : points) {
      std::vector<Expr> args;
      std::map<std::string, double> at;
      for (int k = 0; k < n; ++k) {
        const std::string name(1, static_cast<char>('a' + k));
        args.push_back(make_name(name));
        // Defined from 1 on.
        const bool beyond = prim == Prim::acosh || prim == Prim::zeta;
        at[name] = point[k] + (beyond ? 1 : 0);
      }
      const Expr e = make_call(std::string(info.name), args);
      // These have no derivative by their orders.
      const bool ordered = prim == Prim::zeta || prim == Prim::polygamma ||
                           prim == Prim::igamma || prim == Prim::igammac;
      for (int k = ordered ? 1 : 0; k < n; ++k) {
        const std::string by(1, static_cast<char>('a' + k));
        expect_slope(e, at, by.c_str(), "result");
        expect_slope(e, at, by.c_str(), "");
      }
    }
  }
}

TEST(DiffTest, CompositionsAgreeWithFiniteDifferences) {
  const char* const texts[] = {
      "where(self * 2 > 20, self, log1p(exp(self * 2)) / 2)",
      "self * tanh(log1p(exp(self)))",
      "let inner = 0.8 * (self + 0.04 * self ** 3) in "
      "0.5 * self * (1 + tanh(inner))",
      "0.5 * self * (1 + erf(self * sqrt(0.5)))",
      "-(other * log(self) + (1 - other) * log(1 - self))",
      "let a = self * other in let b = a * a + self in exp(b) / a",
      "let a = self * self in (let b = a + a in b * a) - (let b = a in b / 3)",
      "sqrt(square(self - other) + square(self * other)) ** 1.5",
      "relu(self - 0.5) + maximum(maximum(self, other), self * other * 3)",
      "hypot(sin(self), clamp(other * self, 0, 10)) / (self + other)",
      "self ** other + other ** self",
      "1 / (1 + exp(-(self * other)))",
      "self / (1 + exp(self))",
      "min(relu(relu(self * other) * self), 0.4)",
  };
  for (const char* text : texts) {
    const Expr e = parse(text);
    for (double x : {0.23, 0.61, 0.87}) {
      for (const char* by : {"self", "other"}) {
        expect_slope(e, {{"self", x}, {"other", 1.1 - x}}, by, "result");
      }
    }
  }
}

TEST(DiffTest, LongChainsStaySmall) {
  std::string deep = "self";
  for (int i = 0; i < 40; ++i) deep = "maximum(" + deep + ", other)";
  std::string nested = "self";
  for (int i = 0; i < 40; ++i) nested = "relu(" + nested + " * other)";
  std::string lets, last = "self";
  for (int i = 0; i < 60; ++i) {
    const std::string name = "v" + std::to_string(i);
    lets += "let " + name + " = " + last + " * " + last + " in ";
    last = name;
  }
  for (const std::string& text : {deep, nested, lets + last}) {
    Diagnostics d;
    const Expr g = differentiate(parse(text), "self", {}, d);
    ASSERT_TRUE(g) << d.str();
    EXPECT_LT(to_string(g).size(), 200 * text.size());
  }
}

// Expressions of n steps whose derivatives double at each as text.
std::string chained(const std::string& step, int n) {
  std::string text, last = "self";
  for (int i = 0; i < n; ++i) {
    std::string value;
    for (const char c : step) value += c == '@' ? last : std::string(1, c);
    last = "v" + std::to_string(i);
    text += "let " + last + " = " + value + " in ";
  }
  return text + last;
}

// Each binding is used by all that follow: 2^n paths.
std::string braided(int n) {
  std::string text, sum = "self / 3";
  for (int i = 0; i < n; ++i) {
    const std::string name = "v" + std::to_string(i);
    text += "let " + name + " = " + sum + " in ";
    sum += " + sin(" + name + ") / 3";
  }
  return text + sum;
}

std::string repeated(const std::string& first, const std::string& more, int n) {
  std::string text = first;
  for (int i = 0; i < n; ++i) text += more;
  return text;
}

std::string nested_choice(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    text += "if self < " + std::to_string(i) + " then self * sin(self) else (";
  }
  return text + "self * self" + std::string(static_cast<size_t>(n), ')');
}

const std::vector<std::string>& growing() {
  static const auto* const all = new std::vector<std::string>{
      chained("@ * @ / 8 + sin(@)", 16),
      chained("@ * sin(@)", 40),
      chained("cos(@ * self)", 30),
      chained("if @ > 0 then @ * sin(@) else cos(@) * @", 20),
      braided(20),
      repeated("self", " ** (self", 14) + std::string(14, ')'),
      repeated("self", " / sin(self + 2)", 30),
      repeated("self", " * cos(self)", 30),
      repeated("sin(self * cos(", "self * cos(", 12) + "self" +
          std::string(14, ')'),
      nested_choice(24),
  };
  return *all;
}

// Varied: what is repeated, and how. Never varied: self is the only tensor.
TEST(DiffTest, SharesWhatWouldDouble) {
  for (const std::string& text : growing()) {
    SCOPED_TRACE(text);
    Diagnostics d;
    const Expr e = parse(text);
    const Expr g = differentiate(e, "self", {}, d);
    ASSERT_TRUE(g) << d.str();
    EXPECT_LT(to_string(g).size(), 60 * text.size());
    for (const double x : {0.3, 0.9, 1.4}) {
      const double h = 1e-6;
      const double slope = (eval_double(e, {{"self", x + h}}) -
                            eval_double(e, {{"self", x - h}})) /
                           (2 * h);
      const double got = eval_double(g, {{"self", x}, {"grad", 1.0}});
      EXPECT_NEAR(got, slope, 1e-4 * std::max(1.0, std::abs(slope))) << x;
    }
  }
}

TEST(DiffTest, TooLargeIsAnErrorAndNotAHang) {
  for (const std::string& text :
       {chained("@ * @ + sin(@)", 190), braided(90),
        repeated("self", " * cos(self)", 190),
        repeated("self", " + self * sin(self)", 190),
        repeated("self", " ** (self", 95) + std::string(95, ')'),
        nested_choice(95)}) {
    Diagnostics d;
    const Expr g = differentiate(parse(text), "self", {}, d);
    if (g) {
      EXPECT_LT(to_string(g).size(), 60 * text.size());
      continue;
    }
    ASSERT_EQ(d.size(), 1u);
    EXPECT_EQ(d.all()[0].message,
              "the derivative is too large for 'auto'; write it as a formula, "
              "or the operator as a 'composite:'");
  }
}

TEST(SimplifyTest, WhatIsMadeCanBePrintedAndRead) {
  RandomExpr random(9);
  for (int i = 0; i < 2000; ++i) {
    const Expr e = with_unique_bindings(random.number(1 + i % 5));
    Diagnostics d;
    for (const Expr& made : {fold(e), simplify(e), share(e),
                             differentiate(e, "x", {.result = "result"}, d)}) {
      ASSERT_TRUE(made) << d.str();
      ASSERT_TRUE(equal(parse(to_string(made)), made)) << to_string(made);
    }
  }
}

TEST(SimplifyTest, FoldingAgainFindsNothing) {
  RandomExpr random(13);
  for (int i = 0; i < 3000; ++i) {
    const Expr once = fold(random.number(1 + i % 5));
    ASSERT_TRUE(equal(fold(once), once)) << to_string(once) << "\n"
                                         << to_string(fold(once));
  }
}

TEST(SimplifyTest, IsEqualAsARealFunction) {
  RandomExpr random(5);
  for (int i = 0; i < 3000; ++i) {
    const Expr e = random.number(1 + i % 5);
    const std::map<std::string, double> at = {{"x", random.value() + 0.03},
                                              {"y", random.value() + 0.01},
                                              {"s", random.value() + 0.02},
                                              {"flag", 1}};
    const Expr plain = with_unique_bindings(fold(e));
    const double expected = eval_double(plain, at);
    // Comparisons of what is equal may go either way after rounding.
    const double nudged = [&] {
      auto moved = at;
      for (auto& [name, v] : moved) {
        if (name != "flag") v += 1e-9;
      }
      return eval_double(plain, moved);
    }();
    if (std::fabs(nudged - expected) > 1e-4 * (1 + std::fabs(expected))) {
      continue;
    }
    EXPECT_NEAR(eval_double(simplify(plain), at), expected,
                1e-7 * (1 + std::fabs(expected)))
        << to_string(plain) << "\n"
        << to_string(simplify(plain));
  }
}

}  // namespace
}  // namespace sy::lang
