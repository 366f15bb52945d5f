#include "lang/index.h"

#include <gtest/gtest.h>

#include <string>

#include "c10/schema/parser.h"
#include "lang/parser.h"

namespace sy::lang {
namespace {

const char* const kSchema =
    "f(Tensor self, Tensor mat2, Tensor[] tensors, int dim, int[] dims, "
    "int? start=None, Scalar? limit=None, Tensor? weight=None, "
    "float p=1.0, Scalar number=0, *, str mode='mean', bool flag=False, "
    "ScalarType? dtype=None) -> Tensor";

IndexEnv env() { return IndexEnv::of(parse_schema(kSchema)); }

std::string cpp(const char* text) {
  Diagnostics d;
  const auto code = compile_index(parse(text), env(), {}, "op", d);
  if (!code) return d.str();
  std::string out;
  for (const std::string& s : code->statements) out += s + "\n";
  return out + code->value;
}

TEST(IndexTest, Arithmetic) {
  EXPECT_EQ(cpp("dim + 2 * (dim - 1)"), "dim + 2 * (dim - 1)");
  EXPECT_EQ(cpp("dim - (dim - -1)"), "dim - (dim - -1)");
  EXPECT_EQ(cpp("-(-dim)"), "-(-dim)");
  EXPECT_EQ(cpp("dim // 2 % 3"),
            "geometry::mod(\"op\", geometry::floor_div(\"op\", dim, 2), 3)");
  EXPECT_EQ(cpp("ceil((p + dim) / 2)"), "geometry::ceil((p + dim) / 2)");
  EXPECT_EQ(cpp("flag and (dim > 0 or not flag)"),
            "flag && (dim > 0 || !flag)");
  EXPECT_EQ(cpp("dim > 0 and flag or flag"), "(dim > 0 && flag) || flag");
}

TEST(IndexTest, Metadata) {
  EXPECT_EQ(cpp("self.size(-1) * mat2.stride(dim)"),
            "self.size(-1) * mat2.stride(dim)");
  EXPECT_EQ(cpp("self.sizes() == mat2.sizes()"),
            "self.sizes() == mat2.sizes()");
  EXPECT_EQ(cpp("[1] + dims == [dim]"),
            "IntArrayRef(geometry::concat(Dims(IntArrayRef({1})), dims)) == "
            "Dims(IntArrayRef({dim}))");
  EXPECT_EQ(cpp("self.dtype() == int64 or is_floating(mat2)"),
            "self.dtype() == kInt64 || geometry::is_floating(mat2)");
  EXPECT_EQ(cpp("number.dtype() != bool and number > 1"),
            "number.type() != kBool && number.to_double() > 1");
  EXPECT_EQ(cpp("p.dtype() == bool"),
            "<text>:1:3: error: only tensors have methods; '.dtype' of a "
            "number");
  EXPECT_EQ(
      cpp("tensors[0].numel() + len(tensors)"),
      "geometry::at(\"op\", tensors, 0).numel() + geometry::len(tensors)");
}

TEST(IndexTest, OptionalArguments) {
  EXPECT_EQ(cpp("if start == None then 0 else start"),
            "!start.has_value() ? 0 : (*start)");
  EXPECT_EQ(cpp("limit != None and limit > 0.5"),
            "limit.has_value() && limit->to_double() > 0.5");
  EXPECT_EQ(cpp("weight == None or weight.dim() == 1"),
            "!(weight.has_value() && weight->defined()) || (*weight).dim() == "
            "1");
  EXPECT_EQ(cpp("start == None or start == 1"),
            "!start.has_value() || (*start) == 1");
  EXPECT_EQ(cpp("not (start == None or flag) and start > 0"),
            "!(!start.has_value() || flag) && (*start) > 0");
  // Handed on as it is where None is allowed.
  EXPECT_EQ(
      cpp("slice_size(self.size(0), start, None, 1)"),
      "geometry::slice_size(\"op\", self.size(0), start, std::nullopt, 1)");
}

TEST(IndexTest, Lists) {
  EXPECT_EQ(
      cpp("let d = wrap_dim(dim, self.dim()) in "
          "self.sizes()[:d] + [1] + self.sizes()[d:]"),
      "const int64_t d = geometry::wrap_dim(\"op\", dim, self.dim());\n"
      "geometry::concat(geometry::concat(geometry::slice(self.sizes(), 0, d), "
      "Dims(IntArrayRef({1}))), geometry::slice(self.sizes(), d, "
      "INT64_MAX))");
  EXPECT_EQ(
      cpp("[s for s in self.sizes() if s != 1]"),
      "geometry::each_if(self.sizes(), [&](int64_t s) { return s != 1; }, "
      "[&](int64_t s) { return s; })");
  EXPECT_EQ(
      cpp("all([t.dim() == 2 for t in tensors])"),
      "geometry::all(geometry::each(tensors, [&](const Tensor& t) { return "
      "t.dim() == 2; }))");
  EXPECT_EQ(cpp("if dim > 0 then self.sizes() else []"),
            "dim > 0 ? Dims(self.sizes()) : Dims()");
}

std::string errors(const char* text,
                   std::optional<IndexType> expected = std::nullopt) {
  Diagnostics d;
  EXPECT_FALSE(compile_index(parse(text), env(), expected, "op", d)) << text;
  return d.str();
}

TEST(IndexTest, Errors) {
  EXPECT_EQ(errors("self.sizs()"),
            "<text>:1:6: error: unknown method 'sizs' "
            "(did you mean 'size'?)");
  EXPECT_EQ(errors("dmi + 1"),
            "<text>:1:1: error: unknown name 'dmi' (did you mean 'dim'?)");
  EXPECT_EQ(errors("wrap_dm(dim, 2)"),
            "<text>:1:1: error: unknown function "
            "'wrap_dm' (did you mean 'wrap_dim'?)");
  EXPECT_EQ(errors("wrap_dim(self, 2)"),
            "<text>:1:1: error: expected "
            "wrap_dim(int, int), got "
            "wrap_dim(tensor, int)");
  EXPECT_EQ(errors("len(dim)"),
            "<text>:1:1: error: expected len(list) or "
            "len(list of tensors), got len(int)");
  EXPECT_EQ(errors("dim / 2"),
            "<text>:1:5: error: '/' of two ints; write "
            "'//', which rounds down");
  EXPECT_EQ(errors("self + 1"),
            "<text>:1:6: error: '+' cannot combine a tensor and an int");
  EXPECT_EQ(errors("self == mat2"),
            "<text>:1:6: error: '==' cannot compare a tensor and a tensor");
  EXPECT_EQ(errors("if dim then 1 else 2"),
            "<text>:1:4: error: expected a bool, got an int");
  EXPECT_EQ(errors("if flag then 1 else dims"),
            "<text>:1:1: error: the branches differ: an int and a list");
  EXPECT_EQ(errors("[dims]"), "<text>:1:2: error: expected an int, got a list");
  // C++ would read an empty optional.
  const char* const empty =
      "error: 'start' may be None here: ask 'start == None' first";
  EXPECT_EQ(errors("start != 0"), std::string("<text>:1:1: ") + empty);
  EXPECT_EQ(errors("if flag then 0 else start"),
            std::string("<text>:1:21: ") + empty);
  EXPECT_EQ(errors("start == None and start == 1"),
            std::string("<text>:1:19: ") + empty);
  EXPECT_EQ(errors("dim == None"),
            "<text>:1:1: error: expected an optional argument beside None");
  EXPECT_EQ(errors("dim.size(0)"),
            "<text>:1:5: error: only tensors have "
            "methods; '.size' of an int");
  EXPECT_EQ(errors("self.size()"),
            "<text>:1:6: error: 'size' expects 1 argument, got 0");
  EXPECT_EQ(errors("dim", IndexType::kList),
            "<text>:1:1: error: expected a list, got an int");
  EXPECT_EQ(errors("let dim = 1 in dim"),
            "<text>:1:1: error: 'dim' is already defined");
}

std::string require(const char* text, const char* message = "") {
  Diagnostics d;
  std::string out;
  for (const auto& r : compile_require(parse(text), env(), message, "mm", d)) {
    out += to_statement(r, 0);
  }
  return out + d.str();
}

TEST(RequireTest, BracesOfAMessageAreWrittenTwice) {
  EXPECT_EQ(require("flag", "one of {a, b}"),
            "SY_CHECK(flag, Value,\n"
            "         \"[mm] flag: expected one of {{a, b}}\");\n");
}

TEST(RequireTest, MessagesComeFromTheText) {
  EXPECT_EQ(require("self.dim() == 2"),
            "SY_CHECK(self.dim() == 2, Value,\n"
            "         \"[mm] self: expected self.dim() == 2, got self.dim() = "
            "{}\", self.dim());\n");
  EXPECT_EQ(require("self.size(1) == mat2.size(0)", "equal inner sizes"),
            "SY_CHECK(self.size(1) == mat2.size(0), Value,\n"
            "         \"[mm] self: expected equal inner sizes, got "
            "self.size(1) = {}, mat2.size(0) = {}\", self.size(1), "
            "mat2.size(0));\n");
  EXPECT_EQ(require("not flag"),
            "SY_CHECK(!flag, Value,\n"
            "         \"[mm] flag: expected not flag\");\n");
  // In order, each with its own message.
  EXPECT_EQ(require("self.dim() > 0 and self.size(0) > 1"),
            "SY_CHECK(self.dim() > 0, Value,\n"
            "         \"[mm] self: expected self.dim() > 0, got self.dim() = "
            "{}\", self.dim());\n"
            "SY_CHECK(self.size(0) > 1, Value,\n"
            "         \"[mm] self: expected self.size(0) > 1, got "
            "self.size(0) = {}\", self.size(0));\n");
  // The message reads a value only if the condition has come to it.
  EXPECT_EQ(require("flag or (self.dim() > 0 and self.size(0) > 1)"),
            "SY_CHECK(flag || (self.dim() > 0 && self.size(0) > 1), Value,\n"
            "         \"[mm] self: expected flag or self.dim() > 0 and "
            "self.size(0) > 1, got self.dim() = {}{}\", self.dim(), "
            "self.dim() > 0 ? sy::str(\", self.size(0) = {}\", self.size(0)) "
            ": std::string());\n");
  EXPECT_EQ(
      require("not (flag or self.size(0) > 1)"),
      "SY_CHECK(!(flag || self.size(0) > 1), Value,\n"
      "         \"[mm] self: expected not (flag or self.size(0) > 1){}\", "
      "!flag ? sy::str(\", got self.size(0) = {}\", self.size(0)) "
      ": std::string());\n");
  EXPECT_EQ(require("self.dim() == 1 or self.size(0) == 1"),
            "SY_CHECK(self.dim() == 1 || self.size(0) == 1, Value,\n"
            "         \"[mm] self: expected self.dim() == 1 or self.size(0) "
            "== 1, got self.dim() = {}, self.size(0) = {}\", self.dim(), "
            "self.size(0));\n");
  EXPECT_EQ(require("start == None or (start > 0 and start < self.dim())"),
            "SY_CHECK(!start.has_value() || ((*start) > 0 && (*start) < "
            "self.dim()), Value,\n"
            "         \"[mm] start: expected start == None or start > 0 and "
            "start < self.dim(), got start = {}{}\", (*start), (*start) > 0 ? "
            "sy::str(\", self.dim() = {}\", self.dim()) : std::string());\n");
  EXPECT_EQ(require("self.dim()"),
            "<text>:1:6: error: expected a bool, got an int");
}

TEST(IndexTest, EveryFunctionIsCalled) {
  for (const IndexFunction& f : index_functions()) {
    std::string text(f.name);
    text += '(';
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      if (i) text += ", ";
      switch (f.parameters[i]) {
        case 'l': text += i ? "[0, 1]" : "[1, 1]"; break;
        case 't': text += "self"; break;
        case 'T': text += "tensors"; break;
        case 'b': text += "true"; break;
        case 'n': text += "1.5"; break;
        default: text += i ? "1" : "2";
      }
    }
    text += ')';
    Diagnostics d;
    const auto code = compile_index(parse(text), env(), {}, "op", d);
    ASSERT_TRUE(code) << d.str();
    EXPECT_TRUE(code->value.starts_with(f.cpp)) << code->value;
  }
}

}  // namespace
}  // namespace sy::lang
