#include "aten/ops/rearranging.h"

#include <gtest/gtest.h>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_out.h"
#include "aten/ops/ranges.h"
#include "aten/ops/shape.h"
#include "aten/ops/splitting.h"
#include "aten/ops/stacking.h"
#include "aten/ops/view.h"
#include "aten/ops/view_alias.h"
#include "aten/ops/view_copy.h"
#include "aten/ops/window.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using Ints = std::vector<int64_t>;

TEST(Rearranging, Roll) {
  const Tensor a = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(values(roll(a, 1)), (Values{6, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(roll(a, -1, 1)), (Values{2, 3, 1, 5, 6, 4}));
  EXPECT_EQ(values(roll(a, {1, 4}, {0, 1})), (Values{6, 4, 5, 3, 1, 2}));
  EXPECT_EQ(values(roll(a.t(), {1}, {1})), (Values{4, 1, 5, 2, 6, 3}));
  // Rows that are copied one by one, and as two parts of all.
  const Tensor rows = arange(24).view({4, 3, 2});
  for (const int64_t dim : {1, 2}) {
    EXPECT_EQ(values(roll(rows, 1, dim)),
              values(roll(rows.transpose(0, 1).contiguous().transpose(0, 1), 1,
                          dim)));
  }
  EXPECT_EQ(values(roll(rows, 1, 1).select(0, 3)),
            (Values{22, 23, 18, 19, 20, 21}));
  SY_EXPECT_ERROR(roll(a, {1, 2}), ValueError, "shift");
  SY_EXPECT_ERROR(roll(a, {1}, {2}), IndexError, "dim");
  // Each dim falls into two parts, but there are never more than elements.
  const Tensor many = zeros(Ints(40, 1));
  EXPECT_EQ(
      roll(many, Ints(40, 1),
           arange(40).numel() == 40 ? values<int64_t>(arange(40)) : Ints())
          .numel(),
      1);
}

TEST(Rearranging, Diagonals) {
  EXPECT_EQ(values(diag(tensor({1, 2}), -1)),
            (Values{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(values(diag(tensor({{1, 2}, {3, 4}}), 1)), (Values{2}));
  EXPECT_EQ(ints(diag_embed(zeros({4, 2}), 1, 0, 2).sizes()), (Ints{3, 4, 3}));
  SY_EXPECT_ERROR(diag(zeros({1, 1, 1})), ValueError, "one or two");
  SY_EXPECT_ERROR(diag_embed(zeros({2}), INT64_MIN), ValueError, "too large");
  SY_EXPECT_ERROR(diag_embed(zeros({2}), int64_t{1} << 40), ValueError,
                  "elements");
}

TEST(Splitting, UnsafePiecesAreNoViews) {
  Tensor a = arange(6);
  auto pieces = unsafe_split(a, 4);
  pieces[1].fill_(0);
  EXPECT_EQ(values(a), (Values{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(tensor_split(a, 4).size(), 4u);
  EXPECT_EQ(tensor_split(a, {1, -1}, 0)[1].numel(), 4);
  EXPECT_EQ(tensor_split(a, tensor({2, 3}, kCPU))[1].numel(), 1);
  SY_EXPECT_ERROR(tensor_split(a, int64_t{1} << 40), ValueError, "sections");
  SY_EXPECT_ERROR(tensor_split(a, zeros({1})), ValueError, "int64");
  std::vector<Tensor> out = {zeros({0}, kLong), zeros({2}, kLong)};
  unsafe_split_out(out, a, 4);
  EXPECT_EQ(values(out[1]), (Values{0, 0}));
  SY_EXPECT_ERROR(unsafe_split_out(out, a, 2), ValueError, "3 tensors");
  out[0] = Tensor();
  SY_EXPECT_ERROR(unsafe_split_out(out, a, 4), ValueError, "undefined");
}

TEST(Stacking, CombinationsInOrder) {
  const Tensor a = tensor({1, 2, 3});
  EXPECT_EQ(values(combinations(a)), (Values{1, 2, 1, 3, 2, 3}));
  EXPECT_EQ(values(combinations(a, 2, true)),
            (Values{1, 1, 1, 2, 1, 3, 2, 2, 2, 3, 3, 3}));
  EXPECT_EQ(ints(combinations(a, 4).sizes()), (Ints{0, 4}));
  EXPECT_EQ(ints(combinations(a.slice(0, 0, 0), 2, true).sizes()),
            (Ints{0, 2}));
  SY_EXPECT_ERROR(combinations(arange(1000), 60), ValueError, "2^63");
  SY_EXPECT_ERROR(combinations(a, 65), ValueError, "r:");
}

TEST(Stacking, Grids) {
  const auto ij = meshgrid({tensor({1, 2}), tensor({3, 4, 5})}, "ij");
  EXPECT_EQ(values(ij[1]), (Values{3, 4, 5, 3, 4, 5}));
  const auto xy = meshgrid({tensor({1, 2}), tensor({3, 4, 5})}, "xy");
  EXPECT_EQ(values(xy[0]), (Values{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(ints(xy[1].sizes()), (Ints{3, 2}));
  SY_EXPECT_ERROR(meshgrid({tensor({1}), tensor({1.5})}), TypeError, "dtype");
}

TEST(ViewDtype, CountsAgain) {
  const Tensor a = tensor({1.0, 2.0}).to(kFloat).view({1, 2});
  EXPECT_EQ(values<int64_t>(a.view(kInt)), (Ints{0x3f800000, 0x40000000}));
  const Tensor halves = a.view(kShort);
  EXPECT_EQ(ints(halves.sizes()), (Ints{1, 4}));
  EXPECT_TRUE(halves.is_alias_of(a));
  EXPECT_EQ(ints(halves.view(kDouble).sizes()), (Ints{1, 1}));
  SY_EXPECT_ERROR(a.t().view(kShort), ValueError, "stride 1");
  SY_EXPECT_ERROR(a.slice(1, 1, 2).view(kDouble), ValueError, "divides");
  SY_EXPECT_ERROR(scalar_tensor(1).view(kShort), ValueError, "one dim");
}

TEST(Ranges, IncludeTheirEnds) {
  EXPECT_EQ(values(range(1, 2, Scalar(0.5))), (Values{1, 1.5, 2}));
  EXPECT_EQ(values(logspace(0, 3, 4)), (Values{1, 10, 100, 1000}));
  EXPECT_EQ(values(logspace(1, 3, 3, 2, kInt)), (Values{2, 4, 8}));
  EXPECT_EQ(values(linspace(scalar_tensor(1), 2, 3)), (Values{1, 1.5, 2}));
  SY_EXPECT_ERROR(range(0, 1, Scalar(-1)), ValueError, "[range] end");
  SY_EXPECT_ERROR(linspace(zeros({1}), 2, 3), ValueError, "no dims");
  SY_EXPECT_ERROR(logspace(0, 1, -1), ValueError, "steps");
}

TEST(Windows, AreSymmetricOrOnePeriod) {
  EXPECT_EQ(values(bartlett_window(4)), (Values{0, 0.5, 1, 0.5}));
  EXPECT_EQ(values(bartlett_window(5, false)), (Values{0, 0.5, 1, 0.5, 0}));
  EXPECT_NEAR(values(hann_window(8, true, kDouble))[2], 0.5, 1e-15);
  EXPECT_NEAR(values(hamming_window(8, false, kDouble))[7], 0.08, 1e-15);
  EXPECT_NEAR(values(blackman_window(8, true, kDouble))[4], 1, 1e-15);
  EXPECT_NEAR(values(blackman_window(5, false, kDouble))[1], 0.34, 1e-15);
  EXPECT_EQ(values(hann_window(1)), (Values{1}));
  EXPECT_EQ(hann_window(0).numel(), 0);
  SY_EXPECT_ERROR(hann_window(-1), ValueError, "window_length");
  SY_EXPECT_ERROR(hann_window(3, kInt), TypeError, "floating");
}

TEST(Layouts, ArePutIntoTheOrderAskedFor) {
  EXPECT_EQ(ints(empty_permuted({2, 3, 4}, {2, 0, 1}).strides()),
            (Ints{3, 1, 6}));
  SY_EXPECT_ERROR(empty_permuted({2, 3}, {0, 0}), ValueError, "each dim once");
  Tensor a = zeros({2});
  a.resize_({1, 2, 3, 4}, MemoryFormat::ChannelsLast);
  EXPECT_TRUE(a.is_contiguous(MemoryFormat::ChannelsLast));
  SY_EXPECT_ERROR(a.resize_({2}, MemoryFormat::ChannelsLast), ValueError,
                  "4 dims");
  SY_EXPECT_ERROR(a.resize_({2}, MemoryFormat::Preserve), ValueError,
                  "preserve");
  EXPECT_TRUE(a.clone().is_contiguous(MemoryFormat::ChannelsLast));
  Tensor out = zeros({0});
  EXPECT_EQ(rand_out(out, {2, 3}).numel(), 6);
}

// One of PyTorch's rules: results of copied views are converted to no dtype.
TEST(ViewCopy, WritesOnlyItsOwnDtype) {
  const Tensor a = arange(4, kFloat).view({2, 2});
  Tensor out = zeros({0});
  EXPECT_EQ(values(t_copy_out(out, a)), (Values{0, 2, 1, 3}));
  EXPECT_FALSE(t_copy(a).is_alias_of(a));
  Tensor wide = zeros({2, 2}, kDouble);
  SY_EXPECT_ERROR(t_copy_out(wide, a), TypeError, "out");
}

}  // namespace
}  // namespace sy::families
