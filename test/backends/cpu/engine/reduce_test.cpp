#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/norm.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/statistics.h"
#include "aten/ops/variance.h"
#include "aten/ops/view.h"
#include "aten/tensor_new.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

using Values = std::vector<double>;
using List = std::vector<int64_t>;

TEST(Reduce, DimsAndKeepdim) {
  const Tensor a = arange(24, kFloat).view({2, 3, 4});
  EXPECT_EQ(values(sum(a)), (Values{276}));
  EXPECT_EQ(values(sum(a, {0, 2})), (Values{60, 92, 124}));
  EXPECT_EQ(values(sum(a, {1})), (Values{12, 15, 18, 21, 48, 51, 54, 57}));
  const Tensor kept = sum(a, {-1, 0}, true);
  EXPECT_EQ(ints(kept.sizes()), (List{1, 3, 1}));
  EXPECT_EQ(values(kept), (Values{60, 92, 124}));
  EXPECT_EQ(ints(sum(a, IntArrayRef(), true).sizes()), (List{1, 1, 1}));
  SY_EXPECT_ERROR(sum(a, {3}), IndexError, "expected a value in [-3, 2]");
  SY_EXPECT_ERROR(sum(a, {0, -3}), ValueError, "distinct dims");
}

TEST(Reduce, ResultDtypes) {
  EXPECT_EQ(sum(ones({3}, kInt)).dtype(), kLong);
  EXPECT_EQ(sum(ones({3}, kBool)).dtype(), kLong);
  EXPECT_EQ(sum(ones({3}, kHalf)).dtype(), kHalf);
  EXPECT_EQ(sum(ones({3}, kInt), kDouble).dtype(), kDouble);
  EXPECT_EQ(sum(ones({3}, kLong), kInt).dtype(), kInt);
  EXPECT_EQ(amax(ones({3}, kByte)).dtype(), kByte);
  EXPECT_EQ(any(ones({3})).dtype(), kBool);
  EXPECT_EQ(mean(ones({3}, kBFloat16)).dtype(), kBFloat16);
}

TEST(Reduce, Empty) {
  EXPECT_EQ(values(sum(ones({0}))), (Values{0}));
  EXPECT_EQ(values(prod(ones({0}))), (Values{1}));
  EXPECT_EQ(values(sum(ones({2, 0, 3}), {1})), Values(6, 0));
  EXPECT_EQ(sum(ones({2, 0, 3}), {0}).numel(), 0);
  EXPECT_TRUE(std::isnan(values(mean(ones({0})))[0]));
  EXPECT_EQ(values(any(ones({0}))), (Values{0}));
  EXPECT_EQ(values(all(ones({0}))), (Values{1}));
  SY_EXPECT_ERROR(amax(ones({2, 0}), {1}), ValueError, "[amax] dim");
  EXPECT_EQ(amax(ones({2, 0}), {0}).numel(), 0);
}

// Sizes around those where the ways of the engine part.
TEST(Reduce, AgainstLoops) {
  manual_seed(1);
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (const List& s :
         {List{1, 1, 1}, List{3, 5, 7}, List{2, 300, 3}, List{1, 2, 1500},
          List{40, 1, 600}, List{7, 90, 70}}) {
      const Tensor a = rand({s[0], s[1], s[2]}, kDouble);
      const Values x = values(a);
      for (const bool transposed : {false, true}) {
        const Tensor b = transposed ? a.transpose(0, 2) : a;
        for (int mask = 1; mask < 8; ++mask) {
          List dims;
          for (int d = 0; d < 3; ++d) {
            if (mask >> d & 1) dims.push_back(transposed ? 2 - d : d);
          }
          Values want(x.size(), 0), most(x.size(), -1);
          for (int64_t i = 0; i < s[0]; ++i) {
            for (int64_t j = 0; j < s[1]; ++j) {
              for (int64_t k = 0; k < s[2]; ++k) {
                const int64_t p = mask & 1 ? 0 : i, q = mask & 2 ? 0 : j;
                const int64_t r = mask & 4 ? 0 : k;
                const auto at = static_cast<size_t>((p * s[1] + q) * s[2] + r);
                const double v =
                    x[static_cast<size_t>((i * s[1] + j) * s[2] + k)];
                want[at] += v;
                most[at] = std::max(most[at], v);
              }
            }
          }
          const Tensor sums = sum(b, dims, true), maxima = amax(b, dims, true);
          const Values got = values(transposed ? sums.transpose(0, 2) : sums);
          const Values top =
              values(transposed ? maxima.transpose(0, 2) : maxima);
          size_t n = 0;
          for (size_t i = 0; i < x.size(); ++i) {
            if (most[i] < 0) continue;
            ASSERT_NEAR(got[n], want[i], 1e-9 * want[i] + 1e-12) << mask;
            ASSERT_EQ(top[n], most[i]) << mask;
            ++n;
          }
          ASSERT_EQ(n, got.size());
        }
      }
    }
  }
  set_num_threads(1);
}

TEST(Reduce, FloatSumsAreAccurate) {
  const Tensor tenths = full({1 << 22}, 0.1, kFloat);
  EXPECT_NEAR(values(sum(tenths))[0] / (double{0.1f} * (1 << 22)), 1, 3e-7);
  const Tensor columns = tenths.view({1 << 12, 1 << 10});
  for (const double v : values(sum(columns, {0}))) {
    ASSERT_NEAR(v / (double{0.1f} * (1 << 12)), 1, 3e-7);
  }
  EXPECT_EQ(values(sum(full({100000}, 1, kHalf), kFloat))[0], 100000);
  EXPECT_EQ(values(mean(full({100000}, 1, kHalf)))[0], 1);
}

TEST(Reduce, TheSameForAnyNumberOfThreads) {
  manual_seed(2);
  const Tensor a = randn({700, 900});
  set_num_threads(1);
  const Tensor all = sum(a), rows = sum(a, {1}), columns = sum(a, {0});
  for (const int threads : {2, 3, 7}) {
    set_num_threads(threads);
    EXPECT_EQ(values(sum(a)), values(all));
    EXPECT_EQ(values(sum(a, {1})), values(rows));
    EXPECT_EQ(values(sum(a, {0})), values(columns));
  }
  set_num_threads(1);
}

TEST(Reduce, NanAndIntegers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(values(amax(tensor({1.0, nan, 3.0})))[0]));
  EXPECT_TRUE(std::isnan(values(sum(tensor({1.0, nan, 3.0})))[0]));
  EXPECT_EQ(values<int64_t>(sum(full({4}, 100, kChar)))[0], 400);
  EXPECT_EQ(values<int64_t>(prod(full({3}, 200, kByte)))[0], 8000000);
  EXPECT_EQ(values<int64_t>(sum(full({2}, int64_t{1} << 53, kLong)))[0],
            int64_t{1} << 54);
  EXPECT_EQ(values<int64_t>(amin(tensor({3, -5, 2})))[0], -5);
  EXPECT_EQ(values(all(tensor({1, 0, 2}))), (Values{0}));
  EXPECT_EQ(values(any(tensor({0.0, nan}))), (Values{1}));
}

TEST(Reduce, Out) {
  const Tensor a = arange(6, kFloat).view({2, 3});
  Tensor out = zeros({7}, kDouble);
  sum_out(out, a, {0});
  EXPECT_EQ(values(out), (Values{3, 5, 7}));
  EXPECT_EQ(out.dtype(), kDouble);
  Tensor strided = zeros({6}).slice(0, 0, 6, 2);
  sum_out(strided, a, {0});
  EXPECT_EQ(values(strided), (Values{3, 5, 7}));
  Tensor number = zeros({2}, kFloat), byte = zeros({2}, kByte);
  SY_EXPECT_ERROR(any_out(number, a, 1), TypeError, "expected bool");
  any_out(byte, a, 1);
  EXPECT_EQ(values(byte), (Values{1, 1}));
  Tensor row = a.select(0, 0);
  sum_out(row, a, {0});  // of what is overwritten
  EXPECT_EQ(values(row), (Values{3, 5, 7}));
}

TEST(Reduce, SeveralResults) {
  const Tensor a = tensor({{1, 5, 3}, {4, 2, 6}}, kShort);
  const auto [low, high] = aminmax(a, 1, true);
  EXPECT_EQ(values(low), (Values{1, 2}));
  EXPECT_EQ(values(high), (Values{5, 6}));
  EXPECT_EQ(ints(high.sizes()), (List{2, 1}));
  EXPECT_EQ(high.dtype(), kShort);
  SY_EXPECT_ERROR(aminmax(ones({0})), ValueError, "[_aminmax_dims] dim");
  Tensor best = empty({0}, kShort), wrong = empty({0}, kInt);
  SY_EXPECT_ERROR(aminmax_out(best, wrong, a), TypeError, "expected int16");
}

// Accumulated in float64, combined from pieces: a large mean costs no digits
// and threads change nothing.
TEST(Reduce, VarianceAndMean) {
  manual_seed(2);
  const Tensor a = rand({300000}, kFloat) + 1000;
  const Values x = values(a);
  double mean_of = 0, m2 = 0;
  for (const double v : x) mean_of += v / static_cast<double>(x.size());
  for (const double v : x) m2 += (v - mean_of) * (v - mean_of);
  const double want = m2 / static_cast<double>(x.size() - 1);
  Values first;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    const auto [v, m] = var_mean(a, true);
    EXPECT_NEAR(values(v)[0], want, 1e-6 * want);
    EXPECT_NEAR(values(m)[0], mean_of, 1e-4);
    if (threads == 1) first = values(v);
    EXPECT_EQ(values(v), first);
  }
  set_num_threads(1);
  EXPECT_TRUE(std::isnan(values(var(ones({1}), true))[0]));
  EXPECT_EQ(values(var(ones({1}), false)), (Values{0}));
  EXPECT_TRUE(std::isnan(values(std::get<1>(var_mean(ones({0}), true)))[0]));
  EXPECT_EQ(std(ones({3}, kHalf), true).dtype(), kHalf);
  SY_EXPECT_ERROR(var(ones({3}, kInt), true), ValueError, "a floating dtype");
}

// Reductions that no kernel knows: of pieces, rows and columns, at any strides,
// by any number of threads. Sums of int32 wrap around; the wide norm has three
// sums of its own maps.
TEST(Reduce, ByProgram) {
  manual_seed(3);
  struct Layout {
    int64_t rows, columns;
    bool transposed;
    int64_t step;  // between columns, so that rows do not merge
  };
  for (const Layout& l :
       {Layout{3, 300000, false, 1}, Layout{300000, 3, false, 1},
        Layout{700, 900, false, 1}, Layout{700, 900, true, 1},
        Layout{90, 1301, false, 2}, Layout{2000, 601, true, 3},
        Layout{1, 513, false, 1}, Layout{513, 1, true, 1}}) {
    Tensor whole = randint(-(1 << 30), 1 << 30, {l.rows, l.columns}, kInt);
    Tensor a = whole.slice(1, 0, l.columns, l.step);
    if (l.transposed) a = a.t();
    const Tensor wide = a.to(kDouble) * 1e200;
    const int64_t rows = a.size(0), columns = a.size(1);
    const std::vector<int32_t> x = values<int32_t>(a);
    for (const List& dims : {List{0}, List{1}, List{0, 1}}) {
      const bool over_rows = dims[0] == 0, over_columns = dims.back() == 1;
      const int64_t kept =
          (over_rows ? 1 : rows) * (over_columns ? 1 : columns);
      std::vector<uint32_t> sums(static_cast<size_t>(kept));
      Values squares(static_cast<size_t>(kept));
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          const auto at = static_cast<size_t>(over_rows && over_columns ? 0
                                              : over_rows               ? j
                                                                        : i);
          const int32_t v = x[static_cast<size_t>(i * columns + j)];
          sums[at] += static_cast<uint32_t>(v);
          squares[at] += static_cast<double>(v) * v;
        }
      }
      for (const int threads : {1, 3}) {
        set_num_threads(threads);
        const auto got = values<int32_t>(sum(a, dims, false, kInt));
        const Values norms =
            values(_vector_norm_2_wide(wide, dims, false, kDouble));
        ASSERT_EQ(got.size(), sums.size());
        ASSERT_EQ(norms.size(), sums.size());
        for (size_t k = 0; k < sums.size(); ++k) {
          ASSERT_EQ(got[k], static_cast<int32_t>(sums[k])) << k;
          const double want = std::sqrt(squares[k]) * 1e200;
          ASSERT_NEAR(norms[k], want, 1e-12 * want) << k;
        }
      }
    }
  }
  set_num_threads(1);
}

}  // namespace
}  // namespace sy
