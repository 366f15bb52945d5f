#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/attention.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/linalg.h"
#include "aten/ops/random.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor random(IntArrayRef sizes, ScalarType dtype = kDouble) {
  return sy::randn(sizes, TensorOptions().dtype(kDouble)).to(dtype);
}

double at(const Tensor& t, int64_t b, int64_t h, int64_t i, int64_t j) {
  const auto s = t.strides();
  return static_cast<const double*>(
      t.data_ptr())[b * s[0] + h * s[1] + i * s[2] + j * s[3]];
}

// Weights by the definition: batch x heads x queries x keys.
std::vector<double> weights(const Tensor& q, const Tensor& k, double scale,
                            bool causal, const Tensor& mask) {
  const int64_t share = q.size(1) / k.size(1);
  std::vector<double> all;
  for (int64_t b = 0; b < q.size(0); ++b) {
    for (int64_t h = 0; h < q.size(1); ++h) {
      for (int64_t i = 0; i < q.size(2); ++i) {
        std::vector<double> row;
        double most = -kInfinity, sum = 0;
        for (int64_t j = 0; j < k.size(2); ++j) {
          double s = 0;
          for (int64_t e = 0; e < q.size(3); ++e) {
            s += at(q, b, h, i, e) * at(k, b, h / share, j, e);
          }
          s *= scale;
          if (mask.defined()) s += at(mask, b, h, i, j);
          if (causal && j > i) s = -kInfinity;
          most = std::max(most, s);
          row.push_back(s);
        }
        for (double& s : row) {
          s = most == -kInfinity ? 0 : std::exp(s - most);
          sum += s;
        }
        for (const double s : row) all.push_back(sum == 0 ? 0 : s / sum);
      }
    }
  }
  return all;
}

void expect_attention(const Tensor& out, const Tensor& q, const Tensor& k,
                      const Tensor& v, double scale, bool causal,
                      const Tensor& mask, double tolerance) {
  const std::vector<double> w = weights(q, k, scale, causal, mask);
  const int64_t share = q.size(1) / k.size(1), keys = k.size(2);
  const Tensor got = out.to(kDouble);
  ASSERT_EQ(got.sizes(),
            IntArrayRef({q.size(0), q.size(1), q.size(2), v.size(3)}));
  size_t row = 0;
  for (int64_t b = 0; b < q.size(0); ++b) {
    for (int64_t h = 0; h < q.size(1); ++h) {
      for (int64_t i = 0; i < q.size(2); ++i, ++row) {
        for (int64_t e = 0; e < v.size(3); ++e) {
          double want = 0;
          for (int64_t j = 0; j < keys; ++j) {
            want +=
                w[row * static_cast<size_t>(keys) + static_cast<size_t>(j)] *
                at(v, b, h / share, j, e);
          }
          ASSERT_NEAR(at(got, b, h, i, e), want, tolerance)
              << b << ' ' << h << ' ' << i << ' ' << e;
        }
      }
    }
  }
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, bool causal,
              const std::optional<Tensor>& mask = std::nullopt) {
  return std::get<0>(sy::_scaled_dot_product_flash_attention_for_cpu(
      q, k, v, 0, causal, mask, 0.4));
}

// Lengths on both sides of the ends of tiles.
TEST(Attention, TilesGiveWhatTheDefinitionSays) {
  manual_seed(1);
  for (const int64_t queries : {1, 31, 70, 260}) {
    for (const int64_t keys : {1, 33, 515}) {
      const Tensor q = random({1, 2, queries, 5}), k = random({1, 2, keys, 5});
      const Tensor v = random({1, 2, keys, 3});
      for (const bool causal : {false, true}) {
        expect_attention(attend(q, k, v, causal), q, k, v, 0.4, causal,
                         Tensor(), 1e-12);
      }
    }
  }
}

TEST(Attention, HeadsOfQueryShareThoseOfKey) {
  const Tensor q = random({2, 6, 9, 4}), k = random({2, 2, 11, 4});
  expect_attention(attend(q, k, k, true), q, k, k, 0.4, true, Tensor(), 1e-12);
}

TEST(Attention, MasksBroadcast) {
  const Tensor q = random({2, 2, 40, 4}), k = random({2, 2, 37, 4});
  const Tensor keys = random({2, 1, 1, 37});
  const Tensor pairs = random({40, 37});
  const Tensor column = random({40, 1});
  for (const Tensor& m : {keys, pairs, column}) {
    const Tensor full = m.expand({2, 2, 40, 37});
    expect_attention(attend(q, k, k, false, m), q, k, k, 0.4, false, full,
                     1e-12);
    const Tensor hidden =
        sy::zeros({2, 2, 40, 37}, full.options())
            .masked_fill(full.gt(Scalar(0)).logical_not(), Scalar(-kInfinity));
    expect_attention(attend(q, k, k, false, m.gt(Scalar(0))), q, k, k, 0.4,
                     false, hidden, 1e-12);
  }
}

TEST(Attention, QueriesThatSeeNothingGetZeros) {
  const Tensor q = random({1, 1, 3, 4}), k = random({1, 1, 600, 4});
  const Tensor none = sy::zeros({3, 600}, TensorOptions().dtype(kBool));
  expect_attention(attend(q, k, k, false, none), q, k, k, 0.4, false,
                   sy::full({1, 1, 3, 600}, -kInfinity, q.options()), 0);
  const Tensor nothing = k.narrow(2, 0, 0);
  EXPECT_EQ(sy::sum(attend(q, nothing, nothing, false)).item<double>(), 0);
}

TEST(Attention, NotANumberIsKept) {
  const Tensor q = random({1, 1, 2, 4}), k = random({1, 1, 5, 4});
  q.select(2, 1).fill_(std::nan(""));
  const Tensor out = attend(q, k, k, false);
  EXPECT_FALSE(std::isnan(at(out, 0, 0, 0, 0)));
  EXPECT_TRUE(std::isnan(at(out, 0, 0, 1, 0)));
}

TEST(Attention, SmallDtypesAndAnyStrides) {
  const Tensor q = random({2, 40, 3, 8}).transpose(1, 2);
  const Tensor k = random({2, 3, 8, 50}).transpose(2, 3);
  for (const ScalarType t : {kFloat, kBFloat16, kHalf}) {
    const Tensor x = q.to(t), y = k.to(t);
    expect_attention(attend(x, y, y, true), x.to(kDouble), y.to(kDouble),
                     y.to(kDouble), 0.4, true, Tensor(),
                     t == kFloat  ? 1e-5
                     : t == kHalf ? 4e-3
                                  : 3e-2);
  }
}

TEST(Attention, BFloat16OverTiles) {
  const Tensor q = random({1, 2, 270, 9}).to(kBFloat16);
  const Tensor k = random({1, 2, 1100, 9}).to(kBFloat16);
  const Tensor v = random({1, 2, 1100, 5}).to(kBFloat16);
  for (const bool causal : {false, true}) {
    expect_attention(attend(q, k, v, causal), q.to(kDouble), k.to(kDouble),
                     v.to(kDouble), 0.4, causal, Tensor(), 1e-2);
  }
}

TEST(Attention, TheSameOnAnyNumberOfThreads) {
  const Tensor q = random({2, 3, 300, 16}, kFloat);
  const int before = get_num_threads();
  std::vector<std::vector<Tensor>> runs;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    const auto [out, sums] =
        sy::_scaled_dot_product_flash_attention_for_cpu(q, q, q, 0, true);
    const auto [dq, dk, dv] =
        sy::_scaled_dot_product_flash_attention_for_cpu_backward(
            q, q, q, q, out, sums, 0, true);
    runs.push_back({out, sums, dq, dk, dv});
  }
  set_num_threads(before);
  for (size_t i = 0; i < runs[0].size(); ++i) {
    EXPECT_TRUE(sy::equal(runs[0][i], runs[1][i])) << i;
  }
}

// d/dq of sum(out * g): weights * (g v - sum) k, over tiles as over one row.
TEST(Attention, BackwardOverTiles) {
  const Tensor q = random({1, 1, 270, 4}), k = random({1, 1, 600, 4});
  const Tensor v = random({1, 1, 600, 3}), g = random({1, 1, 270, 3});
  const auto [out, sums] = sy::_scaled_dot_product_flash_attention_for_cpu(
      q, k, v, 0, false, std::nullopt, 0.4);
  const auto [dq, dk, dv] =
      sy::_scaled_dot_product_flash_attention_for_cpu_backward(
          g, q, k, v, out, sums, 0, false, std::nullopt, 0.4);
  const std::vector<double> w = weights(q, k, 0.4, false, Tensor());
  for (const int64_t i : {0, 255, 256, 269}) {
    double delta = 0;
    for (int64_t e = 0; e < 3; ++e) {
      delta += at(out, 0, 0, i, e) * at(g, 0, 0, i, e);
    }
    for (int64_t e = 0; e < 4; ++e) {
      double want = 0;
      for (int64_t j = 0; j < 600; ++j) {
        double dw = 0;
        for (int64_t c = 0; c < 3; ++c) {
          dw += at(g, 0, 0, i, c) * at(v, 0, 0, j, c);
        }
        want += w[static_cast<size_t>(i * 600 + j)] * (dw - delta) * 0.4 *
                at(k, 0, 0, j, e);
      }
      EXPECT_NEAR(at(dq, 0, 0, i, e), want, 1e-12);
    }
  }
  for (const int64_t j : {0, 511, 512, 599}) {
    for (int64_t e = 0; e < 3; ++e) {
      double want = 0;
      for (int64_t i = 0; i < 270; ++i) {
        want += w[static_cast<size_t>(i * 600 + j)] * at(g, 0, 0, i, e);
      }
      EXPECT_NEAR(at(dv, 0, 0, j, e), want, 1e-12);
    }
  }
  EXPECT_EQ(dk.sizes(), k.sizes());
}

// Grouped heads over tiles: bfloat16 gives the results of double for the same
// numbers, but for its rounding.
TEST(Attention, BackwardOfBFloat16) {
  const auto small = [](IntArrayRef sizes) {
    return random(sizes).to(kBFloat16);
  };
  const Tensor q = small({1, 4, 270, 9}), k = small({1, 2, 600, 9});
  const Tensor v = small({1, 2, 600, 9}), g = small({1, 4, 270, 9});
  std::vector<Tensor> results[2];
  for (const bool exact : {false, true}) {
    const auto as = [&](const Tensor& t) { return exact ? t.to(kDouble) : t; };
    const auto [out, sums] = sy::_scaled_dot_product_flash_attention_for_cpu(
        as(q), as(k), as(v), 0, true, std::nullopt, 0.4);
    const auto [dq, dk, dv] =
        sy::_scaled_dot_product_flash_attention_for_cpu_backward(
            as(g), as(q), as(k), as(v), out, sums, 0, true, std::nullopt, 0.4);
    EXPECT_EQ(dq.dtype(), exact ? kDouble : kBFloat16);
    results[exact] = {dq, dk, dv};
  }
  for (size_t i = 0; i < 3; ++i) {
    const Tensor& want = results[true][i];
    const Tensor error = (results[false][i].to(kDouble) - want).abs();
    EXPECT_LT(error.max().item<double>(),
              0.02 * want.abs().max().item<double>())
        << i;
  }
}

TEST(Attention, Errors) {
  const Tensor q = random({1, 4, 3, 4}), k = random({1, 3, 5, 4});
  SY_EXPECT_ERROR(sy::scaled_dot_product_attention(q, k, k, std::nullopt, 0.0,
                                                   false, std::nullopt, true),
                  ValueError,
                  "[scaled_dot_product_attention] key: expected a number "
                  "of heads that divides that of query");
  SY_EXPECT_ERROR(sy::scaled_dot_product_attention(q, q, q, std::nullopt, 1.5),
                  ValueError,
                  "[scaled_dot_product_attention] dropout_p: expected a "
                  "probability, got 1.5");
  SY_EXPECT_ERROR(sy::scaled_dot_product_attention(q, q.to(kFloat), q),
                  TypeError,
                  "[scaled_dot_product_attention] key: expected the dtype");
}

}  // namespace
}  // namespace sy
