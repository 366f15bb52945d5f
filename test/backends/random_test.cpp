#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "aten/engine/copy.h"
#include "aten/engine/view.h"
#include "aten/tensor_new.h"
#include "backends/cpu/random_kernels_gen.h"
#include "c10/device/philox.h"
#include "c10/process/parallel.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

constexpr ScalarType kAll[] = {kByte, kChar,  kShort,  kInt,  kLong,
                               kHalf, kFloat, kDouble, kBool, kBFloat16};
constexpr ScalarType kFloating[] = {kHalf, kBFloat16, kFloat, kDouble};

Tensor empty(IntArrayRef sizes, ScalarType dtype) {
  return Tensor(make_tensor(sizes, dtype, Device(kCPU)));
}

std::vector<double> values(const Tensor& t) {
  const Tensor d = contiguous_cpu(t, kDouble);
  const auto* p = static_cast<const double*>(d.data_ptr());
  return {p, p + d.numel()};
}

TEST(Random, UniformIsTheDocumentedWords) {
  const Generator g = make_generator(7);
  g->set_offset(5);
  Tensor t = empty({10}, kFloat);
  cpu::uniform_(t, -1, 3, g);
  EXPECT_EQ(g->offset(), 5u + 3u);
  const std::vector<double> v = values(t);
  for (size_t i = 0; i < 10; ++i) {
    const uint32_t word = philox_block(7, 5 + i / 4)[i % 4];
    EXPECT_EQ(v[i], uniform_float(word) * 4.0f - 1.0f) << i;
  }
  Tensor wide = empty({3}, kDouble);
  g->set_offset(5);
  cpu::uniform_(wide, 0, 1, g);
  EXPECT_EQ(g->offset(), 5u + 2u);
  const PhiloxBlock block = philox_block(7, 5);
  EXPECT_EQ(values(wide)[1], uniform_double(block[2], block[3]));
}

TEST(Random, UniformStaysBelowItsBoundInEveryDtype) {
  for (const ScalarType dtype : kFloating) {
    const Generator g = make_generator(1);
    Tensor t = empty({100000}, dtype);
    cpu::uniform_(t, 10, 10.5, g);
    const std::vector<double> v = values(t);
    EXPECT_GE(*std::min_element(v.begin(), v.end()), 10) << dtype_name(dtype);
    EXPECT_LT(*std::max_element(v.begin(), v.end()), 10.5) << dtype_name(dtype);
  }
}

TEST(Random, NormalHasItsMoments) {
  for (const ScalarType dtype : kFloating) {
    const Generator g = make_generator(3);
    Tensor t = empty({200001}, dtype);
    cpu::normal_(t, 2, 3, g);
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
  const Generator g = make_generator(11);
  Tensor t = empty({2000}, kDouble);
  cpu::normal_(t, 0, 1, g);
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
    cpu::normal_(one, 0, 1, make_generator(5));
    set_num_threads(4);
    cpu::normal_(many, 0, 1, make_generator(5));
    set_num_threads(threads);
    EXPECT_EQ(std::memcmp(one.data_ptr(), many.data_ptr(), one.nbytes()), 0)
        << dtype_name(dtype);
  }
}

TEST(Random, StridesDoNotChangeWhatAnElementGets) {
  Tensor plain = empty({3, 5}, kFloat);
  Tensor turned(make_tensor_strided({3, 5}, {1, 3}, kFloat, Device(kCPU)));
  cpu::uniform_(plain, 0, 1, make_generator(5));
  cpu::uniform_(turned, 0, 1, make_generator(5));
  EXPECT_EQ(values(plain), values(turned));
}

TEST(Random, WholeNumbersCoverTheirRange) {
  for (const ScalarType dtype : kAll) {
    if (dtype == kBool) continue;
    const Generator g = make_generator(2);
    Tensor t = empty({1000}, dtype);
    cpu::random_from_(t, 3, 7, g);
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
    cpu::random_(t, make_generator(9));
    const std::vector<double> v = values(t);
    EXPECT_GE(*std::min_element(v.begin(), v.end()), 0);
    const double most = *std::max_element(v.begin(), v.end());
    EXPECT_LE(most, largest[i]) << dtype_name(kAll[i]);
    EXPECT_GT(most, largest[i] * 0.9) << dtype_name(kAll[i]);
  }
}

TEST(Random, AllOfInt64CanBeDrawn) {
  Tensor t = empty({1000}, kLong);
  cpu::random_from_(t, INT64_MIN, std::nullopt, make_generator(4));
  const auto* p = static_cast<const int64_t*>(t.data_ptr());
  EXPECT_LT(*std::min_element(p, p + 1000), INT64_MIN / 10 * 9);
  EXPECT_GT(*std::max_element(p, p + 1000), INT64_MAX / 10 * 9);
}

TEST(Random, BernoulliHasItsProbability) {
  for (const ScalarType dtype : kAll) {
    Tensor t = empty({50000}, dtype);
    cpu::bernoulli_(t, 0.3, make_generator(6));
    double sum = 0;
    for (const double x : values(t)) {
      EXPECT_TRUE(x == 0 || x == 1);
      sum += x;
    }
    EXPECT_NEAR(sum / 50000, 0.3, 0.01) << dtype_name(dtype);
  }
  Tensor all = empty({1000}, kFloat);
  cpu::bernoulli_(all, 1, make_generator(6));
  EXPECT_EQ(values(all), std::vector<double>(1000, 1));
  cpu::bernoulli_(all, 0, make_generator(6));
  EXPECT_EQ(values(all), std::vector<double>(1000, 0));
}

TEST(Random, BernoulliOfProbabilities) {
  const Tensor p = tensor({0.0, 1.0, 0.0, 1.0});
  const Tensor out = empty({4}, kFloat);
  cpu::bernoulli_out(p, make_generator(1), out);
  EXPECT_EQ(values(out), values(p));
  SY_EXPECT_ERROR(
      cpu::bernoulli_out(tensor({0.5, 1.5}), {}, empty({2}, kFloat)),
      ValueError,
      "[bernoulli] self: expected probabilities in [0, 1], got 1.5");
}

TEST(Random, EmptyTensorsDrawNothing) {
  const Generator g = make_generator(1);
  Tensor t = empty({0}, kFloat);
  cpu::normal_(t, 0, 1, g);
  EXPECT_EQ(g->offset(), 0u);
}

TEST(Random, RejectsWhatCannotBe) {
  Tensor t = empty({2}, kByte);
  SY_EXPECT_ERROR(cpu::random_from_(t, 5, 5, {}), ValueError,
                  "[random_] to: expected more than 'from', 5, got 5");
  SY_EXPECT_ERROR(cpu::random_from_(t, -1, 5, {}), ValueError,
                  "[random_] from: expected a value in [0, 255] for uint8, "
                  "got -1");
  SY_EXPECT_ERROR(cpu::random_to_(t, 257, {}), ValueError,
                  "[random_] to - 1: expected a value in [0, 255]");
  SY_EXPECT_ERROR(cpu::uniform_(t, 0, 1, {}), TypeError,
                  "[uniform_] self: expected a floating dtype, got uint8");
  Tensor spread = alias_without_view(empty({1}, kFloat), {4}, {0}, 0);
  SY_EXPECT_ERROR(cpu::normal_(spread, 0, 1, {}), ValueError, "[normal_] self");
}

}  // namespace
}  // namespace sy
