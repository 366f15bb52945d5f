#include "aten/ops/histogram.h"

#include <cmath>

#include <gtest/gtest.h>

#include "aten/ops/factory.h"
#include "aten/ops/ranges.h"
#include "aten/ops/view.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

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
