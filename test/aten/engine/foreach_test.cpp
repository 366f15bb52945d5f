#include <gtest/gtest.h>

#include <vector>

#include "aten/ops/copy.h"
#include "aten/ops/foreach.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/tensor_new.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;
using List = std::vector<Tensor>;

List sample() { return {tensor({1.0, 2.0}, kFloat), tensor({3, 4, 5})}; }

TEST(Foreach, EachHasItsOwnSizesAndDtype) {
  const List sums = sy::_foreach_add(sample(), Scalar(1));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(values(sums[0]), (Values{2, 3}));
  EXPECT_EQ(sums[0].scalar_type(), kFloat);
  EXPECT_EQ(values(sums[1]), (Values{4, 5, 6}));
  EXPECT_EQ(sums[1].scalar_type(), kLong);
  const Scalar by[] = {Scalar(2), Scalar(0.5)};
  const List products = sy::_foreach_mul(sample(), ArrayRef<Scalar>(by));
  EXPECT_EQ(values(products[0]), (Values{2, 4}));
  EXPECT_EQ(values(products[1]), (Values{1.5, 2, 2.5}));
  EXPECT_EQ(products[1].scalar_type(), kFloat);
}

TEST(Foreach, InPlaceWritesTheTensorsOfTheList) {
  const List list = sample();
  const Scalar by[] = {Scalar(2), Scalar(3)};
  sy::_foreach_mul_(list, ArrayRef<Scalar>(by));
  EXPECT_EQ(values(list[0]), (Values{2, 4}));
  EXPECT_EQ(values(list[1]), (Values{9, 12, 15}));
  sy::_foreach_zero_(list);
  EXPECT_EQ(values(list[1]), (Values{0, 0, 0}));
}

TEST(Foreach, CopiesBroadcastAndConvert) {
  const List list = sample(), from = {tensor({7}), tensor({1.5, 2.5, 3.5})};
  const List copies = sy::_foreach_copy(list, from);
  EXPECT_EQ(copies[0].scalar_type(), kFloat);
  EXPECT_EQ(values(copies[0]), (Values{7, 7}));
  EXPECT_EQ(values(copies[1]), (Values{1, 2, 3}));
  sy::_foreach_copy_(list, from);
  EXPECT_EQ(values(list[0]), (Values{7, 7}));
  EXPECT_EQ(values(list[1]), (Values{1, 2, 3}));
}

TEST(Foreach, AllResultsOfOutAreComputedBeforeAnyIsWritten) {
  const Tensor a = tensor({1.0, 2.0}), b = tensor({3.0, 4.0});
  const List self = {a, b}, other = {b, a}, out = {a, b};
  sy::_foreach_sub_out(out, self, other, Scalar(1));
  EXPECT_EQ(values(a), (Values{-2, -2}));
  EXPECT_EQ(values(b), (Values{2, 2}));
}

TEST(Foreach, AVectorOfNumbers) {
  const List ones = {tensor({1.0}), tensor({1.0})};
  const List got =
      sy::_foreach_addcmul(ones, ones, ones, tensor({2.0, 3.0}, kFloat));
  EXPECT_EQ(values(got[0]), Values{3});
  EXPECT_EQ(values(got[1]), Values{4});
}

TEST(Foreach, ListsThatDoNotFit) {
  const List none, list = sample();
  const List one = {list[0]};
  SY_EXPECT_ERROR(
      sy::_foreach_abs(none), ValueError,
      "[_foreach_abs] self: expected at least one tensor, got none");
  SY_EXPECT_ERROR(
      sy::_foreach_mul(list, one), ValueError,
      "[_foreach_mul.List] other: expected 2 elements, one for each "
      "tensor, got 1");
  SY_EXPECT_ERROR(
      sy::_foreach_mul_(list, one), ValueError,
      "[_foreach_mul_.List] other: expected 2 elements, one for each "
      "tensor, got 1");
  SY_EXPECT_ERROR(sy::_foreach_abs_out(one, list), ValueError,
                  "[_foreach_abs.out] out: expected 2 elements, one for each "
                  "tensor, got 1");
  const List swapped = {list[1].clone(), list[0].clone()};
  SY_EXPECT_ERROR(sy::_foreach_abs_out(swapped, list), TypeError,
                  "out: expected");
  SY_EXPECT_ERROR(sy::_foreach_add(list, tensor({1.0}), Scalar(1)), ValueError,
                  "a tensor without dims");
  SY_EXPECT_ERROR(
      sy::_foreach_addcmul(list, list, list, tensor({1.0, 2.0, 3.0})),
      ValueError, "as many numbers as tensors");
}

}  // namespace
}  // namespace sy
