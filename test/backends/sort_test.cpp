#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/indexing.h"
#include "aten/ops/random.h"
#include "aten/ops/ranges.h"
#include "aten/ops/shape.h"
#include "aten/ops/sort.h"
#include "aten/ops/unique.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;
using Places = std::vector<int64_t>;

TEST(Sort, NanLastAndEqualsAsTheyCame) {
  const Tensor a = tensor({2.0, (double)NAN, -0.0, 1.0, 0.0, 2.0}, kFloat);
  const auto [up, at] = sort(a);
  EXPECT_EQ(values<int64_t>(at), (Places{2, 4, 3, 0, 5, 1}));
  EXPECT_TRUE(std::signbit(values(up)[0]));
  EXPECT_EQ(values<int64_t>(argsort(a, 0, true)), (Places{1, 0, 5, 3, 2, 4}));
}

TEST(Sort, AlongDims) {
  const Tensor a = tensor({{3, 1, 2}, {0, 5, 1}});
  EXPECT_EQ(values(std::get<0>(sort(a, 0))), (Values{0, 1, 1, 3, 5, 2}));
  EXPECT_EQ(values(std::get<0>(sort(a.t(), 1, true))),
            (Values{3, 0, 5, 1, 2, 1}));
  EXPECT_EQ(values(std::get<0>(sort(tensor(4)))), (Values{4}));
  SY_EXPECT_ERROR(sort(a, 2), IndexError, "[sort");
}

// Long rows are sorted by counting, in one word or two.
TEST(Sort, LongRows) {
  manual_seed(3);
  for (const ScalarType dtype :
       {kDouble, kFloat, kHalf, kLong, kByte, kShort}) {
    const Tensor a = is_floating_type(dtype)
                         ? randn({2, 1000}).to(dtype)
                         : randint(0, 100, {2, 1000}, dtype);
    for (const bool descending : {false, true}) {
      const auto [sorted, at] = sort(a, 1, descending);
      const Values x = values(a), y = values(sorted);
      const Places k = values<int64_t>(at);
      for (size_t i = 0; i < 2000; ++i) {
        const size_t row = i / 1000 * 1000;
        ASSERT_EQ(y[i], x[row + static_cast<size_t>(k[i])]);
        if (i == row) continue;
        ASSERT_TRUE(descending ? y[i - 1] >= y[i] : y[i - 1] <= y[i]);
        if (y[i - 1] == y[i]) {
          ASSERT_LT(k[i - 1], k[i]);
        }
      }
    }
  }
}

TEST(Sort, ChoosingByRank) {
  const Tensor a = tensor({5.0, 1.0, (double)NAN, 3.0, 1.0});
  EXPECT_EQ(values(std::get<0>(kthvalue(a, 3))), (Values{3}));
  EXPECT_TRUE(std::isnan(values(median(a))[0]));
  EXPECT_EQ(values(nanmedian(a)), (Values{1}));
  EXPECT_EQ(values<int64_t>(std::get<1>(median(a, 0))), (Places{2}));
  EXPECT_EQ(values<int64_t>(std::get<1>(mode(a))), (Places{4}));
  EXPECT_EQ(values<int64_t>(std::get<1>(topk(a, 2))), (Places{2, 0}));
  EXPECT_EQ(values(std::get<0>(topk(a, 3, 0, false))), (Values{1, 1, 3}));
  EXPECT_TRUE(std::isnan(values(median(empty({0})))[0]));
  SY_EXPECT_ERROR(kthvalue(a, 6), ValueError, "[kthvalue]");
  SY_EXPECT_ERROR(topk(a, 6), ValueError, "[topk]");
  SY_EXPECT_ERROR(topk(a, -1), ValueError, "[topk]");
  SY_EXPECT_ERROR(median(ones({2}, kBool)), ValueError, "numbers");
}

TEST(Sort, EqualsKeepTheirOrderByRank) {
  const Tensor a = randint(0, 5, {500}, kFloat);
  const auto [sorted, at] = sort(a, true, 0, false);
  for (const int64_t k : {1, 77, 250, 500}) {
    const auto [value, place] = kthvalue(a, k);
    EXPECT_EQ(values(value)[0], values(sorted)[static_cast<size_t>(k - 1)]);
    EXPECT_EQ(values<int64_t>(place)[0],
              values<int64_t>(at)[static_cast<size_t>(k - 1)]);
  }
}

// Keys whose range leaves room for the place are sorted with it in one word.
TEST(Sort, WideIntegersOfAnyRange) {
  for (const int64_t high : {int64_t{10}, int64_t{1} << 40, INT64_MAX}) {
    const Tensor a = randint(-high, high, {1000}, kLong);
    for (const bool descending : {false, true}) {
      const auto [sorted, at] = sort(a, 0, descending);
      Places expected = values<int64_t>(a);
      std::sort(expected.begin(), expected.end());
      if (descending) std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(values<int64_t>(sorted), expected) << high;
      EXPECT_EQ(values<int64_t>(a.index_select(0, at)), expected) << high;
    }
  }
}

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

TEST(Histogram, BinsAndSearch) {
  const Tensor a = tensor({0.0, 1.0, 2.5, (double)NAN, 4.0}, kFloat);
  EXPECT_EQ(values(histc(a, 4, 0, 4)), (Values{1, 1, 1, 1}));
  SY_EXPECT_ERROR(histc(a, 4), ValueError, "finite");
  const Tensor edges = tensor({0.0, 1.0, 4.0}, kFloat);
  const auto [hist, same] = histogram(a, edges);
  EXPECT_EQ(values(hist), (Values{1, 3}));
  EXPECT_EQ(values(bincount(tensor({1, 3, 1}), std::nullopt, 5)),
            (Values{0, 2, 0, 1, 0}));
  SY_EXPECT_ERROR(bincount(tensor({-1})), ValueError, "[bincount] self");
  SY_EXPECT_ERROR(bincount(tensor({INT64_MAX})), ValueError, "2^31");
  const Tensor x = tensor({1.0, 0.5, (double)NAN}, kFloat);
  EXPECT_EQ(values(searchsorted(edges, x)), (Values{1, 1, 3}));
  EXPECT_EQ(values(searchsorted(edges, x, false, true)), (Values{2, 1, 3}));
  SY_EXPECT_ERROR(
      searchsorted(edges, x, false, false, std::nullopt, tensor({0, 1, 7})),
      IndexError, "sorter");
}

TEST(Histogram, BincountOfWeights) {
  const Tensor a = tensor({1, 3, 1}), w = tensor({1, 2, 4});
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kInt}) {
    const Tensor sums = bincount(a, w.to(dtype));
    EXPECT_EQ(sums.scalar_type(), dtype == kFloat ? kFloat : kDouble);
    EXPECT_EQ(values(sums.to(kDouble)), (Values{0, 5, 0, 2}));
  }
  const Tensor pairs = tensor({1.0, 8.0, 2.0, 8.0, 4.0, 8.0}, kFloat);
  EXPECT_EQ(values(bincount(a, pairs.reshape({3, 2}).select(1, 0))),
            (Values{0, 5, 0, 2}));
  // The least and the greatest may lie anywhere.
  Tensor many = zeros({5000}, kLong);
  many.select(0, 4999).fill_(2);
  EXPECT_EQ(values(bincount(many)), (Values{4999, 0, 1}));
  many.select(0, 3000).fill_(-5);
  SY_EXPECT_ERROR(bincount(many), ValueError, "negative numbers, got -5");
}

// Weighted sums are made in pieces that no number of threads changes.
TEST(Histogram, LargeInputs) {
  const Tensor a = arange(300000, kLong).remainder(7);
  const auto counts = values(bincount(a));
  EXPECT_EQ(counts, (Values{42858, 42857, 42857, 42857, 42857, 42857, 42857}));
}

}  // namespace
}  // namespace sy::families
