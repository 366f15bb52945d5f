#include "aten/ops/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

constexpr int64_t kMany = 40000;

Tensor filled(double v, ScalarType dtype = kDouble) {
  return full({kMany}, Scalar(v), TensorOptions(dtype));
}

// Mean and variance within 5 standard errors; `fourth` is the fourth central
// moment, of which the error of a variance is made.
void expect_moments(const Tensor& t, double mean, double variance,
                    double fourth, const std::string& what) {
  const std::vector<double> v = values(t);
  const auto n = static_cast<double>(v.size());
  double sum = 0, squares = 0;
  for (double x : v) sum += x;
  for (double x : v) squares += (x - sum / n) * (x - sum / n);
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n)) << what;
  EXPECT_NEAR(squares / n, variance,
              5 * std::sqrt((fourth - variance * variance) / n))
      << what;
}

TEST(Distribution, PoissonHasItsMoments) {
  const Generator g = generator(3);
  // poisson() searches below 10, and rejects from there on.
  for (const double m : {0.3, 4.0, 9.9, 10.0, 37.5, 1e6}) {
    expect_moments(poisson(filled(m), g), m, m, m + 3 * m * m,
                   "mean " + std::to_string(m));
  }
  EXPECT_EQ(values(poisson(filled(0), g)), std::vector<double>(kMany, 0.0));
}

TEST(Distribution, PoissonHasItsChances) {
  for (const double m : {2.0, 12.0}) {
    std::vector<double> seen(80);
    const Generator g = generator(8);
    for (double k : values(poisson(filled(m), g))) {
      seen.at(static_cast<size_t>(k)) += 1;
    }
    double chance = std::exp(-m);
    for (size_t k = 0; k < 40; ++k) {
      const double expected = chance * kMany;
      EXPECT_NEAR(seen[k], expected, 5 * std::sqrt(expected) + 1)
          << "mean " << m << ", number " << k;
      chance *= m / static_cast<double>(k + 1);
    }
  }
}

TEST(Distribution, BinomialHasItsMoments) {
  const Generator g = generator(4);
  struct {
    double n, p;
  } const cases[] = {{5, 0.3},   {5, 0.9},   {100, 0.02}, {100, 0.4},
                     {100, 0.7}, {1e6, 0.5}, {1, 0.5}};
  for (const auto& [n, p] : cases) {
    const double v = n * p * (1 - p);
    expect_moments(binomial(filled(n), filled(p), g), n * p, v,
                   v * (1 + 3 * v) + 1, str("{} trials of chance {}", n, p));
  }
}

TEST(Distribution, MadeOfEvenNumbersHaveTheirMoments) {
  const Generator g = generator(5);
  const Tensor like = filled(0);
  expect_moments(exponential(like, 0.5, g), 2, 4, 9 * 16, "exponential");
  const double p = 0.2, v = (1 - p) / (p * p);
  expect_moments(geometric(like, p, g), 1 / p, v, 12 * v * v, "geometric");
  expect_moments(log_normal(like, 0.1, 0.5, g).log(), 0.1, 0.25,
                 3 * 0.25 * 0.25, "the logarithm of log_normal");
  std::vector<double> c = values(cauchy(like, 3, 2, g));
  int64_t within = 0, below = 0;
  for (double x : c) within += std::fabs(x - 3) < 2, below += x < 3;
  EXPECT_NEAR(static_cast<double>(within) / kMany, 0.5, 0.0125);
  EXPECT_NEAR(static_cast<double>(below) / kMany, 0.5, 0.0125);
}

TEST(Distribution, ExponentialIsNever0) {
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat}) {
    const Tensor e = exponential(filled(0, dtype), 1, generator(1));
    if (dtype != kHalf) {  // whose least number is larger
      EXPECT_GT(e.min().item().to_double(), 0) << dtype_name(dtype);
    }
    EXPECT_TRUE(std::isfinite(e.max().item().to_double())) << dtype_name(dtype);
  }
}

TEST(Distribution, NormalTakesTensors) {
  const Tensor mean = arange(6, TensorOptions(kDouble)).view({2, 3});
  const Tensor std = tensor({0.0, 1.0, 2.0}).to(kDouble);
  const Tensor noise =
      zeros({2, 3}, TensorOptions(kDouble)).normal_(0, 1, generator(9));
  EXPECT_EQ(values(normal(mean, std, generator(9))),
            values(noise * std + mean));
  EXPECT_EQ(
      values(normal(mean, 2.0, generator(9))),
      values(zeros({2, 3}, TensorOptions(kDouble)).normal_(0, 2, generator(9)) +
             mean));
  SY_EXPECT_ERROR(normal(mean, -std, generator(9)), ValueError,
                  "[normal] std: expected no negative number, got -2");
}

TEST(Distribution, MultinomialDrawsByWeight) {
  const Tensor weights = tensor({1.0, 0.0, 3.0, 4.0});
  for (const bool replacement : {false, true}) {
    std::vector<double> seen(4);
    const Tensor rows = weights.expand({kMany, 4});
    for (double i : values(multinomial(rows, 1, replacement, generator(2)))) {
      seen.at(static_cast<size_t>(i)) += 1;
    }
    EXPECT_EQ(seen[1], 0);
    EXPECT_NEAR(seen[0] / kMany, 1.0 / 8, 0.01) << replacement;
    EXPECT_NEAR(seen[2] / kMany, 3.0 / 8, 0.0125) << replacement;
  }
  const std::vector<double> all =
      values(multinomial(weights.expand({500, 4}), 3, false, generator(6)));
  for (size_t i = 0; i < all.size(); i += 3) {
    EXPECT_EQ(all[i] + all[i + 1] + all[i + 2], 0 + 2 + 3);
  }
}

TEST(Distribution, ThreadsChangeNothing) {
  const auto draw = [](int threads) {
    set_num_threads(threads);
    const Generator g = generator(11);
    return std::vector<std::vector<double>>{
        values(poisson(filled(25), g)),
        values(binomial(filled(90), filled(0.4), g)),
        values(exponential(filled(0), 1, g)),
        values(multinomial(filled(1), 50, true, g))};
  };
  const int before = get_num_threads();
  const auto one = draw(1);
  EXPECT_EQ(one, draw(2));
  set_num_threads(before);
}

TEST(Distribution, RreluDrawsSlopesBetweenItsBounds) {
  const Tensor x = filled(-1);
  for (double v : values(rrelu(x, 0.25, 0.5, true, generator(1)))) {
    ASSERT_LE(v, -0.25);
    ASSERT_GE(v, -0.5);
  }
  EXPECT_EQ(values(rrelu(tensor({-2.0, 3.0}), 0.25, 0.5)),
            (std::vector<double>{-0.75, 3}));
}

TEST(Distribution, RejectsWhatCannotBe) {
  const Tensor w = tensor({1.0, 0.0});
  SY_EXPECT_ERROR(multinomial(w, 2), ValueError,
                  "at least 2 weights that are not 0");
  SY_EXPECT_ERROR(multinomial(w, 3), ValueError, "[multinomial]");
  SY_EXPECT_ERROR(multinomial(-w, 1), ValueError, "not negative");
  SY_EXPECT_ERROR(multinomial(w * NAN, 1), ValueError, "finite");
  SY_EXPECT_ERROR(multinomial(w.to(kLong), 1), ValueError,
                  "[multinomial] self");
  SY_EXPECT_ERROR(poisson(-w), ValueError, "[poisson] self");
  SY_EXPECT_ERROR(binomial(w, w + 1), ValueError, "[binomial] prob");
  SY_EXPECT_ERROR(exponential(w, 0), ValueError, "[exponential]");
  SY_EXPECT_ERROR(geometric(w, 1), ValueError, "[geometric]");
  SY_EXPECT_ERROR(rrelu(w, 1, 0.5), ValueError, "[rrelu] lower");
  SY_EXPECT_ERROR(bernoulli(w, w + 1), ValueError, "probabilities");
}

}  // namespace
}  // namespace sy::families
