#include "lang/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "test/lang/random_expr.h"

namespace sy::lang {
namespace {

std::string error_of(const std::string& text) {
  Diagnostics d;
  EXPECT_EQ(parse(Text(text), d), nullptr) << text;
  EXPECT_EQ(d.size(), 1u);
  return d.str();
}

// Prints with every operation in parentheses, to show how a text was read.
std::string grouped(const Expr& e) {
  if (e->kind == ExprKind::kUnary) {
    return "(" + std::string(to_string(e->op)) + " " + grouped(e->children[0]) +
           ")";
  }
  if (e->kind == ExprKind::kBinary) {
    return "(" + grouped(e->children[0]) + " " + std::string(to_string(e->op)) +
           " " + grouped(e->children[1]) + ")";
  }
  return to_string(e);
}

std::string group(const char* text) { return grouped(parse(text)); }

TEST(ParserTest, OperatorsBindAsInPython) {
  EXPECT_EQ(group("a + b * c - d"), "((a + (b * c)) - d)");
  EXPECT_EQ(group("a / b * c // d % e"), "((((a / b) * c) // d) % e)");
  EXPECT_EQ(group("-a ** b"), "(- (a ** b))");
  EXPECT_EQ(group("a ** -b ** c"), "(a ** (- (b ** c)))");
  EXPECT_EQ(group("-2 ** 2"), "(- (2 ** 2))");
  EXPECT_EQ(group("not a == b and c or d"), "(((not (a == b)) and c) or d)");
  EXPECT_EQ(group("-a.b[0]"), "(- a.b[0])");
}

TEST(ParserTest, ANegativeLiteralIsOneNumber) {
  EXPECT_EQ(parse("-1")->kind, ExprKind::kNumber);
  EXPECT_EQ(parse("-(1)")->kind, ExprKind::kUnary);
  EXPECT_EQ(parse("-9223372036854775808")->number.i, INT64_MIN);
  EXPECT_EQ(to_string(parse("-(1) - -1")), "-(1) - -1");
}

TEST(ParserTest, PrintsWithTheFewestParentheses) {
  for (const char* text : {"a - (b - c)",
                           "(a + b) * c",
                           "(a ** b) ** c",
                           "(-a) ** 2",
                           "-(a + b)",
                           "not (a or b)",
                           "(not a) == b",
                           "(if a then b else c) + 1",
                           "if a then b else c + 1",
                           "let x = a in x * x",
                           "(let x = a in x) * x",
                           "f(a, b, dim=0)",
                           "self.sum([0, 1], keepdim=true)",
                           "(1).size()",
                           "a[1:][:2][0]",
                           "a[:]",
                           "[x + 1 for x in a if x != 0]",
                           "[]",
                           "1.0",
                           "1e+20",
                           "-inf",
                           "nan",
                           "pi",
                           "'text'",
                           "\"it's\"",
                           "None"}) {
    EXPECT_EQ(to_string(parse(text)), text);
  }
}

TEST(ParserTest, PrintedTreesParseToThemselves) {
  RandomExpr random(7);
  for (int i = 0; i < 20000; ++i) {
    const Expr e = random.any(1 + i % 5);
    const std::string text = to_string(e);
    Diagnostics d;
    const Expr again = parse(Text(text), d);
    ASSERT_TRUE(again) << text << "\n" << d.str();
    ASSERT_TRUE(equal(e, again)) << text << "\n" << to_string(again);
    ASSERT_EQ(hash(e), hash(again));
  }
}

TEST(ParserTest, EveryNodeKnowsItsPlace) {
  Location at;
  at.file = "a.yaml";
  at.line = 3;
  at.column = 14;
  Diagnostics d;
  const Expr e = parse(Text("a + f(b)", at), d);
  EXPECT_EQ(to_string(e->at), "a.yaml:3:16");
  EXPECT_EQ(to_string(e->children[1]->at), "a.yaml:3:18");
  EXPECT_EQ(to_string(e->children[1]->children[0]->at), "a.yaml:3:20");
}

TEST(ParserTest, ErrorsSayWhatWasExpectedAndWhere) {
  EXPECT_EQ(error_of(""),
            "<text>:1:1: error: expected an expression, got none");
  EXPECT_EQ(error_of("a +"),
            "<text>:1:4: error: expected an operand, got the end");
  EXPECT_EQ(error_of("a b"),
            "<text>:1:3: error: expected an operator or the end, got 'b'");
  EXPECT_EQ(error_of("f(a, b"),
            "<text>:1:7: error: expected ')' after the "
            "arguments of 'f', got the end");
  EXPECT_EQ(error_of("a && b"),
            "<text>:1:3: error: '&&' is no operator; write 'and'");
  EXPECT_EQ(error_of("a ? b : c"),
            "<text>:1:3: error: '?' is no operator; write 'if condition then a "
            "else b'");
  EXPECT_EQ(error_of("a < b < c"),
            "<text>:1:7: error: comparisons do not "
            "chain; write 'a < b and b < c'");
  EXPECT_EQ(error_of("a = b"),
            "<text>:1:3: error: expected an operator, got "
            "'='; equality is '=='");
  EXPECT_EQ(error_of("if a then b"),
            "<text>:1:12: error: expected 'else' after "
            "the first branch of an if, got the end");
  EXPECT_EQ(error_of("let if = 1 in 2"),
            "<text>:1:5: error: expected a name after 'let', got 'if'");
  EXPECT_EQ(error_of("f(a=1, b)"),
            "<text>:1:8: error: a positional argument "
            "after a keyword argument");
  EXPECT_EQ(error_of("f(a=1, a=2)"),
            "<text>:1:8: error: argument 'a' is given twice");
  EXPECT_EQ(error_of("9223372036854775808"),
            "<text>:1:1: error: integer 9223372036854775808 does not fit into "
            "64 bits");
  EXPECT_EQ(error_of("1e999"),
            "<text>:1:1: error: number 1e999 does not fit into a double");
  EXPECT_EQ(error_of("2x"),
            "<text>:1:2: error: expected an operator after the "
            "number, got 'x'");
  EXPECT_EQ(error_of("'abc"), "<text>:1:1: error: string without an end");
  EXPECT_EQ(error_of("a $ b"), "<text>:1:3: error: unexpected '$'");
  EXPECT_EQ(error_of("a \xc3\xa9"), "<text>:1:3: error: unexpected byte 0xc3");
}

TEST(ParserTest, NothingIsTooDeep) {
  const std::string deep = "the expression is nested more than ";
  EXPECT_NE(error_of(std::string(10000, '(')).find(deep), std::string::npos);
  EXPECT_NE(error_of(std::string(10000, '-') + "a").find(deep),
            std::string::npos);
  std::string sum = "a";
  std::string power = "a";
  std::string dots = "a";
  std::string lets;
  for (int i = 0; i < 10000; ++i) {
    sum += "+a";
    power += "**a";
    dots += ".a";
    lets += "let a = b in ";
  }
  for (const std::string& text : {sum, power, dots, lets}) {
    EXPECT_NE(error_of(text).find(deep), std::string::npos);
  }
}

TEST(ParserTest, CutTextsAreErrorsAndNotCrashes) {
  const std::string text =
      "let t = [x ** 2 for x in a.sizes()[1:] if not x == -1.5e3] in "
      "if f(t, 'no', dim=(None)) then t[0] else pi % 2 // 3";
  ASSERT_TRUE(parse(text));
  for (std::size_t n = 0; n < text.size(); ++n) {
    Diagnostics d;
    const Expr e = parse(Text(text.substr(0, n)), d);
    EXPECT_NE(e == nullptr, d.empty());
  }
}

TEST(AstTest, FreeNamesRespectBindings) {
  const auto names = free_names(parse("let x = x + a.b in [x + y for y in y]"));
  EXPECT_EQ(names, (std::vector<std::string>{"a.b", "x", "y"}));
  EXPECT_TRUE(mentions(parse("let x = y in x"), "y"));
  EXPECT_FALSE(mentions(parse("let x = y in x"), "x"));
}

TEST(AstTest, SubstitutionLeavesBoundNamesAlone) {
  const Expr e = parse("let x = x in x + y");
  EXPECT_EQ(to_string(substitute(e, "x", parse("2"))), "let x = 2 in x + y");
  EXPECT_EQ(to_string(substitute(e, "y", parse("a * b"))),
            "let x = x in x + a * b");
}

TEST(AstTest, BindingsCanBeMadeDistinct) {
  const Expr e = parse("(let x = a in x) + (let x = b in let a = x in a)");
  EXPECT_EQ(to_string(with_unique_bindings(e)),
            "(let x = a in x) + (let x_1 = b in let a_1 = x_1 in a_1)");
}

TEST(AstTest, WhatOccursTwiceIsShared) {
  EXPECT_EQ(to_string(share(parse("exp(a * b) + a * b * exp(a * b)"))),
            "let t1 = a * b in let t0 = exp(t1) in t0 + t1 * t0");
  EXPECT_EQ(to_string(share(parse("if c then f(a) + f(a) else f(a)"))),
            "if c then let t0 = f(a) in t0 + t0 else f(a)");
  EXPECT_EQ(to_string(share(parse("g(let x = f(a) in x * x) + f(a)"))),
            "let t0 = f(a) in g(t0 * t0) + t0");
}

}  // namespace
}  // namespace sy::lang
