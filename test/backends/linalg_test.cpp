#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/random.h"
#include "aten/ops/view.h"
#include "c10/dispatch/thread_state.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

Values product(const Tensor& a, const Tensor& b) {
  const Values x = values(a), y = values(b);
  const auto m = static_cast<size_t>(a.size(0));
  const auto k = static_cast<size_t>(a.size(1));
  const auto n = static_cast<size_t>(b.size(1));
  Values c(m * n, 0);
  for (size_t i = 0; i < m; ++i) {
    for (size_t p = 0; p < k; ++p) {
      for (size_t j = 0; j < n; ++j) {
        c[i * n + j] += x[i * k + p] * y[p * n + j];
      }
    }
  }
  return c;
}

void expect_near(const Values& got, const Values& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance) << i;
  }
}

// The layouts a matrix can have: by rows, by columns, with gaps, every other.
Tensor matrix(int64_t rows, int64_t cols, int layout, ScalarType t) {
  switch (layout) {
    case 0: return randn({rows, cols}).to(t);
    case 1: return randn({cols, rows}).to(t).t();
    case 2: return randn({rows, cols + 5}).to(t).slice(1, 2, cols + 2);
    default: return randn({rows, 2 * cols}).to(t).slice(1, 0, 2 * cols, 2);
  }
}

TEST(Matmul, AgainstLoopsForAllLayouts) {
  manual_seed(3);
  const int64_t sizes[][3] = {
      {1, 1, 1},    {4, 4, 4},    {5, 3, 7},     {8, 64, 64}, {13, 17, 33},
      {1, 100, 70}, {70, 1, 100}, {31, 65, 129}, {3, 500, 2}, {1, 1, 3000}};
  for (const ScalarType t : {kFloat, kDouble}) {
    for (const auto& s : sizes) {
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          const Tensor x = matrix(s[0], s[2], a, t);
          const Tensor y = matrix(s[2], s[1], b, t);
          expect_near(values(mm(x, y)), product(x, y), 1e-3);
        }
      }
    }
  }
}

// b is read where it lies, in several parts of its rows and columns.
TEST(Matmul, FewRowsOfManyTermsAndColumns) {
  manual_seed(5);
  for (const ScalarType t : {kFloat, kDouble}) {
    for (const int64_t rows : {2, 13, 25}) {
      const Tensor x = matrix(rows, 400, 0, t);
      const Tensor y = matrix(400, 1100, 2, t);
      const Values got = values(mm(x, y));
      expect_near(got, product(x, y), 1e-3);
      set_num_threads(3);
      EXPECT_EQ(values(mm(x, y)), got) << rows;
      set_num_threads(1);
    }
  }
}

TEST(Matmul, LargeInAnyNumberOfThreads) {
  manual_seed(4);
  // Gaps keep it from OpenBLAS, whose last bits depend on the threads.
  const Tensor x = matrix(150, 400, 3, kDouble);
  const Tensor y = randn({1100, 400}, kDouble);
  const Values want = product(x, y.t());
  set_num_threads(1);
  const Values one = values(mm(x, y.t()));
  expect_near(one, want, 1e-9);
  set_num_threads(3);
  EXPECT_EQ(values(mm(x, y.t())), one);
  set_num_threads(1);
}

TEST(Matmul, ReducedAndWholeDtypes) {
  manual_seed(5);
  const Tensor x = randn({9, 20}), y = randn({20, 11});
  for (const ScalarType t : {kHalf, kBFloat16}) {
    const Tensor a = x.to(t), b = y.to(t);
    EXPECT_EQ(mm(a, b).dtype(), t);
    expect_near(values(mm(a, b)), product(a, b), 0.2);
  }
  for (const ScalarType t : {kChar, kInt, kLong}) {
    const Tensor a = randint(-3, 4, {9, 20}, t),
                 b = randint(-3, 4, {20, 11}, t);
    EXPECT_EQ(values(mm(a, b)), product(a, b));
  }
  SY_EXPECT_ERROR(mm(x, y.to(kDouble)), ValueError, "[mm]");
}

// The operands are read as they lie, whatever multiplies elements of 16 bits
// here.
TEST(Matmul, FewRowsOfSmallFloats) {
  manual_seed(8);
  for (const ScalarType t : {kHalf, kBFloat16}) {
    for (const int64_t rows : {1, 2, 4, 5}) {
      for (const int64_t depth : {1, 31, 100}) {
        const Tensor a = randn({rows, depth}).to(t);
        const Tensor b = randn({70, depth}).to(t), bias = randn({70}).to(t);
        const Tensor got = linear(a, b, bias);
        const Tensor want =
            linear(a.to(kDouble), b.to(kDouble), bias.to(kDouble));
        EXPECT_EQ(got.dtype(), t);
        const double error =
            (got.to(kDouble) - want).abs().max().item<double>();
        EXPECT_LT(error, t == kHalf ? 0.03 : 0.25) << rows << " x " << depth;
        const Tensor into = ones({rows, 70}, t);
        into.addmm_(a, b.t(), 0.5, 2);
        const Tensor sum = want * 2 - bias.to(kDouble) * 2 + 0.5;
        EXPECT_LT((into.to(kDouble) - sum).abs().max().item<double>(),
                  t == kHalf ? 0.06 : 0.5)
            << rows << " x " << depth;
      }
    }
  }
}

TEST(Matmul, Empty) {
  EXPECT_EQ(values(mm(ones({2, 0}), ones({0, 3}))), Values(6, 0));
  EXPECT_EQ(mm(ones({0, 4}), ones({4, 3})).numel(), 0);
  EXPECT_EQ(values(addmm(ones({3}), ones({2, 0}), ones({0, 3}))), Values(6, 1));
}

TEST(Matmul, SizesMustFit) {
  SY_EXPECT_ERROR(mm(ones({2, 3}), ones({2, 3})), ValueError, "[mm]");
  SY_EXPECT_ERROR(mm(ones({3}), ones({3, 2})), ValueError, "[mm]");
  SY_EXPECT_ERROR(bmm(ones({2, 3, 4}), ones({3, 4, 5})), ValueError, "[bmm]");
  SY_EXPECT_ERROR(matmul(ones({2, 3}), ones({4})), ValueError, "[matmul]");
  SY_EXPECT_ERROR(matmul(ones(IntArrayRef()), ones({4})), ValueError,
                  "[matmul]");
}

TEST(Addmm, BiasBetaAndAlpha) {
  manual_seed(6);
  const Tensor x = randn({5, 20}, kDouble), y = randn({20, 7}, kDouble);
  const Tensor row = randn({7}, kDouble), whole = randn({5, 7}, kDouble);
  const Tensor product = mm(x, y);
  expect_near(values(addmm(row, x, y)), values(product + row), 1e-12);
  expect_near(values(addmm(whole, x, y, 0.5, 2)),
              values(whole * 0.5 + product * 2), 1e-12);
  expect_near(values(addmm(row, x, y, 1, 3)), values(product * 3 + row), 1e-12);
  const Tensor nan = full({5, 7}, NAN, kDouble);
  expect_near(values(addmm(nan, x, y, 0)), values(product), 1e-12);
}

// Dot products: blocks of rows, of columns and of the depth, none of them
// whole.
TEST(Addmm, FewRowsByAWeight) {
  manual_seed(11);
  for (const ScalarType t : {kFloat, kDouble}) {
    for (const int64_t m : {1, 2, 3, 4, 5, 7, 8, 9}) {
      for (const int64_t n : {1, 2, 3, 4, 6, 65}) {
        for (const int64_t k : {32, 33, 40, 71}) {
          const Tensor x = matrix(m, k, m % 2 == 0 ? 0 : 2, t);
          // The product must not read what lies beyond a row of the weight.
          const Tensor wide = full({n, k + 3}, NAN, t);
          const Tensor w = wide.narrow(1, 1, k);
          w.copy_(randn({n, k}, t));
          const Tensor row = randn({n}, t), c = randn({m, n}, t);
          const Values xw = product(x, w.t()), b = values(row), d = values(c);
          Values with_row(xw), with_c(xw);
          for (size_t i = 0; i < xw.size(); ++i) {
            with_row[i] = 3 * xw[i] + b[i % b.size()];
            with_c[i] = 3 * xw[i] + 0.5 * d[i];
          }
          expect_near(values(mm(x, w.t())), xw, 1e-3);
          expect_near(values(addmm(row, x, w.t(), 1, 3)), with_row, 1e-3);
          expect_near(values(addmm(c, x, w.t(), 0.5, 3)), with_c, 1e-3);
          // It must not write beyond a row of the result, either.
          const Tensor out = full({m, n + 3}, 7, t);
          Tensor inner = out.narrow(1, 0, n);
          mm_out(inner, x, w.t());
          expect_near(values(inner.contiguous()), xw, 1e-3);
          EXPECT_EQ(values(out.narrow(1, n, 3).contiguous()),
                    Values(static_cast<size_t>(3 * m), 7));
        }
      }
    }
  }
}

TEST(Mm, OutOfAnyStrides) {
  manual_seed(7);
  const Tensor x = randn({6, 8}, kDouble), y = randn({8, 5}, kDouble);
  const Values want = product(x, y);
  Tensor columns = zeros({5, 6}, kDouble).t();
  mm_out(columns, x, y);
  expect_near(values(columns), want, 1e-12);
  Tensor gaps = zeros({6, 10}, kDouble).slice(1, 0, 10, 2);
  mm_out(gaps, x, y);
  expect_near(values(gaps), want, 1e-12);
  Tensor square = randn({4, 4}, kDouble);
  const Values power = product(square, square);
  mm_out(square, square, square);
  expect_near(values(square), power, 1e-12);
}

TEST(Bmm, EachBatchIsAProduct) {
  manual_seed(8);
  const Tensor x = randn({3, 4, 6}, kDouble), y = randn({3, 5, 6}, kDouble);
  const Tensor c = bmm(x, y.transpose(1, 2));
  for (int64_t i = 0; i < 3; ++i) {
    expect_near(values(c.select(0, i)),
                product(x.select(0, i), y.select(0, i).t()), 1e-12);
  }
}

TEST(Matmul, BatchesBroadcast) {
  manual_seed(9);
  const Tensor x = randn({2, 1, 3, 4}, kDouble), y = randn({5, 4, 2}, kDouble);
  const Tensor c = matmul(x, y);
  EXPECT_EQ(ints(c.sizes()), (std::vector<int64_t>{2, 5, 3, 2}));
  expect_near(values(c.select(0, 1).select(0, 3)),
              product(x.select(0, 1).select(0, 0), y.select(0, 3)), 1e-12);
  EXPECT_EQ(ints(matmul(x, randn({4}, kDouble)).sizes()),
            (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(ints(matmul(randn({4}, kDouble), y).sizes()),
            (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(matmul(ones({4}), ones({4})).item<float>(), 4);
}

TEST(IntMm, IsExactForAllSizesAndLayouts) {
  for (const ScalarType dtype : {kChar, kByte}) {
    const int64_t low = dtype == kChar ? -128 : 0;
    for (const int64_t m : {1, 5, 70}) {
      for (const int64_t n : {1, 30, 65}) {
        for (const int64_t k : {1, 33, 300}) {
          const Tensor a = randint(low, low + 256, {m, k}, dtype);
          const Tensor b = randint(-128, 128, {k, n}, kChar);
          const Values want = product(a, b);
          EXPECT_EQ(values(_int_mm(a, b)), want) << m << " " << n << " " << k;
          const Tensor at = a.t().contiguous().t(), bt = b.t().contiguous().t();
          EXPECT_EQ(values(_int_mm(at, bt)), want);
          Tensor out = empty({n, m}, kInt).t();
          _int_mm_out(out, a, bt);
          EXPECT_EQ(values(out), want);
        }
      }
    }
  }
  const Tensor least = full({20, 4096}, -128, kChar);
  EXPECT_EQ(values(_int_mm(least, least.t())), Values(400, 4096.0 * 128 * 128));
  const NoGradGuard no_grad;
  const Tensor a = randint(-128, 128, {8, 256}, kChar);
  const Tensor w = randint(-128, 128, {128, 256}, kChar);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(values(_int_mm(a, w.t())), product(a, w.t()));
  }
  w.neg_();
  EXPECT_EQ(values(_int_mm(a, w.t())), product(a, w.t()));
}

TEST(IntMm, TakesNoOtherDtypes) {
  SY_EXPECT_ERROR(_int_mm(ones({2, 2}), ones({2, 2}, kChar)), ValueError,
                  "[_int_mm] self: expected an int8 or uint8 matrix");
  SY_EXPECT_ERROR(_int_mm(ones({2, 2}, kChar), ones({2, 2}, kByte)), ValueError,
                  "[_int_mm] mat2: expected an int8 matrix");
}

TEST(Linear, AddsTheBias) {
  manual_seed(10);
  const Tensor x = randn({2, 3, 6}, kDouble), w = randn({4, 6}, kDouble);
  const Tensor b = randn({4}, kDouble);
  const Tensor y = linear(x, w, b);
  EXPECT_EQ(ints(y.sizes()), (std::vector<int64_t>{2, 3, 4}));
  expect_near(values(y.select(0, 1)), values(mm(x.select(0, 1), w.t()) + b),
              1e-12);
  expect_near(values(linear(x, w)), values(matmul(x, w.t())), 1e-12);
  SY_EXPECT_ERROR(linear(x, randn({4, 5}, kDouble)), ValueError, "[linear]");
}

}  // namespace
}  // namespace sy::families
