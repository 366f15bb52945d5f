#include <gtest/gtest.h>

#include <cmath>

#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/scan.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;
using Places = std::vector<int64_t>;

TEST(Scan, AlongDims) {
  const Tensor a = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  EXPECT_EQ(values(cumsum(a, 0)), (Values{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(values(cumsum(a, -1)), (Values{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(values(cumprod(a.t(), 1)), (Values{1, 4, 2, 10, 3, 18}));
  EXPECT_EQ(values(cumsum(tensor(7), 0)), (Values{7}));
  EXPECT_EQ(cumsum(ones({2, 0}), 1).numel(), 0);
  SY_EXPECT_ERROR(cumsum(a, 2), IndexError, "[cumsum] dim");
}

TEST(Scan, Dtypes) {
  EXPECT_EQ(cumsum(ones({3}, kInt), 0).dtype(), kLong);
  EXPECT_EQ(cumsum(ones({3}, kBool), 0).dtype(), kLong);
  EXPECT_EQ(cumsum(ones({3}, kHalf), 0).dtype(), kHalf);
  EXPECT_EQ(cumsum(ones({3}, kInt), 0, kFloat).dtype(), kFloat);
  EXPECT_EQ(std::get<0>(cummax(ones({3}, kByte), 0)).dtype(), kByte);
  SY_EXPECT_ERROR(logcumsumexp(ones({3}, kInt), 0), ValueError,
                  "a floating dtype");
  // Half overflows where float does not.
  const Tensor big = full({40}, 2048, kHalf);
  EXPECT_TRUE(std::isinf(values(cumsum(big, 0)).back()));
  EXPECT_EQ(values(cumsum(big, 0, kFloat)).back(), 81920);
}

// Rows and columns: many, few, and none that a kernel knows.
TEST(Scan, ElementsBecomeTheDtypeThatIsAskedForFirst) {
  manual_seed(2);
  for (const auto& sizes : {Places{40}, Places{3, 700}, Places{40, 3},
                            Places{40, 20}, Places{2, 40, 20}}) {
    const Tensor a = rand(sizes, kDouble).add(0.5);
    const Tensor far = a.mul(1e12).to(kLong);
    for (int64_t d = 0; d < a.dim(); ++d) {
      for (const ScalarType dtype : {kBFloat16, kHalf, kFloat}) {
        EXPECT_TRUE(equal(cumsum(a, d, dtype), cumsum(a.to(dtype), d)))
            << dtype << IntArrayRef(sizes) << d;
        EXPECT_TRUE(equal(cumprod(a, d, dtype), cumprod(a.to(dtype), d)))
            << dtype << IntArrayRef(sizes) << d;
      }
      EXPECT_TRUE(equal(cumsum(far, d, kFloat), cumsum(far.to(kFloat), d)));
      Tensor out = empty(a.sizes(), kFloat);
      cumsum_out(out, a, d, kFloat);
      EXPECT_TRUE(equal(out, cumsum(a.to(kFloat), d)));
    }
  }
}

TEST(Scan, ChoosesTheLastOfEqualsAndNan) {
  const Tensor a = tensor({1.0, 3.0, 2.0, 3.0, (double)NAN, 5.0, (double)NAN});
  const auto [values_max, at_max] = cummax(a, 0);
  EXPECT_EQ(values<int64_t>(at_max), (Places{0, 1, 1, 3, 4, 4, 6}));
  const auto [values_min, at_min] = cummin(a, 0);
  EXPECT_EQ(values<int64_t>(at_min), (Places{0, 0, 0, 0, 4, 4, 6}));
  EXPECT_TRUE(std::isnan(values(values_min)[5]));
}

// Rows and columns around the sizes where the ways of the engine part, for any
// number of threads.
TEST(Scan, AgainstLoops) {
  manual_seed(1);
  for (const auto& s :
       {Places{1, 5000, 1}, Places{3, 1537, 1}, Places{70, 40, 1},
        Places{300, 3, 1}, Places{2, 50, 5}, Places{2, 30, 700}}) {
    const Tensor a = rand({s[0], s[1], s[2]}, kDouble);
    const Values x = values(a);
    Values sums(x.size()), most(x.size()), logs(x.size());
    Places places(x.size());
    for (int64_t i = 0; i < s[0]; ++i) {
      for (int64_t k = 0; k < s[2]; ++k) {
        double sum = 0, best = -1, exps = 0;
        int64_t place = 0;
        for (int64_t j = 0; j < s[1]; ++j) {
          const auto at = static_cast<size_t>((i * s[1] + j) * s[2] + k);
          sum += x[at];
          exps += std::exp(x[at]);
          if (x[at] >= best) {
            best = x[at];
            place = j;
          }
          sums[at] = sum;
          logs[at] = std::log(exps);
          most[at] = best;
          places[at] = place;
        }
      }
    }
    Values first;
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      const Values got = values(cumsum(a, 1));
      const Values got_logs = values(logcumsumexp(a, 1));
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], sums[i], 1e-9 * sums[i]) << i;
        ASSERT_NEAR(got_logs[i], logs[i], 1e-9) << i;
      }
      if (threads == 1) first = got;
      EXPECT_EQ(got, first);
      const auto [best, at] = cummax(a, 1);
      EXPECT_EQ(values(best), most);
      EXPECT_EQ(values<int64_t>(at), places);
    }
  }
  set_num_threads(1);
}

// Bools go by the program, in pieces of a row.
TEST(Scan, BoolRows) {
  const int64_t n = 5000;
  Tensor a = zeros({n}, kBool);
  a.select(0, 1700).fill_(1);
  const auto [best, at] = cummax(a, 0);
  const Values v = values(best);
  const Places k = values<int64_t>(at);
  for (int64_t i = 0; i < n; ++i) {
    EXPECT_EQ(v[static_cast<size_t>(i)], i >= 1700) << i;
    EXPECT_EQ(k[static_cast<size_t>(i)], i < 1700 ? i : 1700) << i;
  }
}

// float32 sums in float64, pieces of a row too.
TEST(Scan, KeepsDigits) {
  const int64_t n = 100000;
  const Values sums = values(cumsum(full({n}, 0.1, kFloat), 0));
  const double tenth = static_cast<double>(0.1f);
  for (int64_t i = 0; i < n; i += 997) {
    const double want = tenth * static_cast<double>(i + 1);
    EXPECT_EQ(sums[static_cast<size_t>(i)], static_cast<float>(want)) << i;
  }
}

// Half precision is widened a piece of a row at a time, rows alone and in
// groups; each sum is rounded once.
TEST(Scan, HalfPrecisionRowsOfSeveralPieces) {
  manual_seed(3);
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    for (const int64_t rows : {1, 6}) {
      const Tensor a = randn({rows, 1300}).to(dtype);
      const Tensor b = rand({rows, 1300}).to(dtype);
      EXPECT_EQ(values(cumsum(a, 1)),
                values(cumsum(a.to(kFloat), 1).to(dtype)));
      EXPECT_EQ(values(cumprod(b, 1)),
                values(cumprod(b.to(kFloat), 1).to(dtype)));
    }
  }
}

TEST(Scan, IntoTensorsThatAreThere) {
  Tensor a = tensor({1, 2, 3}, kInt);
  a.cumsum_(0);
  EXPECT_EQ(values(a), (Values{1, 3, 6}));
  EXPECT_EQ(a.dtype(), kInt);
  Tensor out = empty({0}, kLong);
  cumsum_out(out, a, 0);
  EXPECT_EQ(values(out), (Values{1, 4, 10}));
  Tensor spread = ones({1}, kFloat).expand({3});
  SY_EXPECT_ERROR(spread.cumsum_(0), ValueError, "[cumsum] out");
  Tensor best = empty({0}, kInt), at = empty({0}, kInt);
  SY_EXPECT_ERROR(cummax_out(best, at, a, 0), TypeError, "expected int64");
}

}  // namespace
}  // namespace sy
