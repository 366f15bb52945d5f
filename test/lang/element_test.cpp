#include "lang/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "c10/schema/parser.h"
#include "lang/element_eval.h"
#include "lang/parser.h"
#include "test/lang/random_expr.h"

namespace sy::lang {
namespace {

ElementEnv env() {
  return ElementEnv::of(parse_schema(
      "f(Tensor self, Tensor other, Scalar alpha=1, bool flag=False, "
      "float? eps=None, *, str mode='none', int[] dims=[]) -> Tensor"));
}

std::string errors(const char* text) {
  Diagnostics d;
  const Expr e = parse(text);
  EXPECT_FALSE(check_element(e, env(), d)) << text;
  return d.str();
}

std::string type(const char* text) {
  Diagnostics d;
  const auto t = check_element(parse(text), env(), d);
  if (!t) return d.str();
  return std::string(t->uniform ? "uniform " : "") +
         (t->is_bool ? "bool" : "number");
}

TEST(ElementTest, Types) {
  EXPECT_EQ(type("self + alpha * 2"), "number");
  EXPECT_EQ(type("alpha * 2 + pi"), "uniform number");
  EXPECT_EQ(type("self > 0 and flag"), "bool");
  EXPECT_EQ(type("flag or alpha == 1"), "uniform bool");
  EXPECT_EQ(type("where(self, other, 1)"), "number");
  EXPECT_EQ(type("where(self, isnan(other), true)"), "bool");
  EXPECT_EQ(type("if mode == 'tanh' then self else alpha"), "number");
  EXPECT_EQ(type("eps == None"), "uniform bool");
  EXPECT_EQ(type("let t = exp(self) in t > 1"), "bool");
  EXPECT_EQ(type("max(self, other, alpha)"), "number");
}

TEST(ElementTest, ErrorsNameTheNearest) {
  EXPECT_EQ(errors("slf + oher"),
            "<text>:1:1: error: unknown name 'slf' (did you mean 'self'?)\n"
            "<text>:1:7: error: unknown name 'oher' (did you mean 'other'?)");
  EXPECT_EQ(errors("sigmiod(self)"),
            "<text>:1:1: error: unknown function 'sigmiod' (did you mean "
            "'sigmoid'?)");
  EXPECT_EQ(errors("exp(self, 2) + clamp(self)"),
            "<text>:1:1: error: 'exp' expects 1 argument, got 2\n"
            "<text>:1:16: error: 'clamp' expects 3 arguments, got 1");
  EXPECT_EQ(errors("exp + 1"),
            "<text>:1:1: error: 'exp' is a function; its "
            "arguments are missing");
  EXPECT_EQ(errors("dims"), "<text>:1:1: error: unknown name 'dims'");
  EXPECT_EQ(errors("exp(x=self)"),
            "<text>:1:1: error: 'exp' takes no keyword arguments");
}

TEST(ElementTest, WhatAnElementIsNot) {
  EXPECT_EQ(errors("self.sizes()"),
            "<text>:1:6: error: an element has no methods; got '.sizes()'");
  EXPECT_EQ(errors("self[0]"),
            "<text>:1:5: error: an element cannot be "
            "indexed");
  EXPECT_EQ(errors("[self]"),
            "<text>:1:1: error: expected the value of one element, got a list");
  EXPECT_EQ(errors("None"),
            "<text>:1:1: error: None can only be compared: 'x "
            "== None'");
  EXPECT_EQ(errors("mode"),
            "<text>:1:1: error: 'mode' is a str; compare it "
            "with a literal: mode == 'text'");
  EXPECT_EQ(errors("self == 'a'"),
            "<text>:1:1: error: expected a str argument beside a string");
  EXPECT_EQ(errors("alpha == None"),
            "<text>:1:1: error: expected an optional argument beside None");
  EXPECT_EQ(errors("eps < None"),
            "<text>:1:5: error: expected '==' or '!=', got '<'");
  EXPECT_EQ(errors("let self = 1 in self"),
            "<text>:1:1: error: 'self' is already defined");
}

std::string folded(const char* text) { return to_string(fold(parse(text))); }

TEST(ElementTest, Folds) {
  EXPECT_EQ(folded("self * (pi / 180)"), "self * 0.017453292519943295");
  EXPECT_EQ(folded("2 * 3 + self ** (4 - 2)"), "6 + self ** 2");
  EXPECT_EQ(folded("1 / 2"), "0.5");
  EXPECT_EQ(folded("7 // 2 + -7 % 4"), "4");
  EXPECT_EQ(folded("2 ** -1"), "0.5");
  EXPECT_EQ(folded("sqrt(2)"), "1.4142135623730951");
  EXPECT_EQ(folded("1 * self + 0 - 0"), "self");
  EXPECT_EQ(folded("-1 * self"), "-self");
  EXPECT_EQ(folded("0 * self"), "0 * self");  // not for NaN
  EXPECT_EQ(folded("if 1 < 2 then self else other"), "self");
  EXPECT_EQ(folded("if self > 0 then other else other"), "other");
  EXPECT_EQ(folded("not not true and self > 0"), "self > 0");
  EXPECT_EQ(folded("let k = 2 in let t = self in k * t"), "2 * self");
  EXPECT_EQ(folded("let t = exp(self) in 1"), "1");
  EXPECT_EQ(folded("(self > 0) + 0"), "(self > 0) + 0");  // makes it a number
}

TEST(ElementTest, FoldingIsExact) {
  RandomExpr random(11);
  for (int i = 0; i < 3000; ++i) {
    const Expr e = random.number(1 + i % 5);
    const std::map<std::string, double> values = {{"x", random.value()},
                                                  {"y", random.value()},
                                                  {"s", random.value()},
                                                  {"flag", i % 2}};
    EXPECT_EQ(eval_double(e, values), eval_double(fold(e), values))
        << to_string(e);
  }
}

TEST(ElementTest, SugarExpands) {
  EXPECT_EQ(to_string(expand_element(parse("relu(self)"))),
            "if self <= 0 then 0 else self");
  EXPECT_EQ(to_string(expand_element(parse("relu(self + 1)"))),
            "let relu_x = self + 1 in if relu_x <= 0 then 0 else relu_x");
  EXPECT_EQ(to_string(expand_element(parse("where(a, add(b, c), pow(b, 2))"))),
            "if a then b + c else b ** 2");
  EXPECT_EQ(to_string(expand_element(parse("max(a, b, c)"))),
            "maximum(maximum(a, b), c)");
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(eval_double(parse("relu(x)"), {{"x", nan}})));
  EXPECT_EQ(eval_double(parse("relu(x)"), {{"x", -1}}), 0);
}

TEST(ElementTest, Specialises) {
  const auto special = [](const char* text, Bindings b) {
    return to_string(specialise(parse(text), b));
  };
  EXPECT_EQ(special("self + alpha * other", {{"alpha", make_int(1)}}),
            "self + other");
  EXPECT_EQ(special("if eps == None then self else clamp(self, eps, 1)",
                    {{"eps", make_none()}}),
            "self");
  EXPECT_EQ(special("if eps == None then self else clamp(self, eps, 1)",
                    {{"eps", make_double(0.5)}}),
            "clamp(self, 0.5, 1)");
  EXPECT_EQ(special("if mode == 'tanh' then tanh(self) else erf(self)",
                    {{"mode", make_string("none")}}),
            "erf(self)");
}

}  // namespace
}  // namespace sy::lang
