#include "tools/sy/trials/soundness.h"

#include <gtest/gtest.h>

#include "aten/tensor.h"

namespace sy::tools {
namespace {

bool names(const char* text, const char* op) {
  return begins_with_operator(text, Dispatcher::singleton().find_or_throw(op));
}

TEST(Soundness, AnErrorBeginsWithItsOperator) {
  EXPECT_TRUE(names("[argsort] dim: expected 0, got 7", "aten::argsort"));
  EXPECT_TRUE(names("[convolution] input: no", "aten::convolution"));
  EXPECT_TRUE(names("[aten::add.Tensor] has no kernel", "aten::add_.Tensor"));
  EXPECT_TRUE(names("[__iand__.Scalar] self: no", "aten::__iand__.Scalar"));
  for (const char* text :
       {"[anything] dim: no", "[mm] self: no", "convolution: no",
        "[convolution", "input of [convolution]: no"}) {
    EXPECT_FALSE(names(text, "aten::convolution")) << text;
  }
}

TEST(Soundness, OrWithTheOneThatItIsComposedOf) {
  EXPECT_TRUE(names("[mul.Tensor] other: no", "aten::outer"));
  EXPECT_FALSE(names("[anything] other: no", "aten::outer"));
}

TEST(Soundness, OrWithTheOneThatItServes) {
  EXPECT_TRUE(names("[linalg_svd] A: no", "aten::_linalg_svd"));
  EXPECT_FALSE(names("[linalg_eigh] A: no", "aten::_linalg_svd"));
  EXPECT_FALSE(names("[_linalg_svd] A: no", "aten::_linalg_eigh"));
  EXPECT_TRUE(names("[linalg.lu] no", "aten::_linalg_check_errors"));
}

TensorBase laid_out(IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  const int64_t four[] = {4};
  const TensorBase t(make_tensor(IntArrayRef(four, 1), kDouble, Device(kCPU)));
  return TensorBase(t.impl()->alias(sizes, strides, offset));
}

TEST(Soundness, ElementsLieWithinTheirStorage) {
  const int64_t two[] = {2}, three[] = {3}, five[] = {5};
  const int64_t one[] = {1}, wide[] = {int64_t{1} << 62};
  const auto is_inside = [](const TensorBase& t) {
    return out_of_bounds(t).empty();
  };
  EXPECT_TRUE(is_inside(laid_out(two, two, 1)));
  EXPECT_FALSE(is_inside(laid_out(two, two, 2)));
  EXPECT_FALSE(is_inside(laid_out(five, one, 0)));
  // 64 bits would make these 0 and less than 0.
  EXPECT_FALSE(is_inside(laid_out(five, wide, 0)));
  EXPECT_FALSE(is_inside(laid_out(three, wide, 0)));
  const int64_t many[] = {5, 5, 5}, wides[] = {wide[0], -wide[0], wide[0]};
  EXPECT_FALSE(is_inside(laid_out(many, wides, 0)));
}

}  // namespace
}  // namespace sy::tools
