#include "c10/tensor/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sy {
namespace {

// Value of finite half bits by the definition of binary16.
double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double magnitude = exponent == 0
                               ? std::ldexp(mantissa, -24)
                               : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    Half h;
    h.bits = static_cast<uint16_t>(i);
    const float f = h;
    if ((i & 0x7c00) == 0x7c00) {
      EXPECT_EQ(std::isnan(f), (i & 0x3ff) != 0);
      EXPECT_EQ(std::isnan(static_cast<float>(Half(f))), std::isnan(f));
      continue;
    }
    EXPECT_EQ(f, half_value(h.bits));
    EXPECT_EQ(Half(f).bits, i);
  }
}

TEST(Half, RoundsToNearestTiesToEven) {
  for (uint32_t i = 0; i < 0x7bff; ++i) {
    const double low = half_value(static_cast<uint16_t>(i));
    const double high = half_value(static_cast<uint16_t>(i + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    EXPECT_EQ(Half(middle).bits, i + (i & 1));
    EXPECT_EQ(Half(std::nextafter(middle, 1e9f)).bits, i + 1);
    EXPECT_EQ(Half(std::nextafter(middle, -1.0f)).bits, i);
  }
  EXPECT_EQ(Half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
}

TEST(BFloat16, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    BFloat16 b;
    b.bits = static_cast<uint16_t>(i);
    const float f = b;
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(f))));
    } else {
      EXPECT_EQ(BFloat16(f).bits, i);
    }
  }
}

TEST(BFloat16, RoundsToNearestTiesToEven) {
  const auto from_bits = [](uint32_t u) {
    return BFloat16(std::bit_cast<float>(u)).bits;
  };
  EXPECT_EQ(from_bits(0x3f808000), 0x3f80);
  EXPECT_EQ(from_bits(0x3f818000), 0x3f82);
  EXPECT_EQ(from_bits(0x3f808001), 0x3f81);
  EXPECT_EQ(from_bits(0x3f807fff), 0x3f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(from_bits(0x7f800001) & 0x7f, 0x40) << "a NaN stays one";
}

}  // namespace
}  // namespace sy
