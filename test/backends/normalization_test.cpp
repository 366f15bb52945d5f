#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "aten/ops/copy.h"
#include "aten/ops/embedding_bag.h"
#include "aten/ops/factory.h"
#include "aten/ops/normalization.h"
#include "aten/ops/random.h"
#include "aten/ops/softmax.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

Tensor random(IntArrayRef sizes, ScalarType dtype) {
  return sy::randn(sizes, TensorOptions().dtype(kDouble)).to(dtype);
}

double tolerance(ScalarType t) {
  return t == kDouble ? 1e-12 : t == kFloat ? 2e-5 : t == kHalf ? 8e-3 : 6e-2;
}

// Rows longer than a block of sums, and shorter than a vector.
TEST(LayerNorm, RowsOfAnyLength) {
  manual_seed(2);
  for (const ScalarType t : {kDouble, kFloat, kHalf, kBFloat16}) {
    for (const int64_t n : {1, 3, 17, 100, 5000}) {
      const Tensor x = random({3, n}, t), w = random({n}, t);
      const Tensor b = random({n}, t);
      const auto [y, mean, rstd] = sy::native_layer_norm(x, {n}, w, b, 0.1);
      const auto xs = values(x), ws = values(w), bs = values(b);
      const auto ys = values(y);
      for (size_t r = 0; r < 3; ++r) {
        const size_t at = r * static_cast<size_t>(n);
        double m = 0, v = 0;
        for (int64_t j = 0; j < n; ++j) m += xs[at + static_cast<size_t>(j)];
        m /= static_cast<double>(n);
        for (int64_t j = 0; j < n; ++j) {
          const double d = xs[at + static_cast<size_t>(j)] - m;
          v += d * d / static_cast<double>(n);
        }
        const double inverse = 1 / std::sqrt(v + 0.1);
        EXPECT_NEAR(values(mean)[r], m, tolerance(t));
        EXPECT_NEAR(values(rstd)[r], inverse, tolerance(t));
        for (size_t j = 0; j < static_cast<size_t>(n); ++j) {
          EXPECT_NEAR(ys[at + j], (xs[at + j] - m) * inverse * ws[j] + bs[j],
                      tolerance(t) * 3);
        }
      }
    }
  }
}

// A mean far from 0 costs no digits.
TEST(LayerNorm, FarFromZero) {
  const Tensor x = tensor({100000.0, 100001.0, 100002.0}, kFloat);
  const auto y = values(sy::layer_norm(x, {3}, {}, {}, 0));
  EXPECT_NEAR(y[0], -std::sqrt(1.5), 1e-6);
  EXPECT_NEAR(y[1], 0, 1e-6);
}

TEST(LayerNorm, BackwardIsTheSameOnAnyNumberOfThreads) {
  const Tensor x = random({3000, 64}, kFloat), w = random({64}, kFloat);
  const auto [y, mean, rstd] = sy::native_layer_norm(x, {64}, w, w, 1e-5);
  const int before = get_num_threads();
  std::vector<std::tuple<Tensor, Tensor, Tensor>> runs;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    runs.push_back(sy::native_layer_norm_backward(y, x, {64}, mean, rstd, w, w,
                                                  {true, true, true}));
  }
  set_num_threads(before);
  EXPECT_TRUE(sy::equal(std::get<0>(runs[0]), std::get<0>(runs[1])));
  EXPECT_TRUE(sy::equal(std::get<1>(runs[0]), std::get<1>(runs[1])));
  EXPECT_TRUE(sy::equal(std::get<2>(runs[0]), std::get<2>(runs[1])));
}

TEST(LayerNorm, Errors) {
  const Tensor x = random({2, 3}, kFloat);
  SY_EXPECT_ERROR(sy::layer_norm(x, {2}), ValueError,
                  "[native_layer_norm] input: expected sizes that end with");
  SY_EXPECT_ERROR(sy::layer_norm(x, IntArrayRef()), ValueError,
                  "[native_layer_norm] normalized_shape: expected at least");
  SY_EXPECT_ERROR(
      sy::native_layer_norm_backward(x, x, {3}, x, x, {}, {}, {true, true}),
      ValueError, "[native_layer_norm_backward] output_mask: expected 3");
  const Tensor row = random({2, 1}, kFloat);
  SY_EXPECT_ERROR(
      sy::_layer_norm_backward(x, {}, {}, x, {3}, row, row, {}, {true}),
      ValueError, "[_layer_norm_backward] output_mask: expected 3");
  SY_EXPECT_ERROR(sy::_rms_norm_backward(x, {}, x, {3}, row, {}, {true}),
                  ValueError, "[_rms_norm_backward] output_mask: expected 2");
}

// Groups are the rows of a layer_norm with weights for each channel.
TEST(GroupNorm, IsLayerNormOfGroups) {
  for (const ScalarType t : {kDouble, kFloat, kBFloat16}) {
    const Tensor x = random({2, 6, 5, 7}, t);
    const Tensor w = random({6}, t), b = random({6}, t);
    const auto rows =
        values(sy::layer_norm(x.reshape({2, 3, 70}).to(kDouble), {70}));
    const auto got = values(sy::group_norm(x, 3, w, b));
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t c = i / 35 % 6;
      EXPECT_NEAR(got[i], rows[i] * values(w)[c] + values(b)[c],
                  tolerance(t) * 3);
    }
  }
  SY_EXPECT_ERROR(sy::group_norm(random({2, 6, 5}, kFloat), 4), ValueError,
                  "[native_group_norm]");
}

TEST(RmsNorm, KeepsTheMean) {
  const Tensor x = tensor({3.0, 4.0}, kDouble);
  const auto y = values(sy::rms_norm(x, {2}, {}, 0.0));
  EXPECT_NEAR(y[0], 3 / std::sqrt(12.5), 1e-15);
  EXPECT_NEAR(y[1], 4 / std::sqrt(12.5), 1e-15);
  // Weights of another dtype: computed in theirs, given in that of input.
  EXPECT_EQ(sy::rms_norm(x.to(kBFloat16), {2}, sy::ones({2})).dtype(),
            kBFloat16);
}

TEST(Softmax, RowsOfNothing) {
  const double inf = HUGE_VAL;
  const Tensor x = tensor({{-inf, -inf}, {0.0, -inf}}, kDouble);
  EXPECT_EQ(values(sy::_safe_softmax(x, 1)), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_EQ(values(sy::_masked_softmax(sy::zeros({1, 2}),
                                       tensor({{true, false}}), 1, 2)),
            (std::vector<double>{0, 1}));
}

TEST(EmbeddingBag, Modes) {
  const Tensor w = tensor({{1.0, 2.0}, {3.0, -4.0}, {5.0, 6.0}}, kDouble);
  const Tensor i = tensor({0, 1, 2, 1}), o = tensor({0, 3, 3});
  using Values = std::vector<double>;
  const auto bags = [&](int64_t mode, int64_t skipped = -1) {
    return values(std::get<0>(sy::_embedding_bag(
        w, i, o, false, mode, false, std::nullopt, false, skipped)));
  };
  EXPECT_EQ(bags(0), (Values{9, 4, 0, 0, 3, -4}));
  EXPECT_EQ(bags(1), (Values{3, 4.0 * (1.0 / 3), 0, 0, 3, -4}));
  EXPECT_EQ(bags(2), (Values{5, 6, 0, 0, 3, -4}));
  EXPECT_EQ(bags(0, 1), (Values{6, 8, 0, 0, 0, 0}));
  SY_EXPECT_ERROR(sy::_embedding_bag(w, i, tensor({0, 3, 2})), ValueError,
                  "[_embedding_bag] offsets: expected numbers that rise");
  SY_EXPECT_ERROR(sy::_embedding_bag(w, tensor({0, 3}), tensor({0})),
                  IndexError, "[_embedding_bag] indices: expected values in");
}

// Bags of more rows than are added at once, columns that fill no vector.
TEST(EmbeddingBag, SumsRowsInOrder) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const int64_t width : {1, 15, 64, 77}) {
      const Tensor w = random({9, width}, dtype);
      const Tensor i = randint(9, {60}, kLong), o = tensor({0, 16, 16, 33});
      const Tensor by = random({60}, dtype);
      const std::vector<double> rows = values(w), at = values(i),
                                weights = values(by);
      for (const bool weighted : {false, true}) {
        const auto samples =
            weighted ? std::optional<Tensor>(by) : std::nullopt;
        const std::vector<double> sums = values(std::get<0>(
            sy::_embedding_bag(w, i, o, false, 0, false, samples, false, 3)));
        const int64_t ends[] = {0, 16, 16, 33, 60};
        for (int64_t b = 0; b < 4; ++b) {
          for (int64_t j = 0; j < width; ++j) {
            double sum = 0, size = 0;
            for (auto k = static_cast<size_t>(ends[b]);
                 k < static_cast<size_t>(ends[b + 1]); ++k) {
              if (at[k] == 3) continue;
              const auto row = static_cast<int64_t>(at[k]);
              const double v = rows[static_cast<size_t>(row * width + j)] *
                               (weighted ? weights[k] : 1);
              sum += v;
              size += std::abs(v);
            }
            EXPECT_NEAR(sums[static_cast<size_t>(b * width + j)], sum,
                        size * (dtype == kBFloat16 ? 4e-3 : 1e-6))
                << static_cast<int>(dtype) << " " << width << " " << b << " "
                << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sy::families
