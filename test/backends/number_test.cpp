#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "aten/ops/number.h"
#include "aten/ops/special.h"
#include "test/backends/device.h"
#include "test/c10/expect_error.h"

namespace sy::families {
namespace {

using Values = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor of(Values v, ScalarType dtype) {
  return tensor(v, TensorOptions(kDouble)).to(dtype);
}

TEST(Number, NextafterStepsInTheDtypeOfTheElements) {
  const Values from = {1, 1, 0, 0, -2, 2, kInf, 3};
  const Values to = {2, 0, 1, -1, 0, 2, 0, kInf};
  const auto next = [&](ScalarType t) {
    return values(nextafter(of(from, t), of(to, t)));
  };
  EXPECT_EQ(next(kBFloat16),
            (Values{1 + 0x1p-7, 1 - 0x1p-8, 0x1p-133, -0x1p-133, -2 + 0x1p-7, 2,
                    0x1.fep127, 3 + 0x1p-6}));
  EXPECT_EQ(next(kHalf), (Values{1 + 0x1p-10, 1 - 0x1p-11, 0x1p-24, -0x1p-24,
                                 -2 + 0x1p-10, 2, 65504, 3 + 0x1p-9}));
  EXPECT_EQ(next(kFloat)[0], 1 + 0x1p-23);
  EXPECT_EQ(next(kDouble)[0], 1 + 0x1p-52);
  EXPECT_TRUE(std::isnan(
      values(nextafter(of({kNan}, kBFloat16), of({1}, kBFloat16)))[0]));
  SY_EXPECT_ERROR(nextafter(of({1}, kInt), of({1}, kInt)), ValueError,
                  "floating dtype");
}

TEST(Number, NextafterBroadcastsAndPromotes) {
  const Tensor a = of({1, 2, 3, 4, 5, 6}, kFloat).view({2, 3});
  const Tensor b = of({9, 0}, kDouble).view({2, 1});
  const Tensor c = nextafter(a, b);
  EXPECT_EQ(c.scalar_type(), kDouble);
  EXPECT_EQ(values(c)[1], std::nextafter(2.0, 9.0));
  EXPECT_EQ(values(c)[4], std::nextafter(5.0, 0.0));
  EXPECT_EQ(nextafter(of({1, 2}, kInt), of({3}, kHalf)).scalar_type(), kHalf);
  EXPECT_EQ(values(nextafter(a.t(), of({0}, kFloat)))[1],
            std::nextafter(4.F, 0.F));
}

TEST(Number, FrexpTakesNumbersApart) {
  for (ScalarType t : {kHalf, kBFloat16, kFloat, kDouble}) {
    const auto [mantissa, exponent] =
        frexp(of({0, 1, -3.5, kInf, 0.25, 0x1p-14}, t));
    EXPECT_EQ(mantissa.scalar_type(), t);
    EXPECT_EQ(exponent.scalar_type(), kInt);
    EXPECT_EQ(values(mantissa), (Values{0, 0.5, -0.875, kInf, 0.5, 0.5}));
    EXPECT_EQ(values(exponent), (Values{0, 1, 2, 0, -1, -13}));
  }
  const Tensor wide = of({1, 2, 3, 4, 5, 6}, kFloat).view({2, 3}).t();
  EXPECT_EQ(values(std::get<1>(frexp(wide))), (Values{1, 3, 2, 3, 2, 3}));
  SY_EXPECT_ERROR(frexp(of({1}, kInt)), ValueError, "floating dtype");
}

TEST(Number, NanToNumUsesTheLimitsOfTheDtype) {
  const Values bad = {kNan, kInf, -kInf, 2};
  EXPECT_EQ(values(nan_to_num(of(bad, kHalf))), (Values{0, 65504, -65504, 2}));
  EXPECT_EQ(values(nan_to_num(of(bad, kBFloat16), 1, 7)),
            (Values{1, 7, -0x1.fep127, 2}));
  EXPECT_EQ(values(nan_to_num(of({1, 2}, kInt), 5)), (Values{1, 2}));
}

TEST(Number, FloatPowerInPlaceNeedsFloat64) {
  Tensor x = of({2, 3}, kFloat);
  SY_EXPECT_ERROR(x.float_power_(2), ValueError, "float64");
  EXPECT_EQ(values(float_power(x, 2)), (Values{4, 9}));
}

TEST(Number, PolygammaTakesOrdersFromZero) {
  SY_EXPECT_ERROR(polygamma(-1, of({1}, kFloat)), ValueError, "n >= 0");
  EXPECT_NEAR(values(polygamma(1, of({1}, kDouble)))[0], M_PI * M_PI / 6,
              1e-15);
}

}  // namespace
}  // namespace sy::families
