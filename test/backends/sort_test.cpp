#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/random.h"
#include "aten/ops/ranges.h"
#include "aten/ops/shape.h"
#include "aten/ops/sort.h"
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

}  // namespace
}  // namespace sy::families
