#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/random.h"
#include "aten/ops/view.h"
#include "c10/device/philox.h"
#include "c10/process/parallel.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

constexpr ScalarType kAll[] = {kByte, kChar,  kShort,  kInt,  kLong,
                               kHalf, kFloat, kDouble, kBool, kBFloat16};
constexpr ScalarType kFloating[] = {kHalf, kBFloat16, kFloat, kDouble};

TEST(Random, UniformIsTheDocumentedWords) {
  const Generator g = generator(7);
  g->set_offset(5);
  Tensor t = empty({10}, kFloat);
  t.uniform_(-1, 3, g);
  EXPECT_EQ(g->offset(), 5u + 3u);
  const std::vector<double> v = values(t);
  for (size_t i = 0; i < 10; ++i) {
    const uint32_t word = philox_block(7, 5 + i / 4)[i % 4];
    EXPECT_EQ(v[i], uniform_float(word) * 4.0f - 1.0f) << i;
  }
  Tensor wide = empty({3}, kDouble);
  g->set_offset(5);
  wide.uniform_(0, 1, g);
  EXPECT_EQ(g->offset(), 5u + 2u);
  const PhiloxBlock block = philox_block(7, 5);
  EXPECT_EQ(values(wide)[1], uniform_double(block[2], block[3]));
}

TEST(Random, UniformStaysBelowItsBoundInEveryDtype) {
  for (const ScalarType dtype : kFloating) {
    const Generator g = generator(1);
    Tensor t = empty({100000}, dtype);
    t.uniform_(10, 10.5, g);
    const std::vector<double> v = values(t);
    EXPECT_GE(*std::min_element(v.begin(), v.end()), 10) << dtype_name(dtype);
    EXPECT_LT(*std::max_element(v.begin(), v.end()), 10.5) << dtype_name(dtype);
  }
}

TEST(Random, NormalHasItsMoments) {
  for (const ScalarType dtype : kFloating) {
    const Generator g = generator(3);
    Tensor t = empty({200001}, dtype);
    t.normal_(2, 3, g);
    double sum = 0, square = 0, within = 0;
    const std::vector<double> v = values(t);
    for (const double x : v) {
      sum += x;
      square += (x - 2) * (x - 2);
      within += std::abs(x - 2) < 3;
    }
    const auto n = static_cast<double>(v.size());
    EXPECT_NEAR(sum / n, 2, 0.03) << dtype_name(dtype);
    EXPECT_NEAR(square / n, 9, 0.15) << dtype_name(dtype);
    EXPECT_NEAR(within / n, 0.6827, 0.006) << dtype_name(dtype);
  }
}

TEST(Random, NormalIsBoxMullerOfItsPair) {
  const Generator g = generator(11);
  Tensor t = empty({2000}, kDouble);
  t.normal_(0, 1, g);
  const std::vector<double> v = values(t);
  constexpr double kTurn = 6.283185307179586;
  for (size_t k = 0; k < 1000; ++k) {
    const PhiloxBlock b = philox_block(11, k);
    const double r = std::sqrt(-2 * std::log(1 - uniform_double(b[0], b[1])));
    const double u = uniform_double(b[2], b[3]);
    EXPECT_NEAR(v[2 * k], r * std::cos(kTurn * u), 1e-14) << k;
    EXPECT_NEAR(v[2 * k + 1], r * std::sin(kTurn * u), 1e-14) << k;
  }
}

TEST(Random, ThreadsChangeNothing) {
  const int threads = get_num_threads();
  for (const ScalarType dtype : kFloating) {
    Tensor one = empty({50001}, dtype), many = empty({50001}, dtype);
    set_num_threads(1);
    one.normal_(0, 1, generator(5));
    set_num_threads(4);
    many.normal_(0, 1, generator(5));
    set_num_threads(threads);
    EXPECT_EQ(values(one), values(many)) << dtype_name(dtype);
  }
}

TEST(Random, StridesDoNotChangeWhatAnElementGets) {
  Tensor plain = empty({3, 5}, kFloat);
  Tensor turned = empty_strided({3, 5}, {1, 3}, kFloat);
  plain.uniform_(0, 1, generator(5));
  turned.uniform_(0, 1, generator(5));
  EXPECT_EQ(values(plain), values(turned));
}

TEST(Random, WholeNumbersCoverTheirRange) {
  for (const ScalarType dtype : kAll) {
    if (dtype == kBool) continue;
    const Generator g = generator(2);
    Tensor t = empty({1000}, dtype);
    t.random_(3, 7, g);
    const std::vector<double> v = values(t);
    EXPECT_EQ(std::set<double>(v.begin(), v.end()),
              (std::set<double>{3, 4, 5, 6}))
        << dtype_name(dtype);
  }
}

TEST(Random, WithoutBoundsTheDtypeDecides) {
  const double largest[] = {255,  127,      32767,  0x1p31 - 1, 0x1p63,
                            2048, 16777216, 0x1p53, 1,          256};
  for (size_t i = 0; i < std::size(kAll); ++i) {
    Tensor t = empty({4000}, kAll[i]);
    t.random_(generator(9));
    const std::vector<double> v = values(t);
    EXPECT_GE(*std::min_element(v.begin(), v.end()), 0);
    const double most = *std::max_element(v.begin(), v.end());
    EXPECT_LE(most, largest[i]) << dtype_name(kAll[i]);
    EXPECT_GT(most, largest[i] * 0.9) << dtype_name(kAll[i]);
  }
}

TEST(Random, AllOfInt64CanBeDrawn) {
  Tensor t = empty({1000}, kLong);
  t.random_(INT64_MIN, std::nullopt, generator(4));
  const std::vector<int64_t> v = values<int64_t>(t);
  EXPECT_LT(*std::min_element(v.begin(), v.end()), INT64_MIN / 10 * 9);
  EXPECT_GT(*std::max_element(v.begin(), v.end()), INT64_MAX / 10 * 9);
}

TEST(Random, BernoulliHasItsProbability) {
  for (const ScalarType dtype : kAll) {
    Tensor t = empty({50000}, dtype);
    t.bernoulli_(0.3, generator(6));
    double sum = 0;
    for (const double x : values(t)) {
      EXPECT_TRUE(x == 0 || x == 1);
      sum += x;
    }
    EXPECT_NEAR(sum / 50000, 0.3, 0.01) << dtype_name(dtype);
  }
  Tensor all = empty({1000}, kFloat);
  all.bernoulli_(1, generator(6));
  EXPECT_EQ(values(all), std::vector<double>(1000, 1));
  all.bernoulli_(0, generator(6));
  EXPECT_EQ(values(all), std::vector<double>(1000, 0));
}

TEST(Random, BernoulliOfProbabilities) {
  const Tensor p = tensor({0.0, 1.0, 0.0, 1.0});
  Tensor out = empty({4}, kFloat);
  bernoulli_out(out, p, generator(1));
  EXPECT_EQ(values(out), values(p));
  SY_EXPECT_ERROR(
      bernoulli(tensor({0.5, 1.5})), ValueError,
      "[bernoulli] self: expected probabilities in [0, 1], got 1.5");
}

TEST(Random, EmptyTensorsDrawNothing) {
  const Generator g = generator(1);
  Tensor t = empty({0}, kFloat);
  t.normal_(0, 1, g);
  EXPECT_EQ(g->offset(), 0u);
}

TEST(Random, RejectsWhatCannotBe) {
  Tensor t = empty({2}, kByte);
  SY_EXPECT_ERROR(t.random_(5, 5), ValueError,
                  "[random_] to: expected more than 'from', 5, got 5");
  SY_EXPECT_ERROR(t.random_(-1, 5), ValueError,
                  "[random_] from: expected a value in [0, 255] for uint8, "
                  "got -1");
  SY_EXPECT_ERROR(t.random_(257), ValueError,
                  "[random_] to - 1: expected a value in [0, 255]");
  SY_EXPECT_ERROR(t.uniform_(), ValueError,
                  "[uniform_] self: expected a floating dtype");
  Tensor spread = empty({1}, kFloat).expand({4});
  SY_EXPECT_ERROR(spread.normal_(), ValueError, "[normal_] self");
}

}  // namespace
}  // namespace sy::families
