#include "lang/index.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "c10/schema/parser.h"
#include "lang/index_eval.h"
#include "lang/parser.h"

namespace sy::lang {
namespace {

using List = std::vector<std::int64_t>;

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

IndexValues values() {
  const TensorMeta self{{2, 3, 4}, {12, 4, 1}, 5, "float32"};
  const TensorMeta other{{2, 1}, {1, 1}, 0, "int64"};
  return {{"self", self},
          {"mat2", other},
          {"tensors", std::vector<TensorMeta>{self, self}},
          {"dim", std::int64_t{-1}},
          {"dims", List{2, 0}},
          {"p", 1.5},
          {"mode", std::string("mean")},
          {"flag", true}};
}

std::string evaluate(const char* text) {
  Diagnostics d;
  if (!compile_index(parse(text), env(), {}, "op", d)) return d.str();
  const IndexValue v = eval_index(parse(text), values(), "op");
  if (const auto* i = std::get_if<std::int64_t>(&v)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* l = std::get_if<List>(&v)) {
    std::string out;
    for (std::int64_t i : *l)
      out += (out.empty() ? "" : " ") + std::to_string(i);
    return "[" + out + "]";
  }
  return "?";
}

TEST(IndexEvalTest, Values) {
  EXPECT_EQ(evaluate("-7 // 2"), "-4");
  EXPECT_EQ(evaluate("-7 % 4"), "1");
  EXPECT_EQ(evaluate("ceil(p / 2) + ceil_div(7, 2) + clamp(9, 0, 3)"), "8");
  EXPECT_EQ(evaluate("self.numel() + self.storage_offset()"), "29");
  EXPECT_EQ(evaluate("self.is_contiguous() and self.is_floating_point()"),
            "true");
  EXPECT_EQ(evaluate("mat2.dtype() == int64 and mode == 'mean'"), "true");
  EXPECT_EQ(evaluate("start == None"), "true");
  EXPECT_EQ(evaluate("[s for s in self.sizes() if s != 3]"), "[2 4]");
  EXPECT_EQ(evaluate("self.sizes()[1:] + self.sizes()[:-2]"), "[3 4 2]");
  EXPECT_EQ(evaluate("let d = wrap_dim(dim, self.dim()) in "
                     "with(self.sizes(), d, 9)"),
            "[2 3 9]");
  EXPECT_EQ(evaluate("without(self.sizes(), dims)"), "[3]");
  EXPECT_EQ(evaluate("inserted(self.sizes(), -1, 1)"), "[2 3 4 1]");
  EXPECT_EQ(evaluate("swapped(self.strides(), 0, -1)"), "[1 4 12]");
  EXPECT_EQ(evaluate("permuted(self.sizes(), [2, 0, 1])"), "[4 2 3]");
  EXPECT_EQ(evaluate("inverse_permutation([2, 0, 1])"), "[1 2 0]");
  EXPECT_EQ(evaluate("broadcast([3, 1], mat2.sizes() + [5])"), "[2 3 5]");
  EXPECT_EQ(evaluate("infer_size([2, -1], self.numel())"), "[2 12]");
  EXPECT_EQ(evaluate("view_strides(self.sizes(), self.strides(), [6, 2, 2])"),
            "[4 2 1]");
  EXPECT_EQ(evaluate("view_strides([2, 3], [1, 2], [2, 3, 1])"), "[1 2 2]");
  EXPECT_EQ(evaluate("expand_sizes(mat2.sizes(), [7, -1, 3])"), "[7 2 3]");
  EXPECT_EQ(evaluate("expand_strides([2, 1], [1, 1], [7, -1, 3])"), "[0 1 0]");
  EXPECT_EQ(evaluate("contiguous_strides(self.sizes())"), "[12 4 1]");
  EXPECT_EQ(evaluate("slice_size(10, None, -1, 4)"), "3");
  EXPECT_EQ(evaluate("slice_start(10, -3)"), "7");
  EXPECT_EQ(evaluate("diagonal_sizes(self.sizes(), 1, 0, 2)"), "[3 2]");
  EXPECT_EQ(evaluate("diagonal_sizes(self.sizes(), -1, 0, 2)"), "[3 1]");
  EXPECT_EQ(evaluate("diagonal_strides(self.strides(), 0, 2)"), "[4 13]");
  EXPECT_EQ(evaluate("diagonal_offset(self.strides(), -1, 0, 2)"), "12");
  EXPECT_EQ(evaluate("unfold_sizes(self.sizes(), 2, 2, 2)"), "[2 3 2 2]");
  EXPECT_EQ(evaluate("unfold_strides(self.strides(), 2, 2)"), "[12 4 2 1]");
  EXPECT_EQ(evaluate("window_counts([7, 9], [3, 2], [2, 1], [1, 0], [1, 3])"),
            "[4 6]");
  EXPECT_EQ(evaluate("pooled_sizes(2, [3, 7, 8], [2], [], [0], [1], true)"),
            "[3 4 4]");
  EXPECT_EQ(evaluate("unsqueezed_stride(self.sizes(), self.strides(), 1)"),
            "12");
  EXPECT_EQ(evaluate("reduced_sizes(self.sizes(), dims, true)"), "[1 3 1]");
  EXPECT_EQ(evaluate("reduced_sizes(self.sizes(), start, false)"), "[]");
  EXPECT_EQ(evaluate("cat_sizes(tensors, 1)"), "[2 6 4]");
  EXPECT_EQ(evaluate("is_expandable_to([3, 1], self.sizes())"), "true");
  EXPECT_EQ(evaluate("is_permutation([1, 0, 2], 3)"), "true");
  EXPECT_EQ(evaluate("contains_dim([-1], 2, 3)"), "true");
  EXPECT_EQ(evaluate("min(dims) + max([7, 9]) + sum(dims) + prod([2, 3])"),
            "17");
  EXPECT_EQ(evaluate("reversed(range(1, 8, 3)) + fill(2, 5)"), "[7 4 1 5 5]");
}

template <class E>
std::string thrown(const char* text) {
  try {
    eval_index(parse(text), values(), "op");
  } catch (const E& e) {
    return e.what();
  }
  return "nothing";
}

TEST(IndexEvalTest, ValuesWithoutAnAnswer) {
  EXPECT_EQ(thrown<std::out_of_range>("wrap_dim(3, 3)"),
            "[op] dim: expected a value in [-3, 2], got 3");
  EXPECT_EQ(thrown<std::out_of_range>("dims[2]"),
            "[op] expected an index in [-2, 1], got 2");
  EXPECT_EQ(thrown<std::domain_error>("1 // 0"),
            "[op] expected a divisor other than 0, got 0");
  EXPECT_EQ(thrown<std::domain_error>("broadcast([2], [3])"),
            "[op] expected sizes that broadcast, got [2] and [3]");
  EXPECT_EQ(thrown<std::domain_error>("wrap_dims([0, -3], 3)"),
            "[op] dim: expected distinct dims, got [0, -3]");
  EXPECT_EQ(thrown<std::domain_error>("infer_size([5, -1], 24)"),
            "[op] shape: expected sizes of 24 elements, got [5, -1]");
  EXPECT_EQ(thrown<std::domain_error>("view_strides([2, 3], [1, 2], [6])"),
            "[op] self: expected sizes and strides that can be seen as [6], "
            "got [2, 3] and [1, 2]; call contiguous() or reshape");
  EXPECT_EQ(thrown<std::domain_error>("expand_sizes([3], [2])"),
            "[op] size: expected sizes that [3] can be expanded to, got [2]");
}

TEST(IndexEvalTest, EveryFunctionHasAValue) {
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
    EXPECT_TRUE(compile_index(parse(text), env(), {}, "op", d)) << d.str();
    try {
      eval_index(parse(text), values(), "op");
    } catch (const std::bad_variant_access&) {
      ADD_FAILURE() << text << " is not implemented";
    } catch (const std::exception&) {
      // These arguments have no answer.
    }
  }
}

}  // namespace
}  // namespace sy::lang
