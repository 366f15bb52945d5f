#include "lang/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "lang/element_eval.h"
#include "lang/parser.h"
#include "test/lang/random_expr.h"

namespace sy::lang {
namespace {

ElementEnv env() {
  return {{{"x", ElementKind::kTensor},
           {"y", ElementKind::kTensor},
           {"s", ElementKind::kNumber},
           {"flag", ElementKind::kBool},
           {"eps", ElementKind::kNumber, true},
           {"mode", ElementKind::kString}}};
}

std::string listing(const char* text) {
  return to_string(compile_element(parse(text), env()));
}

TEST(CompileTest, OneStep) {
  EXPECT_EQ(listing("x + y"), "t0 = add(x, y)\nreturn t0");
  EXPECT_EQ(listing("x"), "t0 = copy(x)\nreturn t0");
  EXPECT_EQ(listing("2 * 3"), "t0 = copy(6)\nreturn t0");
  EXPECT_EQ(listing("relu(x)"), "t0 = maximum(x, 0)\nreturn t0");
  EXPECT_EQ(listing("x > y"), "t0 = gt(x, y)\nreturn t0: bool");
  EXPECT_EQ(listing("where(x, y, 0)"), "t0 = select(x, y, 0)\nreturn t0");
}

TEST(CompileTest, SumsOfProductsAreFused) {
  EXPECT_EQ(listing("x + s * y"), "t0 = fma(s, y, x)\nreturn t0");
  EXPECT_EQ(listing("x - s * y"), "u0 = neg(s)\nt0 = fma(u0, y, x)\nreturn t0");
  EXPECT_EQ(listing("1 + x * x"), "t0 = fma(x, x, 1)\nreturn t0");
  // The product is wanted by itself too.
  EXPECT_EQ(listing("let p = x * y in (p + 1) / p"),
            "t0 = mul(x, y)\nt1 = add(t0, 1)\nt1 = div(t1, t0)\nreturn t1");
  // As with its default, a plain sum.
  const Expr e = specialise(parse("x + s * y"), {{"s", make_int(1)}});
  EXPECT_EQ(to_string(compile_element(e, env())), "t0 = add(x, y)\nreturn t0");
}

TEST(CompileTest, PowersWithLiteralExponents) {
  EXPECT_EQ(listing("x ** 2"), "t0 = square(x)\nreturn t0");
  EXPECT_EQ(listing("x ** 3"), "t0 = square(x)\nt0 = mul(t0, x)\nreturn t0");
  EXPECT_EQ(listing("x ** 0.5"), "t0 = sqrt(x)\nreturn t0");
  EXPECT_EQ(listing("x ** -1"), "t0 = reciprocal(x)\nreturn t0");
  EXPECT_EQ(listing("1 / sqrt(x)"), "t0 = rsqrt(x)\nreturn t0");
}

TEST(CompileTest, UniformPartsAreComputedOnce) {
  EXPECT_EQ(listing("x * (1 / (s + 1))"),
            "u0 = add(s, 1)\nu1 = div(1, u0)\nt0 = mul(x, u1)\nreturn t0");
  EXPECT_EQ(listing("if eps == None then x else x * eps"),
            "u0 = logical_not(has(eps))\nt0 = mul(x, eps)\n"
            "t0 = select(u0, x, t0)\nreturn t0");
  EXPECT_EQ(listing("if mode == 'tanh' then x else y"),
            "t0 = select((mode == 'tanh'), x, y)\nreturn t0");
}

TEST(CompileTest, CommonSubexpressionsAreOneStep) {
  EXPECT_EQ(listing("exp(x) * y + sin(exp(x))"),
            "t0 = exp(x)\nt1 = sin(t0)\nt0 = fma(t0, y, t1)\nreturn t0");
  EXPECT_EQ(listing("(x + y) * (y + x)"),
            "t0 = add(x, y)\nt0 = square(t0)\nreturn t0");
}

TEST(CompileTest, OperandClasses) {
  const auto classes = [](const char* text) {
    const Program p = compile_element(parse(text), env());
    std::string out;
    for (const auto& i : p.inputs) {
      out += i.reg_class == RegClass::kBool ? 'b' : 'T';
    }
    return out;
  };
  EXPECT_EQ(classes("where(x, y, 1)"), "bT");
  EXPECT_EQ(classes("x and y"), "bb");
  EXPECT_EQ(classes("where(x, x, y)"), "TT");
  EXPECT_EQ(listing("where(x, x, y)"),
            "t0 = truth(x)\nt1 = select(t0, x, y)\nreturn t1");
  EXPECT_EQ(listing("x * (y > 0)"),
            "t0 = gt(y, 0)\nt1 = from_bool(t0)\nt1 = mul(x, t1)\nreturn t1");
}

TEST(CompileTest, InputsCanBeLeftOut) {
  const Expr e = parse("y + 1");
  EXPECT_EQ(compile_element(e, env()).inputs.size(), 2u);
  const Program p = compile_element(e, env(), {.all_inputs = false});
  ASSERT_EQ(p.inputs.size(), 1u);
  EXPECT_EQ(p.inputs[0].name, "y");
}

TEST(CompileTest, SeveralResults) {
  Diagnostics d;
  const Expr results[] = {parse("x + y"), parse("x"), parse("(x + y) > s"),
                          parse("x + y")};
  const auto p = compile_element(results, env(), d);
  ASSERT_TRUE(p) << d.str();
  EXPECT_EQ(to_string(*p),
            "t0 = add(x, y)\nt1 = gt(t0, s)\nt2 = copy(x)\n"
            "t3 = copy(t0)\nreturn t0, t2, t1: bool, t3");
  const double inputs[] = {2, 3};
  const Uniform scalars[] = {Uniform::of(4.0)};
  EXPECT_EQ(eval(*p, inputs, scalars), (std::vector<double>{5, 2, 1, 5}));
}

TEST(CompileTest, Domains) {
  const auto domain = [](const char* text) {
    return compile_element(parse(text), env()).domain();
  };
  EXPECT_EQ(domain("x + y"), PrimDomain::ALL);
  EXPECT_EQ(domain("-x"), PrimDomain::NUM);
  EXPECT_EQ(domain("exp(-x)"), PrimDomain::FLT);
  EXPECT_EQ(domain("bitwise_and(x, y)"), PrimDomain::INT);
}

TEST(CompileTest, TooManyRegistersAreAnError) {
  std::string text = "x";
  for (int i = 0; i < 300; ++i) text += " + y * " + std::to_string(i + 2);
  Diagnostics d;
  const Expr e = parse(text);
  EXPECT_FALSE(compile_element({&e, 1}, env(), d));
  EXPECT_EQ(d.str(), "<text>:1:" + std::to_string(e->at.column) +
                         ": error: the expression needs more than 256 "
                         "registers");
}

// Every result, against the tree, and that no step reads what was not written.
TEST(CompileTest, ProgramsComputeWhatTreesDo) {
  RandomExpr random(3);
  int compiled = 0;
  for (int i = 0; i < 4000; ++i) {
    const Expr e = i % 4 ? random.number(1 + i % 6) : random.truth(1 + i % 5);
    Diagnostics d;
    const auto p = compile_element({&e, 1}, env(), d);
    ASSERT_TRUE(p) << to_string(e) << "\n" << d.str();
    ++compiled;
    ASSERT_EQ(p->steps.back().dst, p->results[0].reg);
    std::vector<bool> written(static_cast<std::size_t>(p->n_registers));
    for (int r = 0; r < p->first_temporary(); ++r) written[r] = true;
    for (const Step& s : p->steps) {
      const int n = arity(kPrims[static_cast<int>(s.op)].type);
      ASSERT_TRUE(written[s.a] && (n < 2 || written[s.b]) &&
                  (n < 3 || written[s.c]));
      ASSERT_GE(s.dst, p->first_temporary());
      written[s.dst] = true;
    }
    for (int k = 0; k < 4; ++k) {
      const double x = random.value(), y = random.value();
      const double s = k ? random.value() : 1;
      const double flag = k % 2;
      const std::map<std::string, double> values = {
          {"x", x}, {"y", y}, {"s", s}, {"flag", flag}};
      std::vector<Uniform> scalars;
      for (const ScalarInput& in : p->scalars) {
        scalars.push_back(Uniform::of(values.at(in.name)));
      }
      const double inputs[] = {x, y};
      const double expected = eval_double(e, values);
      const double got = eval(*p, inputs, scalars)[0];
      // fma rounds once where the tree rounds twice.
      EXPECT_NEAR(got, expected, 1e-9 * (1 + std::fabs(expected)))
          << to_string(e) << "\n"
          << to_string(*p);
    }
  }
  EXPECT_EQ(compiled, 4000);
}

TEST(UniformTest, IntegersStayIntegers) {
  const auto i = [](std::int64_t v) { return Uniform::of(v); };
  EXPECT_EQ(eval_uniform(Prim::mul, i(3), i(4)), i(12));
  EXPECT_EQ(eval_uniform(Prim::div, i(3), i(4)), Uniform::of(0.75));
  EXPECT_EQ(eval_uniform(Prim::floor_div, i(-7), i(2)), i(-4));
  EXPECT_EQ(eval_uniform(Prim::trunc_div, i(-7), i(2)), i(-3));
  EXPECT_EQ(eval_uniform(Prim::remainder, i(-7), i(4)), i(1));
  EXPECT_EQ(eval_uniform(Prim::fmod, i(-7), i(4)), i(-3));
  EXPECT_EQ(eval_uniform(Prim::pow, i(2), i(-1)), Uniform::of(0.5));
  EXPECT_EQ(eval_uniform(Prim::pow, i(3), i(4)), i(81));
  EXPECT_EQ(eval_uniform(Prim::neg, i(INT64_MIN)), i(INT64_MIN));
  EXPECT_EQ(eval_uniform(Prim::trunc_div, i(INT64_MIN), i(-1)), i(INT64_MIN));
  EXPECT_EQ(eval_uniform(Prim::floor_div, i(1), i(0)), i(0));
  EXPECT_EQ(eval_uniform(Prim::lcm, i(4), i(-6)), i(12));
  EXPECT_EQ(eval_uniform(Prim::gt, i(4), Uniform::of(3.5)), i(1));
}

TEST(UniformTest, SpecialFunctions) {
  const auto f = [](Prim p, double v) {
    return eval_uniform(p, Uniform::of(v)).as_double();
  };
  EXPECT_NEAR(f(Prim::digamma, 1), -0.5772156649015329, 1e-14);
  EXPECT_NEAR(f(Prim::digamma, -1.5), 0.7031566406452432, 1e-13);
  for (double v : {-0.999999, -0.5, 0.0, 1e-8, 0.3, 0.9999}) {
    EXPECT_NEAR(std::erf(f(Prim::erfinv, v)), v, 1e-15);
  }
  EXPECT_TRUE(std::isinf(f(Prim::erfinv, 1)));
  EXPECT_TRUE(std::isnan(f(Prim::erfinv, 1.5)));
  EXPECT_EQ(f(Prim::round, 2.5), 2);
}

}  // namespace
}  // namespace sy::lang
