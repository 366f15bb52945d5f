#include "test/runtime/twins.h"

// Values of the index language, as sizes of a view.

namespace sy::test {
namespace {

using List = std::vector<int64_t>;

// The offset uses the arguments that EXPRESSION does not.
constexpr const char* kText = R"(
- func: loaded::f(Tensor(a) self, Tensor mat2, Tensor[] tensors, int dim, int[] dims, int? start=None, bool flag=True) -> Tensor(a)
  view:
    sizes: >-
      EXPRESSION
    strides: >-
      fill(len(EXPRESSION), 0)
    offset: >-
      if flag or start == None or dim == 0 or len(dims) + len(tensors) + mat2.dim() == 0
      then self.storage_offset() else 0
)";

// The list that an expression gives for a transposed self of 4x3x2 at offset 5.
List value(const std::string& expression) {
  const SchemaHandle schema =
      load_schema_text(replaced(kText, "EXPRESSION", expression));
  const Tensor self =
      arange(30, kFloat).slice(0, 5, 29).view({2, 3, 4}).transpose(0, 2);
  const std::vector<TensorBase> tensors = {self, self};
  const Outcome out =
      call("loaded::f",
           {Value(TensorBase(self)), Value(TensorBase(ones({3, 1}, kLong))),
            Value::tensor_list(tensors.data(), tensors.size()), -1,
            Value(IntArrayRef({2, 0})), Value(), true});
  EXPECT_EQ(out.error, "") << expression;
  return out.error.empty() ? as_tensor(out.results[0]).sizes().vec() : List{};
}

bool truth(const std::string& condition) {
  return value("[if " + condition + " then 1 else 2]") == List{1};
}

TEST(IndexLanguage, Numbers) {
  EXPECT_EQ(value("[-7 // 2 + 10, -7 % 4, 2 * 3 - 4, -dim]"),
            (List{6, 1, 2, 1}));
  EXPECT_EQ(
      value(
          "[ceil(3 / 4.0), floor(dim * -1.5), ceil_div(7, 2), clamp(9, 0, 3)]"),
      (List{1, 1, 4, 3}));
  EXPECT_EQ(value("[min(2, 3), max(2, 3), min(dims), max(dims), abs(dim)]"),
            (List{2, 3, 0, 2, 1}));
}

TEST(IndexLanguage, Metadata) {
  EXPECT_EQ(value("self.sizes()"), (List{4, 3, 2}));
  EXPECT_EQ(value("self.strides()"), (List{1, 4, 12}));
  EXPECT_EQ(value("[self.size(-1), self.stride(1), self.dim(), self.numel(), "
                  "self.storage_offset()]"),
            (List{2, 4, 3, 24, 5}));
  EXPECT_TRUE(truth("is_floating(self) and not is_floating(mat2)"));
  EXPECT_TRUE(truth("mat2.dtype() == int64 and self.dtype() != int64"));
}

TEST(IndexLanguage, Conditions) {
  EXPECT_TRUE(truth("flag and not (not flag)"));
  EXPECT_TRUE(truth("start == None or start > 0"));
  EXPECT_FALSE(truth("start != None and start > 0"));
  EXPECT_TRUE(truth("self.sizes()[1:] == [3, 2]"));
  EXPECT_TRUE(truth("not (dim > 0) and dim >= -1 and dim <= -1 and dim < 0"));
  EXPECT_EQ(value("if flag then self.sizes() else []"), (List{4, 3, 2}));
}

TEST(IndexLanguage, Lists) {
  EXPECT_EQ(value("[s for s in self.sizes() if s != 3]"), (List{4, 2}));
  EXPECT_EQ(value("[t.dim() for t in tensors]"), (List{3, 3}));
  EXPECT_EQ(value("self.sizes()[1:] + self.sizes()[:-2]"), (List{3, 2, 4}));
  EXPECT_EQ(value("[self.sizes()[-1], tensors[0].size(0), len(tensors)]"),
            (List{2, 4, 2}));
  EXPECT_EQ(value("let d = wrap_dim(dim, self.dim()) in "
                  "with(self.sizes(), d, 9)"),
            (List{4, 3, 9}));
  EXPECT_EQ(value("without(self.sizes(), dims)"), (List{3}));
  EXPECT_EQ(value("without(self.sizes(), dim)"), (List{4, 3}));
}

// Arguments of every kind that functions have.
TEST(IndexLanguage, Functions) {
  EXPECT_EQ(value("[slice_size(10, start, None, 4), slice_start(10, -3)]"),
            (List{3, 7}));
  EXPECT_EQ(value("reduced_sizes(self.sizes(), dims, true)"), (List{1, 3, 1}));
  EXPECT_EQ(value("reduced_sizes(self.sizes(), start, false)"), (List{}));
  EXPECT_EQ(value("cat_sizes(tensors, 1)"), (List{4, 6, 2}));
  EXPECT_EQ(value("pooled_sizes(2, [3, 7, 8], [2], [], [0], [1], true)"),
            (List{3, 4, 4}));
  EXPECT_EQ(value("reversed(range(1, 8, 3)) + fill(2, 5)"),
            (List{7, 4, 1, 5, 5}));
}

}  // namespace
}  // namespace sy::test
