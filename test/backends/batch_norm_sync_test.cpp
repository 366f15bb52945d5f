#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "aten/ops/batch_norm.h"
#include "aten/ops/batch_norm_sync.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "autograd/gradcheck.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

// The five steps of a batch norm over several ranks, against formulas over
// plain numbers and against the batch norm of the joined batch.

namespace sy::families {
namespace {

using Values = std::vector<double>;

constexpr double kEps = 1e-3;

void expect_near(const Values& got, const Values& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << i;
  }
}

double tolerance_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return 1e-12;
    case kFloat: return 1e-5;
    case kHalf: return 2e-3;
    default: return 1e-2;
  }
}

// Calls f(value, channel) for the elements of a tensor, in row-major order.
template <class F>
void for_each_element(const Tensor& t, F&& f) {
  const Values all = values(t);
  const auto channels = static_cast<size_t>(t.size(1));
  const auto rows = static_cast<size_t>(t.size(0)) * channels;
  for (size_t i = 0; i < all.size(); ++i) {
    f(i, i / (all.size() / rows) % channels, all[i]);
  }
}

struct Statistics {
  Values mean, variance, invstd;
  double count = 0;

  explicit Statistics(const Tensor& x) {
    const auto channels = static_cast<size_t>(x.size(1));
    mean = variance = Values(channels, 0);
    count = static_cast<double>(x.numel()) / static_cast<double>(channels);
    for_each_element(x,
                     [&](size_t, size_t c, double v) { mean[c] += v / count; });
    for_each_element(x, [&](size_t, size_t c, double v) {
      variance[c] += (v - mean[c]) * (v - mean[c]) / count;
    });
    for (const double v : variance) invstd.push_back(1 / std::sqrt(v + kEps));
  }
};

ScalarType statistics_dtype(ScalarType input) {
  return input == kDouble ? kDouble : kFloat;
}

Tensor random(IntArrayRef sizes, ScalarType dtype = kDouble) {
  return sy::randn(sizes, kDouble).mul(2).add(1).to(dtype);
}

class BatchNormSync : public testing::Test {
 protected:
  void SetUp() override { manual_seed(1); }
};

TEST_F(BatchNormSync, StatsAreMeansAndReciprocalDeviations) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const auto& sizes : std::vector<std::vector<int64_t>>{
             {5, 3}, {1, 4}, {2, 3, 7}, {2, 3, 4, 5}, {2, 2, 3, 2, 3}}) {
      const Tensor x = random(sizes, dtype);
      const auto [mean, invstd] = sy::batch_norm_stats(x, kEps);
      EXPECT_EQ(mean.dtype(), statistics_dtype(dtype));
      EXPECT_EQ(invstd.dtype(), statistics_dtype(dtype));
      EXPECT_EQ(ints(mean.sizes()), std::vector<int64_t>{sizes[1]});
      const Statistics want(x);
      const double tolerance = dtype == kDouble ? 1e-12 : 1e-5;
      expect_near(values(mean), want.mean, tolerance);
      expect_near(values(invstd), want.invstd, tolerance);
    }
  }
}

TEST_F(BatchNormSync, SumsOf16BitsAreNotRounded) {
  // In bfloat16, 256 + 1 is 256, and so is a running sum of ones.
  const Tensor x = sy::ones({4096, 1}, kBFloat16);
  expect_near(values(std::get<0>(sy::batch_norm_stats(x, kEps))), {1}, 1e-6);
  const Tensor zero = sy::zeros({1}), one = sy::ones({1});
  const auto [sum_dy, sum_dy_xmu, weight, bias] =
      sy::batch_norm_backward_reduce(x, x, zero, one, one.to(kBFloat16), true,
                                     true, true);
  EXPECT_EQ(values(sum_dy), Values{4096});
  EXPECT_EQ(values(sum_dy_xmu), Values{4096});
  EXPECT_EQ(weight.dtype(), kBFloat16);
  EXPECT_EQ(values(bias), Values{4096});
}

TEST_F(BatchNormSync, StatsOfNothingAreZeros) {
  for (const ScalarType dtype : {kDouble, kBFloat16}) {
    const auto [mean, invstd] =
        sy::batch_norm_stats(sy::empty({0, 3, 4}, dtype), kEps);
    EXPECT_EQ(values(mean), Values(3, 0));
    EXPECT_EQ(values(invstd), Values(3, 0));
    EXPECT_EQ(mean.dtype(), statistics_dtype(dtype));
    EXPECT_FALSE(mean.is_same(invstd));
  }
  EXPECT_EQ(std::get<0>(sy::batch_norm_stats(sy::empty({2, 0}), kEps)).numel(),
            0);
}

// The rows that ranks with these batches gather.
struct Gathered {
  Tensor mean, invstd, counts;

  explicit Gathered(const std::vector<Tensor>& batches) {
    std::vector<Tensor> means, invstds, sizes;
    for (const Tensor& x : batches) {
      auto [m, s] = sy::batch_norm_stats(x, kEps);
      sizes.push_back(sy::full({1}, x.numel() / x.size(1), m.scalar_type()));
      means.push_back(m);
      invstds.push_back(s);
    }
    mean = sy::stack(means);
    invstd = sy::stack(invstds);
    counts = sy::cat(sizes);
  }
};

TEST_F(BatchNormSync, GatheredStatsAreThoseOfTheJoinedBatch) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const std::vector<int64_t>& rows : std::vector<std::vector<int64_t>>{
             {4}, {3, 5}, {1, 7, 2}, {0, 4, 0, 3}, {1, 1}}) {
      std::vector<Tensor> batches;
      for (const int64_t n : rows) batches.push_back(random({n, 3, 2}, dtype));
      const Gathered g(batches);
      const Tensor running_mean = sy::full({3}, 0.5, g.mean.scalar_type());
      const Tensor running_var = sy::full({3}, 2, g.mean.scalar_type());
      const auto [mean, invstd] = sy::batch_norm_gather_stats_with_counts(
          batches[0], g.mean, g.invstd, running_mean, running_var, 0.25, kEps,
          g.counts);
      EXPECT_EQ(mean.dtype(), statistics_dtype(dtype));
      const Statistics want(sy::cat(batches));
      const double tolerance = dtype == kDouble ? 1e-12 : 1e-5;
      expect_near(values(mean), want.mean, tolerance);
      expect_near(values(invstd), want.invstd, tolerance);
      Values moved_mean, moved_var;
      for (size_t c = 0; c < 3; ++c) {
        moved_mean.push_back(0.75 * 0.5 + 0.25 * want.mean[c]);
        moved_var.push_back(0.75 * 2 + 0.25 * want.variance[c] * want.count /
                                           (want.count - 1));
      }
      expect_near(values(running_mean), moved_mean, tolerance);
      expect_near(values(running_var), moved_var, tolerance);
    }
  }
}

TEST_F(BatchNormSync, RanksWithoutElementsHaveNoPartWhateverTheyGive) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = random({4, 2}, kDouble);
  const auto [m, s] = sy::batch_norm_stats(x, kEps);
  const Tensor none = sy::full({2}, nan, kDouble);
  for (const ScalarType counts : {kDouble, kFloat, kInt, kLong}) {
    const auto [mean, invstd] = sy::batch_norm_gather_stats_with_counts(
        x, sy::stack({none, m}), sy::stack({none, s}), std::nullopt,
        std::nullopt, 0.1, kEps, tensor({0, 4}).to(counts));
    expect_near(values(mean), values(m), 1e-12);
    expect_near(values(invstd), values(s), 1e-12);
  }
}

TEST_F(BatchNormSync, RunningStatisticsKeepTheirDtype) {
  const Tensor x = random({4, 2}, kHalf);
  const Gathered g({x, x});
  const Tensor running_mean = sy::zeros({2}, kHalf);
  const Tensor running_var = sy::ones({2}, kHalf);
  sy::batch_norm_gather_stats_with_counts(x, g.mean, g.invstd, running_mean,
                                          std::nullopt, 1, kEps, g.counts);
  EXPECT_EQ(values(running_var), Values(2, 1));
  sy::batch_norm_gather_stats_with_counts(x, g.mean, g.invstd, std::nullopt,
                                          running_var, 1, kEps, g.counts);
  EXPECT_EQ(running_mean.dtype(), kHalf);
  const Statistics want(sy::cat({x, x}));
  expect_near(values(running_mean), want.mean, 2e-3);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(values(running_var)[c], want.variance[c] * 8 / 7, 1e-2);
  }
}

TEST_F(BatchNormSync, ElementsAreShiftedAndScaled) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const ScalarType statistics = statistics_dtype(dtype);
    for (const ScalarType parameters : {dtype, statistics}) {
      for (const auto format :
           {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        const Tensor x = random({2, 3, 4, 5}, dtype).contiguous(format);
        const Tensor mean = random({3}, statistics);
        const Tensor invstd = sy::rand({3}, statistics).add(0.5);
        const Tensor weight = random({3}, parameters);
        const Tensor bias = random({3}, parameters);
        for (int given = 0; given < 4; ++given) {
          const auto w = given % 2 != 0 ? std::optional(weight) : std::nullopt;
          const auto b = given / 2 != 0 ? std::optional(bias) : std::nullopt;
          const Tensor y = sy::batch_norm_elemt(x, w, b, mean, invstd, kEps);
          EXPECT_EQ(y.dtype(), dtype);
          EXPECT_TRUE(y.is_contiguous(format)) << given;
          Values want;
          for_each_element(x, [&](size_t, size_t c, double v) {
            want.push_back((v - values(mean)[c]) * values(invstd)[c] *
                               (w ? values(weight)[c] : 1) +
                           (b ? values(bias)[c] : 0));
          });
          expect_near(values(y), want, tolerance_of(dtype));
        }
      }
    }
  }
  EXPECT_EQ(
      ints(sy::batch_norm_elemt(sy::empty({0, 3}), std::nullopt, std::nullopt,
                                sy::ones({3}), sy::ones({3}), kEps)
               .sizes()),
      (std::vector<int64_t>{0, 3}));
}

TEST_F(BatchNormSync, BackwardReduceGivesSumsOfEachChannel) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const ScalarType statistics = statistics_dtype(dtype);
    for (const int64_t rows : {0, 1, 5}) {
      const Tensor x = random({rows, 3, 4}, dtype);
      const Tensor dy = random({rows, 3, 4}, dtype);
      const Tensor mean = random({3}, statistics);
      const Tensor invstd = sy::rand({3}, statistics).add(0.5);
      const Tensor weight = random({3}, dtype);
      Values sum(3, 0), sum_xmu(3, 0), by_weight;
      const Values gradient = values(dy);
      for_each_element(x, [&](size_t i, size_t c, double v) {
        sum[c] += gradient[i];
        sum_xmu[c] += gradient[i] * (v - values(mean)[c]);
      });
      for (size_t c = 0; c < 3; ++c) {
        by_weight.push_back(sum_xmu[c] * values(invstd)[c]);
      }
      for (int wanted = 0; wanted < 8; ++wanted) {
        const bool input_g = (wanted & 1) != 0, weight_g = (wanted & 2) != 0,
                   bias_g = (wanted & 4) != 0;
        const auto [sum_dy, sum_dy_xmu, dw, db] =
            sy::batch_norm_backward_reduce(dy, x, mean, invstd, weight, input_g,
                                           weight_g, bias_g);
        EXPECT_EQ(sum_dy.defined(), input_g);
        EXPECT_EQ(sum_dy_xmu.defined(), input_g);
        EXPECT_EQ(dw.defined(), weight_g);
        EXPECT_EQ(db.defined(), bias_g);
        const double exact = tolerance_of(statistics);
        if (input_g) {
          EXPECT_EQ(sum_dy.dtype(), statistics);
          EXPECT_EQ(sum_dy_xmu.dtype(), statistics);
          expect_near(values(sum_dy), sum, exact);
          expect_near(values(sum_dy_xmu), sum_xmu, exact);
        }
        if (weight_g) {
          EXPECT_EQ(dw.dtype(), dtype);
          expect_near(values(dw), by_weight, tolerance_of(dtype));
        }
        if (bias_g) {
          EXPECT_EQ(db.dtype(), dtype);
          expect_near(values(db), sum, tolerance_of(dtype));
        }
      }
      const auto without = sy::batch_norm_backward_reduce(
          dy, x, mean, invstd, std::nullopt, false, true, true);
      EXPECT_EQ(std::get<2>(without).dtype(), statistics);
    }
  }
}

TEST_F(BatchNormSync, GradientOfTheInputIsThatOfTheJoinedBatch) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    for (const bool weighted : {false, true}) {
      const Tensor x = random({6, 3, 2, 2}, dtype);
      const Tensor dy = random({6, 3, 2, 2}, dtype);
      const Tensor w = random({3}, statistics_dtype(dtype));
      const auto weight = weighted ? std::optional(w) : std::nullopt;
      const auto [mean, invstd] = sy::batch_norm_stats(x, kEps);
      const auto [sum_dy, sum_dy_xmu, dw, db] = sy::batch_norm_backward_reduce(
          dy, x, mean, invstd, weight, true, true, true);
      // The gradient of the part that one of three ranks has.
      const Tensor dx = sy::batch_norm_backward_elemt(
          dy.narrow(0, 2, 3), x.narrow(0, 2, 3), mean, invstd, weight, sum_dy,
          sum_dy_xmu, tensor({8, 12, 4}).to(kInt));
      EXPECT_EQ(dx.dtype(), dtype);
      const auto d = [](const Tensor& t) { return t.to(kDouble); };
      const auto [y, save_mean, save_invstd] =
          sy::native_batch_norm(d(x), std::nullopt, std::nullopt, std::nullopt,
                                std::nullopt, true, 0, kEps);
      const auto want = sy::native_batch_norm_backward(
          d(dy), d(x), weighted ? std::optional(d(w)) : std::nullopt,
          std::nullopt, std::nullopt, save_mean, save_invstd, true, kEps,
          {true, true, true});
      expect_near(values(dx), values(std::get<0>(want).narrow(0, 2, 3)),
                  tolerance_of(dtype));
      expect_near(values(dw), values(std::get<1>(want)), 1e-5);
      expect_near(values(db), values(std::get<2>(want)), 1e-5);
    }
  }
}

TEST_F(BatchNormSync, OutFormsStore) {
  const Tensor x = random({4, 3}), dy = random({4, 3}), w = random({3});
  const auto [mean, invstd] = sy::batch_norm_stats(x, kEps);
  Tensor a = sy::empty({0}, kDouble), b = a.clone(), c = a.clone(),
         d = a.clone();
  sy::batch_norm_stats_out(a, b, x, kEps);
  EXPECT_EQ(values(a), values(mean));
  EXPECT_EQ(values(b), values(invstd));
  sy::batch_norm_elemt_out(a, x, w, w, mean, invstd, kEps);
  EXPECT_EQ(values(a),
            values(sy::batch_norm_elemt(x, w, w, mean, invstd, kEps)));
  const Gathered g({x, x});
  sy::batch_norm_gather_stats_with_counts_out(
      a, b, x, g.mean, g.invstd, std::nullopt, std::nullopt, 0, kEps, g.counts);
  expect_near(values(a), values(mean), 1e-12);
  sy::batch_norm_backward_reduce_out(a, b, c, d, dy, x, mean, invstd, w, true,
                                     true, true);
  const auto sums =
      sy::batch_norm_backward_reduce(dy, x, mean, invstd, w, true, true, true);
  EXPECT_EQ(values(a), values(std::get<0>(sums)));
  EXPECT_EQ(values(d), values(std::get<3>(sums)));
  const Tensor count = sy::full({1}, 4, kInt);
  Tensor dx = sy::empty({4, 3}, kDouble);
  sy::batch_norm_backward_elemt_out(dx, dy, x, mean, invstd, w, a, b, count);
  EXPECT_EQ(values(dx), values(sy::batch_norm_backward_elemt(
                            dy, x, mean, invstd, w, a, b, count)));
}

TEST_F(BatchNormSync, MetaGivesSizesDtypesAndStrides) {
  const auto meta = [](IntArrayRef sizes, ScalarType dtype) {
    return sy::empty(sizes, TensorOptions(dtype).device(kMeta));
  };
  for (const int64_t rows : {0, 2}) {
    const Tensor x =
        meta({rows, 3, 4, 5}, kBFloat16).contiguous(MemoryFormat::ChannelsLast);
    const auto [mean, invstd] = sy::batch_norm_stats(x, kEps);
    EXPECT_TRUE(mean.device().is_meta());
    EXPECT_EQ(mean.dtype(), kFloat);
    EXPECT_EQ(ints(invstd.sizes()), std::vector<int64_t>{3});
    const Tensor running = meta({3}, kFloat);
    const auto [all_mean, all_invstd] = sy::batch_norm_gather_stats_with_counts(
        x, meta({2, 3}, kFloat), meta({2, 3}, kFloat), running, running, 0.1,
        kEps, meta({2}, kFloat));
    EXPECT_EQ(ints(all_mean.sizes()), std::vector<int64_t>{3});
    EXPECT_EQ(all_invstd.dtype(), kFloat);
    const Tensor y =
        sy::batch_norm_elemt(x, running, running, mean, invstd, kEps);
    EXPECT_EQ(ints(y.sizes()), ints(x.sizes()));
    EXPECT_EQ(y.dtype(), kBFloat16);
    if (rows > 0) {
      EXPECT_TRUE(y.is_contiguous(MemoryFormat::ChannelsLast));
    }
    const auto [sum_dy, sum_dy_xmu, dw, db] = sy::batch_norm_backward_reduce(
        y, x, mean, invstd, running, true, true, true);
    EXPECT_EQ(ints(sum_dy_xmu.sizes()), std::vector<int64_t>{3});
    EXPECT_EQ(db.dtype(), kFloat);
    const Tensor dx = sy::batch_norm_backward_elemt(
        y, x, mean, invstd, running, sum_dy, sum_dy_xmu, meta({2}, kInt));
    EXPECT_EQ(ints(dx.sizes()), ints(x.sizes()));
    EXPECT_EQ(dx.dtype(), kBFloat16);
  }
}

TEST_F(BatchNormSync, HaveGradients) {
  const Tensor x = random({4, 3}).requires_grad_();
  const Tensor w = random({3}).requires_grad_();
  const Tensor b = random({3}).requires_grad_();
  const Tensor counts = tensor({3, 0, 2}).to(kDouble);
  const Tensor means = random({3, 3}).requires_grad_();
  const Tensor invstds =
      sy::rand({3, 3}, kDouble).add(0.5).detach().requires_grad_();
  // The steps of a rank, without the exchange.
  EXPECT_TRUE(autograd::gradcheck(
      [](TensorList in) {
        const auto [mean, invstd] = sy::batch_norm_stats(in[0], kEps);
        return std::vector<Tensor>{
            sy::batch_norm_elemt(in[0], in[1], in[2], mean, invstd, kEps)};
      },
      {x, w, b}));
  EXPECT_TRUE(autograd::gradcheck(
      [&](TensorList in) {
        const auto [mean, invstd] = sy::batch_norm_gather_stats_with_counts(
            x.detach(), in[0], in[1], std::nullopt, std::nullopt, 0, kEps,
            counts);
        return std::vector<Tensor>{mean, invstd};
      },
      {means, invstds}));
}

TEST_F(BatchNormSync, WrongArgumentsAreNamed) {
  const Tensor x = random({4, 3}, kFloat), s = sy::ones({3});
  const auto none = std::nullopt;
  SY_EXPECT_ERROR(sy::batch_norm_stats(sy::ones({4, 3}, kLong), kEps),
                  TypeError,
                  "[batch_norm_stats] input: expected a floating dtype, got "
                  "int64");
  SY_EXPECT_ERROR(sy::batch_norm_stats(sy::ones({4}), kEps), ValueError,
                  "[batch_norm_stats] input: expected at least 2 dims, got "
                  "[4]");
  SY_EXPECT_ERROR(
      sy::batch_norm_elemt(x, none, none, sy::ones({4}), s, kEps), ValueError,
      "[batch_norm_elemt] mean: expected sizes [3], one for each channel, got "
      "[4]");
  SY_EXPECT_ERROR(
      sy::batch_norm_elemt(x, none, none, s, s.to(kDouble), kEps), TypeError,
      "[batch_norm_elemt] invstd: expected dtype float32, got float64");
  SY_EXPECT_ERROR(
      sy::batch_norm_elemt(x.to(kHalf), s.to(kDouble), none, s, s, kEps),
      TypeError,
      "[batch_norm_elemt] weight: expected dtype float32, got float64");
  SY_EXPECT_ERROR(sy::batch_norm_elemt(x, none, sy::ones({1}), s, s, kEps),
                  ValueError, "[batch_norm_elemt] bias: expected sizes [3]");
  const Tensor rows = sy::ones({2, 3}), counts = sy::ones({2});
  const auto gather = [&](const Tensor& mean, const Tensor& invstd,
                          const Tensor& running, const Tensor& n) {
    sy::batch_norm_gather_stats_with_counts(x, mean, invstd, running, running,
                                            0.1, kEps, n);
  };
  SY_EXPECT_ERROR(gather(s, rows, s, counts), ValueError,
                  "[batch_norm_gather_stats_with_counts] mean: expected sizes "
                  "[ranks, 3], got [3]");
  SY_EXPECT_ERROR(gather(rows, sy::ones({1, 3}), s, counts), ValueError,
                  "invstd: expected [2, 3], the sizes of mean, got [1, 3]");
  SY_EXPECT_ERROR(gather(rows, rows, s, s), ValueError,
                  "counts: expected 2 elements, one for each rank, got sizes "
                  "[3]");
  SY_EXPECT_ERROR(gather(rows.to(kHalf), rows, s, counts), TypeError,
                  "mean: expected dtype float32, got float16");
  SY_EXPECT_ERROR(gather(rows, rows, sy::ones({2}), counts), ValueError,
                  "running_mean: expected sizes [3]");
  SY_EXPECT_ERROR(gather(rows, rows, s.to(kInt), counts), TypeError,
                  "running_mean: expected a floating dtype, got int32");
  SY_EXPECT_ERROR(sy::batch_norm_backward_reduce(sy::ones({3, 4}), x, s, s, s,
                                                 true, true, true),
                  ValueError,
                  "[batch_norm_backward_reduce] grad_out: expected [4, 3], the "
                  "sizes of input, got [3, 4]");
  SY_EXPECT_ERROR(
      sy::batch_norm_backward_reduce(x.to(kHalf), x, s, s, s, true, true, true),
      TypeError, "grad_out: expected dtype float32, got float16");
  SY_EXPECT_ERROR(
      sy::batch_norm_backward_elemt(x, x, s, s, s, sy::ones({2}), s, counts),
      ValueError,
      "[batch_norm_backward_elemt] sum_dy: expected sizes [3], one for each "
      "channel, got [2]");
}

}  // namespace
}  // namespace sy::families
