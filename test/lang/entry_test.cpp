#include "lang/entry.h"

#include <gtest/gtest.h>

#include <string>

#include "lang/element.h"

namespace sy::lang {
namespace {

SchemaFile read(const std::string& text) {
  Diagnostics d;
  SchemaFile f = read_schema(text, "a.yaml", d);
  EXPECT_TRUE(d.empty()) << d.str();
  return f;
}

std::string errors(const std::string& text) {
  Diagnostics d;
  const SchemaFile f = read_schema(text, "a.yaml", d);
  for (const OperatorEntry& e : f.entries) check_types(e, d);
  return d.str();
}

TEST(ModelTest, Pointwise) {
  const SchemaFile f = read(R"y(
- func: softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
  doc: Smooth approximation of relu.
  variants: function
  tags: [core]
  promote: int_to_float
  pointwise: where(self * beta > threshold, self, log1p(exp(self * beta)) / beta)
  derivative:
    self: auto
)y");
  ASSERT_EQ(f.entries.size(), 1u);
  const OperatorEntry& e = f.entries[0];
  EXPECT_EQ(e.kind, OperatorKind::kPointwise);
  EXPECT_EQ(e.doc, "Smooth approximation of relu.");
  EXPECT_TRUE(e.function_variant);
  EXPECT_FALSE(e.method_variant);
  ASSERT_EQ(e.tags.size(), 1u);
  EXPECT_EQ(e.promote->rule.str(), "int_to_float");
  ASSERT_EQ(e.pointwise->results.size(), 1u);
  EXPECT_EQ(to_string(e.pointwise->results[0].expr),
            e.pointwise->results[0].text.str());
  ASSERT_TRUE(e.find_derivative("self"));
  EXPECT_EQ(e.find_derivative("self")->kind, DerivativeItem::Kind::kAuto);
  EXPECT_EQ(to_string(e.func.start()), "a.yaml:2:9");
}

TEST(ModelTest, Reduce) {
  const SchemaFile f = read(R"y(
- func: mean(Tensor self) -> Tensor
  reduce: {map: self, identity: 0, combine: a + b, finish: acc / n}
- func: var_mean(Tensor self, Scalar correction) -> (Tensor, Tensor)
  reduce:
    map: {count: 1, mean: self, m2: 0}
    identity: {count: 0, mean: 0, m2: 0}
    combine:
      count: a.count + b.count
      mean: (a.mean * a.count + b.mean * b.count) / (a.count + b.count)
      m2: a.m2 + b.m2
    finish:
      - m2 / (n - correction)
      - mean
- func: amax(Tensor self) -> Tensor
  reduce: {map: self, combine: "maximum(a, b)"}
)y");
  ASSERT_EQ(f.entries.size(), 3u);
  const ReduceBody& mean = *f.entries[0].reduce;
  ASSERT_EQ(mean.accumulators.size(), 1u);
  EXPECT_EQ(mean.accumulators[0].name, "acc");
  EXPECT_EQ(to_string(mean.accumulators[0].combine.expr), "a + b");
  const ReduceBody& var = *f.entries[1].reduce;
  ASSERT_EQ(var.accumulators.size(), 3u);
  EXPECT_EQ(var.finish.size(), 2u);
  EXPECT_TRUE(combine_env(var).find("b.m2"));
  EXPECT_TRUE(finish_env(var, f.entries[1].schema).find("correction"));
  EXPECT_FALSE(f.entries[2].reduce->accumulators[0].identity.expr);
  Diagnostics d;
  for (const OperatorEntry& e : f.entries) check_types(e, d);
  EXPECT_EQ(d.str(), "");
}

TEST(ModelTest, DispatchViewCompositeAndForms) {
  const SchemaFile f = read(R"y(
- func: mm(Tensor self, Tensor mat2) -> Tensor
  variants: function, method
  shape: [self.size(0), mat2.size(1)]
  dtype: self
  require:
    - self.dim() == 2
    - self.size(1) == mat2.size(0): equal inner sizes
  dispatch:
    CPU, Meta: mm_cpu
  derivative:
    self: mm(grad, mat2.t())
    mat2: |
      mm(self.t(),
         grad)
  forms:
    inplace: none
    out: mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
- func: t(Tensor(a) self) -> Tensor(a)
  device_check: NoCheck
  view:
    sizes: [self.size(1), self.size(0)]
    strides: '[s for s in reversed(self.strides())]'
- func: addr(Tensor self, Tensor vec) -> Tensor
  composite: self + outer(self, vec)
  python_module: linalg
)y");
  ASSERT_EQ(f.entries.size(), 3u);
  const OperatorEntry& mm = f.entries[0];
  EXPECT_TRUE(mm.method_variant);
  ASSERT_EQ(mm.dispatch.size(), 2u);
  EXPECT_EQ(mm.dispatch[1].key.str(), "Meta");
  EXPECT_EQ(mm.dispatch[1].kernel.str(), "mm_cpu");
  ASSERT_EQ(mm.shape.size(), 1u);
  EXPECT_EQ(to_string(mm.shape[0].expr), "[self.size(0), mat2.size(1)]");
  EXPECT_EQ(to_string(mm.shape[0].expr->children[1]->at), "a.yaml:4:30");
  EXPECT_EQ(mm.require[1].message.str(), "equal inner sizes");
  EXPECT_EQ(to_string(mm.find_derivative("mat2")->formula.expr),
            "mm(self.t(), grad)");
  EXPECT_FALSE(mm.find_form(SchemaKind::kInplace)->schema);
  EXPECT_EQ(mm.find_form(SchemaKind::kOut)->schema->name().overload, "out");
  EXPECT_EQ(mm.find_form(SchemaKind::kFunctional), nullptr);
  EXPECT_FALSE(f.entries[1].device_check);
  EXPECT_EQ(f.entries[2].kind, OperatorKind::kComposite);
  ASSERT_EQ(f.entries[2].other.size(), 1u);
  EXPECT_EQ(f.entries[2].other[0].second, "linalg");
}

TEST(ModelTest, OneWordForAllDerivatives) {
  const SchemaFile f = read(R"y(
- func: eq(Tensor self, Tensor other) -> Tensor
  pointwise: self == other
  derivative: non_differentiable
)y");
  EXPECT_EQ(f.entries[0].derivative.size(), 2u);
  EXPECT_EQ(f.entries[0].find_derivative("other")->kind,
            DerivativeItem::Kind::kNonDifferentiable);
}

// Mistakes of every sort in one file: each is told, with its place.
TEST(ModelTest, AllErrorsOfAFileAtOnce) {
  EXPECT_EQ(
      errors(R"y(- func: f1(Tensor self -> Tensor
- func: f2(Tensor self) -> Tensor
  pointwise: selff + 1
- func: f3(Tensor self) -> Tensor
  pointwize: self + 1
- func: f4(Tensor self) -> Tensor
  pointwise: self +
- func: f5(Tensor self) -> Tensor
  pointwise: self + 1
  composite: neg(self)
- func: f6(Tensor self) -> Tensor
  promote: int_to_flaot
  pointwise: exp(self)
  variants: function, metod
- func: f7(Tensor self) -> Tensor
  pointwise: exp(self)
  derivative:
    sefl: auto
- func: f8(Tensor self, Tensor other) -> Tensor
  pointwise: self + 1
- func: f9(Tensor self) -> Tensor
  view: {sizes: self.sizes()}
- func: f10(Tensor self, int dim) -> Tensor
  shape: self.size(dim)
  dispatch: {CPU: f10}
  require:
    - self.dim()
- doc: nothing
- func: f11(Tensor self) -> Tensor
  reduce: {map: self, combin: a + b}
  forms:
    out: f11(Tensor self) -> Tensor
- func: f12(Tensor self) -> Tensor
  pointwise: airy_ai(self)
  derivative: {self: auto}
)y"),
      "a.yaml:1:24: error: expected ',' or ')' after argument 'self', got "
      "'->'\n"
      "a.yaml:3:14: error: unknown name 'selff' (did you mean 'self'?)\n"
      "a.yaml:5:3: error: unknown key 'pointwize' in an operator (did you "
      "mean 'pointwise'?)\n"
      "a.yaml:7:20: error: expected an operand, got the end\n"
      "a.yaml:10:3: error: an operator has one kind; it is 'pointwise:' "
      "already\n"
      "a.yaml:12:12: error: unknown rule 'int_to_flaot' for 'promote' (did "
      "you mean 'int_to_float'?); the rules are default, int_to_float, "
      "bool_to_int, only_bool_to_int, same\n"
      "a.yaml:14:23: error: unknown variant 'metod' (did you mean "
      "'method'?); expected function or method\n"
      "a.yaml:18:5: error: 'f7' has no argument 'sefl' (did you mean "
      "'self'?)\n"
      "a.yaml:19:9: error: argument 'other' is not used by 'pointwise:'\n"
      "a.yaml:21:9: error: a view returns an alias: 'Tensor(a) self' and "
      "'-> Tensor(a)'\n"
      "a.yaml:24:15: error: expected a list, got an int\n"
      "a.yaml:27:12: error: expected a bool, got an int\n"
      "a.yaml:28:3: error: an operator needs 'func:', its signature\n"
      "a.yaml:30:11: error: 'reduce' needs 'combine:'\n"
      "a.yaml:30:23: error: unknown key 'combin' in 'reduce' (did you "
      "mean 'combine'?)\n"
      "a.yaml:32:10: error: expected an out= signature, got a functional "
      "one\n"
      "a.yaml:34:14: error: 'airy_ai' has no derivative; write "
      "'derivative:' as a formula");
}

TEST(ModelTest, RulesOfTheModel) {
  EXPECT_EQ(errors("- func: f_(Tensor(a!) self) -> Tensor(a!)\n"
                   "  pointwise: self\n"),
            "a.yaml:1:9: error: 'pointwise:' needs the functional signature; "
            "the other forms are derived from it");
  EXPECT_EQ(errors("- func: f(Tensor self) -> Tensor\n"
                   "  promote: default\n  dispatch: {CPU: f}\n"),
            "a.yaml:2:12: error: 'promote' is for 'pointwise:', 'reduce:' and "
            "'scan:' only");
  EXPECT_EQ(errors("- func: f(Tensor self) -> (Tensor, Tensor)\n"
                   "  pointwise: self\n"),
            "a.yaml:2:14: error: expected one expression for each of the 2 "
            "returns, got 1");
  EXPECT_EQ(errors("- func: f(Tensor self) -> Tensor\n"
                   "  composite: neg(self)\n  derivative: {self: auto}\n"),
            "a.yaml:3:22: error: 'auto' needs 'pointwise:', 'reduce:' or "
            "'view:'; write the formula");
  EXPECT_EQ(errors("- func: f(Tensor self) -> Tensor\n"
                   "  dispatch: {CPU: f, CPU: g}\n"),
            "a.yaml:2:22: error: duplicate key 'CPU'; the first is on line 2\n"
            "a.yaml:2:22: error: duplicate key 'CPU'");
  EXPECT_EQ(errors("func: f(Tensor self) -> Tensor\n"),
            "a.yaml:1:1: error: expected a list of operators: '- func: …'");
}

TEST(ModelTest, Scans) {
  const SchemaFile f = read(R"y(
- func: cumsum(Tensor self, int dim) -> Tensor
  scan: {combine: a + b, accumulate: float64}
- func: cummax(Tensor self, int dim) -> (Tensor, Tensor)
  scan: {choose: isnan(b) or b >= a}
)y");
  ASSERT_EQ(f.entries.size(), 2u);
  EXPECT_EQ(f.entries[0].kind, OperatorKind::kScan);
  EXPECT_FALSE(f.entries[0].scan->chooses);
  EXPECT_EQ(f.entries[0].scan->accumulate->str(), "float64");
  EXPECT_TRUE(f.entries[1].scan->chooses);
  Diagnostics d;
  for (const OperatorEntry& e : f.entries) check_types(e, d);
  EXPECT_EQ(d.str(), "");
}

TEST(ModelTest, RulesOfScansAndReductions) {
  const std::string head = "- func: f(Tensor self, int dim) -> Tensor\n";
  EXPECT_EQ(errors(head + "  scan: {accumulate: float64}\n"),
            "a.yaml:2:9: error: 'scan' needs either 'combine:' or 'choose:'");
  EXPECT_EQ(errors(head + "  scan: {combine: a + b, accumulate: float46}\n"),
            "a.yaml:2:38: error: unknown rule 'float46' for 'accumulate' (did "
            "you mean 'float64'?); the rules are float64");
  EXPECT_EQ(errors(head + "  scan: {choose: b >= a}\n"),
            "a.yaml:2:9: error: expected one expression for each of the 1 "
            "returns, got 2");
  EXPECT_EQ(errors("- func: f(Tensor self, int dim) -> (Tensor, Tensor)\n"
                   "  scan: {choose: a + b}\n"),
            "a.yaml:2:20: error: 'choose' is a condition");
  EXPECT_EQ(errors(head + "  scan: {combine: a + self}\n"),
            "a.yaml:2:23: error: unknown name 'self'");
  EXPECT_EQ(errors("- func: f(Tensor self) -> (Tensor, Tensor)\n"
                   "  reduce: {map: self, combine: a + b}\n"),
            "a.yaml:2:11: error: without 'finish' each return is an "
            "accumulator; there are 2 returns and 1 accumulators");
}

TEST(ModelTest, AnOperatorDefinedTwiceNamesBothPlaces) {
  const char* const text =
      "- func: f(Tensor self) -> Tensor\n  pointwise: self + 1\n";
  Diagnostics d;
  const SchemaFile files[] = {read_schema(text, "a.yaml", d),
                              read_schema(text, "b.yaml", d)};
  check_duplicates(files, d);
  EXPECT_EQ(d.str(),
            "b.yaml:1:9: error: operator 'f' is defined twice; the "
            "first is at a.yaml:1:9");
}

TEST(ModelTest, AFileThatCannotBeRead) {
  Diagnostics d;
  read_schema_file("no/such/file.yaml", d);
  EXPECT_EQ(d.str(), "no/such/file.yaml: error: the file cannot be read");
}

}  // namespace
}  // namespace sy::lang
