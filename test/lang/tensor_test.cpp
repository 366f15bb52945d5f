#include "lang/tensor.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

#include "c10/schema/parser.h"
#include "lang/diff.h"
#include "lang/parser.h"

namespace sy::lang {
namespace {

class Table : public OpTable {
 public:
  Table() {
    for (const char* s :
         {"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
          "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
          "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
          "mul.Tensor(Tensor self, Tensor other) -> Tensor",
          "mul.Scalar(Tensor self, Scalar other) -> Tensor",
          "div.Tensor(Tensor self, Tensor other) -> Tensor",
          "div.Scalar(Tensor self, Scalar other) -> Tensor",
          "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) "
          "-> Tensor",
          "neg(Tensor self) -> Tensor",
          "exp(Tensor self) -> Tensor",
          "tanh(Tensor self) -> Tensor",
          "reciprocal(Tensor self) -> Tensor",
          "square(Tensor self) -> Tensor",
          "sigmoid(Tensor self) -> Tensor",
          "zeros_like(Tensor self) -> Tensor",
          "gt.Scalar(Tensor self, Scalar other) -> Tensor",
          "lt.Scalar(Tensor self, Scalar other) -> Tensor",
          "logical_and(Tensor self, Tensor other) -> Tensor",
          "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> "
          "Tensor",
          "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
          "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
          "ScalarType? dtype=None) -> Tensor",
          "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
          "cat(Tensor[] tensors, int dim=0) -> Tensor",
          "unsqueeze(Tensor self, int dim) -> Tensor",
          "reshape(Tensor self, int[] shape) -> Tensor",
          "var_mean(Tensor self) -> (Tensor, Tensor)",
          "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "randint(int high, int[] size, *, ScalarType? dtype=long, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None, "
          "MemoryFormat? memory_format=None) -> Tensor",
          "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"}) {
      schemas_.push_back(parse_schema(s));
      table_[std::string(schemas_.back().name().name)].push_back(
          &schemas_.back());
    }
  }
  std::span<const FunctionSchema* const> lookup(
      std::string_view name) const override {
    const auto it = table_.find(name);
    if (it == table_.end()) return {};
    return it->second;
  }
  std::vector<std::string_view> names() const override {
    std::vector<std::string_view> out;
    for (const auto& [name, overloads] : table_) out.push_back(name);
    return out;
  }

 private:
  std::deque<FunctionSchema> schemas_;
  std::map<std::string, std::vector<const FunctionSchema*>, std::less<>> table_;
};

TensorEnv env() {
  auto env = TensorEnv::of(parse_schema(
      "f(Tensor self, Tensor other, Tensor? bias, Tensor[] tensors, int dim, "
      "int[] dims, Scalar alpha=1, ScalarType? dtype=None, bool keepdim=False, "
      "bool[2] mask=True, str mode='a') -> Tensor"));
  env.add("grad", TypeKind::kTensor);
  env.add("saved", TypeKind::kTensor, "saved_.unpack()");
  return env;
}

std::string cpp(const char* text, std::vector<Type> expected = {}) {
  const Table table;
  Diagnostics d;
  const auto code = compile_tensor(parse(text), env(), table, expected, d);
  return code ? to_body(*code, 0) : d.str() + "\n";
}

std::string value(const char* text) {
  const std::string body = cpp(text);
  return body.starts_with("return ") ? body.substr(7, body.size() - 9) : body;
}

TEST(TensorTest, OperatorsBecomeCalls) {
  EXPECT_EQ(value("grad * other + self"),
            "sy::add(sy::mul(grad, other), self)");
  EXPECT_EQ(value("-grad * alpha"), "sy::mul(sy::neg(grad), alpha)");
  EXPECT_EQ(value("grad * 2 / self"), "sy::div(sy::mul(grad, 2), self)");
  EXPECT_EQ(value("1 - self"), "sy::rsub(self, 1)");
  EXPECT_EQ(value("1 / self"), "sy::reciprocal(self)");
  EXPECT_EQ(value("2 / self"), "sy::mul(sy::reciprocal(self), 2)");
  EXPECT_EQ(value("0 < self"), "sy::gt(self, 0)");
  EXPECT_EQ(value("self > 0 and other < 1"),
            "sy::logical_and(sy::gt(self, 0), sy::lt(other, 1))");
  EXPECT_EQ(value("saved * dim"), "sy::mul(saved_.unpack(), dim)");
}

TEST(TensorTest, NumbersStayCpp) {
  EXPECT_EQ(value("self * (dim + 1)"), "sy::mul(self, dim + 1)");
  EXPECT_EQ(value("self * (alpha * 2)"),
            "sy::mul(self, alpha.to_double() * 2)");
  EXPECT_EQ(value("self * -alpha"), "sy::mul(self, -alpha)");
  EXPECT_EQ(value("self * sqrt(alpha)"),
            "sy::mul(self, std::sqrt(alpha.to_double()))");
  EXPECT_EQ(value("self * (1 / self.numel())"),
            "sy::mul(self, static_cast<double>(1) / self.numel())");
}

TEST(TensorTest, OverloadsAndDefaults) {
  EXPECT_EQ(value("sum(self, dims, keepdim=true)"),
            "sy::sum(self, dims, true)");
  EXPECT_EQ(value("self.sum([dim])"), "sy::sum(self, IntArrayRef({dim}))");
  EXPECT_EQ(value("self.sum(0)"), "sy::sum(self, IntArrayRef({0}))");
  EXPECT_EQ(value("self.sum()"), "sy::sum(self)");
  EXPECT_EQ(value("self.sum(dims, dtype=float32)"),
            "sy::sum(self, dims, false, kFloat32)");
  EXPECT_EQ(value("div(self, other, rounding_mode='trunc')"),
            "sy::div(self, other, \"trunc\")");
  EXPECT_EQ(value("linear(self, other, bias)"),
            "sy::linear(self, other, bias)");
  EXPECT_EQ(value("linear(self, other, None)"),
            "sy::linear(self, other, std::nullopt)");
  EXPECT_EQ(value("cat([self, other])"), "sy::cat(TensorList({self, other}))");
  EXPECT_EQ(value("zeros(self.sizes(), self.options())"),
            "sy::zeros(self.sizes(), self.options())");
  EXPECT_EQ(value("zeros(self.sizes(), dtype=int64)"),
            "sy::zeros(self.sizes(), kInt64)");
  EXPECT_EQ(value("zeros(self.sizes(), device=self.device())"),
            "sy::zeros(self.sizes(), TensorOptions().device(self.device()))");
  EXPECT_EQ(value("zeros(self.sizes(), pin_memory=None, dtype=int64)"),
            "sy::zeros(self.sizes(), "
            "TensorOptions().dtype(kInt64).pinned_memory(std::nullopt))");
  EXPECT_EQ(value("zeros(self.sizes(), self.options(), dtype=bool)"),
            "sy::zeros(self.sizes(), self.options().dtype(kBool))");
  EXPECT_EQ(value("zeros(self.sizes(), dtype=bool, options=self.options())"),
            "sy::zeros(self.sizes(), self.options().dtype(kBool))");
  // An option that is not given keeps its default.
  EXPECT_EQ(value("randint(5, self.sizes(), device=self.device())"),
            "sy::randint(5, self.sizes(), "
            "TensorOptions().dtype(kLong).device(self.device()))");
  EXPECT_EQ(value("randint(5, self.sizes(), memory_format=channels_last)"),
            "sy::randint(5, self.sizes(), kLong, MemoryFormat::ChannelsLast)");
  EXPECT_EQ(value("if mask[-1] then self else other"),
            "geometry::at(\"f\", mask, -1) ? self : other");
  EXPECT_EQ(value("self.reshape(self.sizes() + [1])"),
            "sy::reshape(self, geometry::concat(self.sizes(), "
            "IntArrayRef({1})))");
}

TEST(TensorTest, LetIfAndLists) {
  EXPECT_EQ(cpp("let t = tanh(self) in let s = self in t * t * s"),
            "const auto t = sy::tanh(self);\nconst auto& s = self;\n"
            "return sy::mul(sy::mul(t, t), s);\n");
  EXPECT_EQ(value("if bias == None then self else self + bias"),
            "!(bias.has_value() && bias->defined()) ? self : sy::add(self, "
            "(*bias))");
  EXPECT_EQ(value("if mode == 'a' and not keepdim then self else other"),
            "mode == \"a\" && !keepdim ? self : other");
  EXPECT_EQ(value("(let t = exp(self) in t * t) + 1"),
            "sy::add([&] { const auto t = sy::exp(self); return sy::mul(t, t); "
            "}(), 1)");
  EXPECT_EQ(
      value("cat([t.unsqueeze(dim) for t in tensors], dim)"),
      "sy::cat([&] { std::vector<Tensor> out; for (const auto& t : tensors) { "
      "out.push_back(sy::unsqueeze(t, dim)); } return out; }(), dim)");
  EXPECT_EQ(value("var_mean(self)[1]"), "std::get<1>(sy::var_mean(self))");
  EXPECT_EQ(value("tensors[0]"), "geometry::at(\"f\", TensorList(tensors), 0)");
}

// A gradient where nothing flows is zeros, or absent to what takes a Tensor?.
TEST(TensorTest, GradientsOfSeveralResults) {
  const Table table;
  TensorEnv names = env();
  names.add("grads", Type::list_of(TypeKind::kTensor));
  names.results = 2;
  const auto compiled = [&](const char* text) {
    Diagnostics d;
    const auto code = compile_tensor(parse(text), names, table, {}, d);
    return code ? code->value : d.str();
  };
  EXPECT_EQ(compiled("linear(grads[0], self, grads[1])"),
            "sy::linear(grads.grad_or_zeros(0), self, grads.grad_if_any(1))");
  EXPECT_EQ(compiled("let g = grads[1] in linear(g, self, g)"),
            "sy::linear(g, self, g)");
  EXPECT_NE(compiled("grads[2] * self").find("a literal from 0 to 1"),
            std::string::npos);
}

TEST(TensorTest, ExpectedTypes) {
  const Type tensor = TypeKind::kTensor;
  EXPECT_EQ(cpp("[self * 2, other]", {tensor, tensor}),
            "return std::tuple<Tensor, Tensor>{sy::mul(self, 2), other};\n");
  EXPECT_EQ(cpp("var_mean(self)", {tensor, tensor}),
            "return sy::var_mean(self);\n");
  EXPECT_EQ(
      cpp("if dtype == None then self else dtype", {TypeKind::kScalarType}),
      "return !dtype.has_value() ? self.scalar_type() : (*dtype);\n");
  EXPECT_EQ(cpp("int64", {TypeKind::kScalarType}), "return kInt64;\n");
  EXPECT_EQ(cpp("dim", {tensor}),
            "<text>:1:1: error: expected Tensor, got int\n");
  EXPECT_EQ(cpp("[self]", {tensor, tensor}),
            "<text>:1:1: error: expected a list of 2 values, got [Tensor]\n");
}

TEST(TensorTest, Errors) {
  EXPECT_EQ(cpp("tahn(self)"),
            "<text>:1:1: error: unknown operator 'tahn' (did "
            "you mean 'tanh'?)\n");
  EXPECT_EQ(cpp("self.tnah()"),
            "<text>:1:6: error: unknown operator 'tnah' "
            "(did you mean 'tanh'?)\n");
  EXPECT_EQ(cpp("slf * 2"),
            "<text>:1:1: error: unknown name 'slf' (did you mean 'self'?)\n");
  EXPECT_EQ(
      cpp("exp(dims)"),
      "<text>:1:1: error: 'exp': argument 'self' is Tensor, got int[]; it "
      "is exp(Tensor self) -> Tensor\n");
  EXPECT_EQ(cpp("neg(self, 2)"),
            "<text>:1:1: error: 'neg': too many positional arguments; it is "
            "neg(Tensor self) -> Tensor\n");
  EXPECT_EQ(
      cpp("self.mul(mode)"),
      "<text>:1:6: error: no overload of 'mul' takes (Tensor, str); there "
      "are mul.Tensor(Tensor self, Tensor other) -> Tensor and "
      "mul.Scalar(Tensor self, Scalar other) -> Tensor\n");
  EXPECT_EQ(cpp("unsqueeze(self)"),
            "<text>:1:1: error: 'unsqueeze': argument 'dim' is missing; it is "
            "unsqueeze(Tensor self, int dim) -> Tensor\n");
  EXPECT_EQ(cpp("if self > 0 then self else other"),
            "<text>:1:9: error: expected bool, got Tensor; elements are chosen "
            "by where()\n");
  EXPECT_EQ(cpp("self.T"),
            "<text>:1:6: error: '.T' has no arguments; an "
            "operator is called: '.T()'\n");
  EXPECT_EQ(cpp("var_mean(self)[2]"),
            "<text>:1:16: error: expected a literal from 0 to 1\n");
}

TEST(TensorTest, KnowsWhatItCalls) {
  const Table table;
  Diagnostics d;
  const auto code = compile_tensor(parse("(grad * other).sum(dims) + 1"), env(),
                                   table, {}, d);
  ASSERT_TRUE(code) << d.str();
  EXPECT_EQ(code->operators,
            (std::vector<std::string>{"add.Scalar", "mul.Tensor",
                                      "sum.dim_IntList"}));
}

TEST(ElementToTensorTest, SpellsPrimitivesAsOperators) {
  const ElementEnv names{{{"grad", ElementKind::kTensor},
                          {"self", ElementKind::kTensor},
                          {"x0", ElementKind::kTensor},
                          {"s", ElementKind::kNumber}}};
  const auto tensor = [&](const char* text) {
    return to_string(element_to_tensor(parse(text), names));
  };
  EXPECT_EQ(tensor("fma(self, x0, grad)"), "self * x0 + grad");
  EXPECT_EQ(tensor("trunc_div(self, x0)"),
            "div(self, x0, rounding_mode='trunc')");
  EXPECT_EQ(tensor("if self > 0 then grad else 0"), "where(self > 0, grad, 0)");
  EXPECT_EQ(tensor("if s > 0 then grad * self else 0"),
            "if s > 0 then grad * self else zeros_like(grad)");
  EXPECT_EQ(tensor("grad * tanh(self) * (1 - tanh(self))"),
            "let t0 = tanh(self) in grad * t0 * (1 - t0)");
}

}  // namespace
}  // namespace sy::lang
