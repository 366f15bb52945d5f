#include "c10/tensor/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/c10/expect_error.h"

namespace sy {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Scalar, KeepsTheKindOfNumber) {
  EXPECT_EQ(Scalar(true).type(), kBool);
  EXPECT_EQ(Scalar(3).type(), kLong);
  EXPECT_EQ(Scalar(3.f).type(), kDouble);
  EXPECT_EQ(Scalar(Half(0.5f)).to_double(), 0.5);
  EXPECT_TRUE(Scalar(true).is_integral(true));
  EXPECT_FALSE(Scalar(true).is_integral(false));
}

TEST(Scalar, ConvertsWhatFits) {
  EXPECT_EQ(Scalar(-2.9).to<int>(), -2);
  EXPECT_EQ(Scalar(-1).to<uint8_t>(), 255) << "wraps, as in ATen";
  EXPECT_EQ(Scalar(127).to<int8_t>(), 127);
  EXPECT_EQ(Scalar(kMin).to<int64_t>(), kMin);
  EXPECT_EQ(Scalar(-0x1p63).to<int64_t>(), kMin);
  EXPECT_TRUE(Scalar(0.1).to<bool>());
  EXPECT_EQ(Scalar(kInf).to<float>(), static_cast<float>(kInf));
  EXPECT_TRUE(std::isnan(Scalar(std::nan("")).to<float>()));
  EXPECT_EQ(Scalar(65504.0).to<Half>().bits, 0x7bff);
}

TEST(Scalar, RefusesWhatDoesNotFit) {
  SY_EXPECT_ERROR(Scalar(128).to<int8_t>(), ValueError,
                  "Scalar: value 128 does not fit into int8");
  SY_EXPECT_ERROR(Scalar(-129).to<int8_t>(), ValueError, "int8");
  SY_EXPECT_ERROR(Scalar(256).to<uint8_t>(), ValueError, "uint8");
  SY_EXPECT_ERROR(Scalar(-256).to<uint8_t>(), ValueError, "uint8");
  SY_EXPECT_ERROR(Scalar(0x1p63).to<int64_t>(), ValueError,
                  "Scalar: value 9.223372036854776e+18 does not fit");
  SY_EXPECT_ERROR(Scalar(std::nan("")).toLong(), ValueError,
                  "value nan does not fit into int64");
  SY_EXPECT_ERROR(Scalar(1e39).toFloat(), ValueError, "float32");
  SY_EXPECT_ERROR(Scalar(-1e5).to<Half>(), ValueError, "float16");
}

TEST(Scalar, ToLongGivesTheNearest) {
  EXPECT_EQ(Scalar(1e300).to_long(), kMax);
  EXPECT_EQ(Scalar(-kInf).to_long(), kMin);
  EXPECT_EQ(Scalar(std::nan("")).to_long(), 0);
}

TEST(Scalar, ComparesByValue) {
  EXPECT_TRUE(Scalar(1).equal(1.0));
  EXPECT_TRUE(Scalar(true).equal(1));
  EXPECT_FALSE(Scalar(1).equal(1.5));
  EXPECT_FALSE(Scalar(kMax).equal(kMax - 1));
}

TEST(Scalar, Negates) {
  EXPECT_EQ((-Scalar(3)).to_long(), -3);
  EXPECT_EQ((-Scalar(kMin)).to_long(), kMin);
  EXPECT_EQ((-Scalar(0.5)).to_double(), -0.5);
  SY_EXPECT_ERROR(-Scalar(true), TypeError, "a bool cannot be negated");
}

TEST(Scalar, PrintsAsPyTorchDoes) {
  EXPECT_EQ(to_string(Scalar(true)), "True");
  EXPECT_EQ(to_string(Scalar(-7)), "-7");
  EXPECT_EQ(to_string(Scalar(1.0)), "1.0");
  EXPECT_EQ(to_string(Scalar(-0.0)), "-0.0");
  EXPECT_EQ(to_string(Scalar(1.5)), "1.5");
  EXPECT_EQ(to_string(Scalar(0.0001)), "0.0001");
  EXPECT_EQ(to_string(Scalar(1e-5)), "1e-05");
  EXPECT_EQ(to_string(Scalar(123456.0)), "123456.0");
  EXPECT_EQ(to_string(Scalar(1e16)), "1e+16");
  EXPECT_EQ(to_string(Scalar(-kInf)), "-inf");
  EXPECT_EQ(to_string(Scalar(-std::nan(""))), "nan");
  EXPECT_EQ(to_string(Scalar(std::numeric_limits<double>::max())),
            "1.7976931348623157e+308");
}

}  // namespace
}  // namespace sy
