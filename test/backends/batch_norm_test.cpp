#include <gtest/gtest.h>

#include <cmath>

#include "aten/ops/batch_norm.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/view.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

void expect_near(const Values& got, const Values& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance) << i;
  }
}

// Mean and variance of each channel of a contiguous tensor.
void moments(const Tensor& t, Values* means, Values* variances) {
  const Values x = values(t);
  const auto channels = static_cast<size_t>(t.size(1));
  const auto batch = static_cast<size_t>(t.size(0));
  const size_t places = x.size() / (channels * batch);
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (size_t n = 0; n < batch; ++n) {
      for (size_t i = 0; i < places; ++i) {
        sum += x[(n * channels + c) * places + i];
      }
    }
    const double count = static_cast<double>(batch * places);
    for (size_t n = 0; n < batch; ++n) {
      for (size_t i = 0; i < places; ++i) {
        const double d = x[(n * channels + c) * places + i] - sum / count;
        squares += d * d;
      }
    }
    means->push_back(sum / count);
    variances->push_back(squares / count);
  }
}

TEST(BatchNorm, GivesMeanZeroAndVarianceOne) {
  manual_seed(1);
  for (const auto format :
       {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    const Tensor x = sy::randn({4, 5, 7, 9}).mul(3).add(100).contiguous(format);
    const Tensor mean = sy::zeros({5}), var = sy::ones({5});
    const auto [y, save_mean, save_invstd] = sy::native_batch_norm(
        x, std::nullopt, std::nullopt, mean, var, true, 0.25, 0);
    EXPECT_TRUE(y.is_contiguous(format));
    Values means, variances, x_means, x_variances;
    moments(y, &means, &variances);
    moments(x, &x_means, &x_variances);
    expect_near(means, Values(5, 0), 1e-5);
    expect_near(variances, Values(5, 1), 1e-5);
    expect_near(values(save_mean), x_means, 1e-5);
    const double n = 4 * 7 * 9;
    for (size_t c = 0; c < 5; ++c) {
      EXPECT_NEAR(values(save_invstd)[c], 1 / std::sqrt(x_variances[c]), 1e-6);
      EXPECT_NEAR(values(mean)[c], 0.25 * x_means[c], 1e-4);
      EXPECT_NEAR(values(var)[c], 0.75 + 0.25 * x_variances[c] * n / (n - 1),
                  1e-4);
    }
  }
}

TEST(BatchNorm, EveryLayoutAndDtypeGivesTheSame) {
  manual_seed(2);
  const Tensor x = sy::randn({3, 17, 5, 6}, kDouble);
  const Tensor g = sy::randn({3, 17, 5, 6}, kDouble);
  const Tensor w = sy::randn({17}, kDouble), b = sy::randn({17}, kDouble);
  const auto run = [&](ScalarType dtype, MemoryFormat format, bool training,
                       bool mixed) {
    const ScalarType parameters = mixed ? kFloat : dtype;
    const auto p = [&](const Tensor& t) { return t.to(parameters); };
    const Tensor input = x.to(dtype).contiguous(format);
    const Tensor mean = sy::full({17}, 0.5, parameters);
    const Tensor var = sy::full({17}, 2, parameters);
    const auto [y, save_mean, save_invstd] = sy::native_batch_norm(
        input, p(w), p(b), mean, var, training, 0.1, 1e-3);
    const auto [dx, dw, db] = sy::native_batch_norm_backward(
        g.to(dtype).contiguous(format), input, p(w), mean, var, save_mean,
        save_invstd, training, 1e-3, {true, true, true});
    EXPECT_EQ(dw.dtype(), parameters);
    EXPECT_EQ(y.dtype(), dtype);
    return std::vector<Values>{values(y), values(dx), values(dw), values(db)};
  };
  for (const bool training : {true, false}) {
    const auto want = run(kDouble, MemoryFormat::Contiguous, training, false);
    for (const auto format :
         {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
      for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
        for (const bool mixed : {false, true}) {
          if (mixed && (dtype == kFloat || dtype == kDouble)) continue;
          const auto got = run(dtype, format, training, mixed);
          const double tolerance = dtype == kDouble  ? 1e-12
                                   : dtype == kFloat ? 1e-4
                                   : dtype == kHalf  ? 0.03
                                                     : 0.3;
          for (size_t i = 0; i < 4; ++i) {
            expect_near(got[i], want[i], tolerance);
          }
        }
      }
    }
  }
}

TEST(BatchNorm, ResultsDoNotDependOnThreads) {
  const int before = get_num_threads();
  manual_seed(3);
  for (const auto format :
       {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
    const Tensor x = sy::randn({8, 32, 30, 30}).contiguous(format);
    std::vector<Values> first;
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      const auto [y, m, s] =
          sy::native_batch_norm(x, std::nullopt, std::nullopt, std::nullopt,
                                std::nullopt, true, 0, 1e-5);
      const auto [dx, dw, db] = sy::native_batch_norm_backward(
          x, x, std::nullopt, std::nullopt, std::nullopt, m, s, true, 1e-5,
          {true, true, true});
      const std::vector<Values> all{values(y),  values(m),  values(s),
                                    values(dx), values(dw), values(db)};
      if (threads == 1) first = all;
      EXPECT_EQ(all, first);
    }
  }
  set_num_threads(before);
}

TEST(BatchNorm, InstancesAreBatchesOfOne) {
  manual_seed(4);
  const Tensor x = sy::randn({2, 3, 5});
  const Tensor y =
      sy::instance_norm(x, std::nullopt, std::nullopt, std::nullopt,
                        std::nullopt, true, 0.1, 1e-5, false);
  for (int64_t n = 0; n < 2; ++n) {
    const Tensor one = x.narrow(0, n, 1);
    const Tensor want =
        sy::batch_norm(one, std::nullopt, std::nullopt, std::nullopt,
                       std::nullopt, true, 0.1, 1e-5, false);
    expect_near(values(y.narrow(0, n, 1)), values(want), 1e-6);
  }
}

TEST(BatchNorm, WhatDoesNotFitIsAnError) {
  const Tensor x = sy::ones({2, 3}), three = sy::ones({3});
  const auto call = [](const Tensor& input, const Tensor& w, const Tensor& mean,
                       const Tensor& var, bool training) {
    return [=] {
      sy::native_batch_norm(input, w, std::nullopt, mean, var, training, 0.1,
                            1e-5);
    };
  };
  SY_EXPECT_ERROR(call(x, sy::ones({2}), three, three, false)(), ValueError,
                  "[native_batch_norm] weight");
  SY_EXPECT_ERROR(call(x, three.to(kDouble), three, three, false)(), TypeError,
                  "[native_batch_norm] weight");
  SY_EXPECT_ERROR(call(x, three, Tensor(), Tensor(), false)(), ValueError,
                  "[native_batch_norm] running_mean");
  SY_EXPECT_ERROR(call(sy::ones({0, 3}), three, three, three, true)(),
                  ValueError, "[native_batch_norm] input");
  SY_EXPECT_ERROR(call(three, three, three, three, true)(), ValueError,
                  "[native_batch_norm] input");
  SY_EXPECT_ERROR(call(x.to(kLong), Tensor(), three, three, true)(), TypeError,
                  "[native_batch_norm] input");
  SY_EXPECT_ERROR(
      sy::native_batch_norm_backward(x, x, three, three, three, three, three,
                                     true, 0, {true, true}),
      ValueError, "[native_batch_norm_backward] output_mask");
  for (const bool training : {false, true}) {
    SY_EXPECT_ERROR(
        sy::_batch_norm_double_backward(x, three, x, three, three, x,
                                        std::nullopt, std::nullopt, training,
                                        1e-5, std::nullopt, std::nullopt),
        ValueError,
        "[_batch_norm_double_backward] " +
            std::string(training ? "save_mean" : "running_mean"));
  }
}

}  // namespace
}  // namespace sy::families
