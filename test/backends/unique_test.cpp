#include "aten/ops/unique.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aten/ops/factory.h"
#include "aten/ops/ranges.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using Places = std::vector<int64_t>;

// Integers that lie close together are counted, others sorted.
TEST(Unique, CountsWhatLiesClose) {
  const Tensor close = tensor({5, -3, 5, 4, -3, 5, 5, 5, 5, 5});
  const Tensor apart = tensor({5, -3000, 5, 4, -3000, 5, 5, 5, 5, 5});
  for (const ScalarType dtype : {kLong, kInt, kShort}) {
    for (const Tensor& x : {close, apart}) {
      const auto [v, inverse, counts] = _unique2(x.to(dtype), true, true, true);
      EXPECT_EQ(v.dtype(), dtype);
      EXPECT_EQ(values(v), (Values{values(x)[1], 4, 5}));
      EXPECT_EQ(values<int64_t>(inverse),
                (Places{2, 0, 2, 1, 0, 2, 2, 2, 2, 2}));
      EXPECT_EQ(values<int64_t>(counts), (Places{2, 1, 7}));
    }
  }
  const Tensor ends = tensor({INT64_MAX, INT64_MIN, INT64_MAX});
  EXPECT_EQ(values<int64_t>(std::get<0>(_unique2(ends))),
            (Places{INT64_MIN, INT64_MAX}));
  const auto [v, inverse, counts] =
      _unique2(tensor({1, 0, 1}).to(kBool), true, true, true);
  EXPECT_EQ(v.dtype(), kBool);
  EXPECT_EQ(values<int64_t>(counts), (Places{1, 2}));
}

TEST(Unique, ElementsAndSlices) {
  const Tensor a = tensor({3, 1, 3, 2, 1});
  const auto [v, inverse, counts] = _unique2(a, true, true, true);
  EXPECT_EQ(values(v), (Values{1, 2, 3}));
  EXPECT_EQ(values<int64_t>(inverse), (Places{2, 0, 2, 1, 0}));
  EXPECT_EQ(values<int64_t>(counts), (Places{2, 1, 2}));
  const Tensor b = tensor({{1, 2}, {0, 5}, {1, 2}});
  EXPECT_EQ(values(std::get<0>(unique_dim(b, 0))), (Values{0, 5, 1, 2}));
  EXPECT_EQ(ints(std::get<0>(unique_dim(b, 1)).sizes()), (Places{3, 2}));
  EXPECT_EQ(values(std::get<0>(unique_consecutive(tensor({1, 1, 2, 1})))),
            (Values{1, 2, 1}));
  EXPECT_EQ(std::get<0>(_unique2(empty({0}))).numel(), 0);
  SY_EXPECT_ERROR(unique_dim(tensor(1), 0), IndexError, "[unique_dim] dim");
  SY_EXPECT_ERROR(unique_dim(ones({2, 0}), 0), ValueError, "[unique_dim] self");
}

TEST(Unique, RunsAreAsLongAsTheyAre) {
  // Runs of 300, 1 and 400: the long ones exceed what is compared at once.
  const Tensor x = cat({full({300}, 2.0), full({1}, 5.0), full({400}, 2.0)});
  for (const ScalarType dtype : {kByte, kLong, kFloat, kBFloat16, kDouble}) {
    const auto [v, inverse, counts] =
        unique_consecutive(x.to(dtype), true, true);
    EXPECT_EQ(values(v.to(kDouble)), (Values{2, 5, 2}));
    EXPECT_EQ(values<int64_t>(counts), (Places{300, 1, 400}));
    EXPECT_EQ(inverse.sum().item<int64_t>(), 801);
  }
  // 0 and -0 are equal, NaN never is.
  const Tensor zero = zeros({200}), less = full({200}, -0.0);
  EXPECT_EQ(std::get<0>(unique_consecutive(cat({zero, less, zero}))).numel(),
            1);
  EXPECT_EQ(std::get<0>(unique_consecutive(full({500}, (double)NAN))).numel(),
            500);
}

TEST(Unique, IsinFindsEveryKey) {
  // The least number has the key 0.
  const Tensor ends = tensor({INT64_MIN, int64_t{-1}, INT64_MAX});
  EXPECT_EQ(values(isin(ends, ends)), (Values{1, 1, 1}));
  EXPECT_EQ(values(isin(ends, zeros({0}, kLong))), (Values{0, 0, 0}));
  EXPECT_EQ(values(isin(tensor({0.0, 1.0}), tensor({-0.0}))), (Values{1, 0}));
  for (const ScalarType dtype : {kLong, kInt, kFloat, kDouble}) {
    const Tensor even = arange(0, 6000, 2).to(dtype);
    const Tensor found = isin(arange(6000).to(dtype), even);
    EXPECT_EQ(found.sum().item<int64_t>(), 3000);
    EXPECT_EQ(found.select(0, 2999).item<bool>(), false);
  }
}

TEST(Unique, Nonzero) {
  const Tensor a = tensor({{0, 2}, {3, 0}});
  EXPECT_EQ(values<int64_t>(nonzero(a)), (Places{0, 1, 1, 0}));
  EXPECT_EQ(ints(nonzero(tensor(1)).sizes()), (Places{1, 0}));
  Tensor big = zeros({3, 50000});
  big.select(0, 2).fill_(1);
  EXPECT_EQ(nonzero(big).size(0), 50000);
  EXPECT_EQ(values(count_nonzero(big)), (Values{50000}));
  EXPECT_EQ(values(count_nonzero(big, std::optional<int64_t>(1))),
            (Values{0, 0, 50000}));
  EXPECT_EQ(values(count_nonzero(a.unsqueeze(1), {0, 1})), (Values{1, 1}));
  EXPECT_EQ(values<int64_t>(nonzero_static(a, 3, -1)),
            (Places{0, 1, 1, 0, -1, -1}));
  EXPECT_EQ(
      values(isin(tensor({1.0, (double)NAN, 3.0}), tensor({(double)NAN, 3.0}))),
      (Values{0, 0, 1}));
}

}  // namespace
}  // namespace sy::families
