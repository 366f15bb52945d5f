#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/scalar_tensor.h"
#include "test/c10/expect_error.h"

namespace sy {
namespace {

Tensor vec(ScalarType t) { return ones({2}, t); }
Tensor zero_dim(ScalarType t) { return ones(IntArrayRef(), t); }

struct Row {
  ScalarType a, b, result;
};

TEST(Promotion, OfTensorsWithDims) {
  for (const Row& r : std::initializer_list<Row>{{kFloat, kFloat, kFloat},
                                                 {kByte, kChar, kShort},
                                                 {kByte, kShort, kShort},
                                                 {kInt, kLong, kLong},
                                                 {kHalf, kBFloat16, kFloat},
                                                 {kHalf, kLong, kHalf},
                                                 {kBFloat16, kFloat, kFloat},
                                                 {kFloat, kDouble, kDouble},
                                                 {kBool, kByte, kByte},
                                                 {kBool, kBool, kBool},
                                                 {kLong, kFloat, kFloat}}) {
    EXPECT_EQ(add(vec(r.a), vec(r.b)).dtype(), r.result)
        << dtype_name(r.a) << " and " << dtype_name(r.b);
    EXPECT_EQ(add(vec(r.b), vec(r.a)).dtype(), r.result);
  }
}

TEST(Promotion, TensorsWithoutDimsCountOnlyByCategory) {
  for (const Row& r : std::initializer_list<Row>{{kFloat, kDouble, kFloat},
                                                 {kChar, kLong, kChar},
                                                 {kHalf, kFloat, kHalf},
                                                 {kInt, kDouble, kDouble},
                                                 {kInt, kFloat, kFloat},
                                                 {kBool, kInt, kInt},
                                                 {kFloat, kLong, kFloat}}) {
    EXPECT_EQ(mul(vec(r.a), zero_dim(r.b)).dtype(), r.result)
        << dtype_name(r.a) << " and " << dtype_name(r.b);
    EXPECT_EQ(mul(zero_dim(r.b), vec(r.a)).dtype(), r.result);
  }
  EXPECT_EQ(mul(zero_dim(kFloat), zero_dim(kDouble)).dtype(), kDouble);
}

TEST(Promotion, NumbersCountLast) {
  EXPECT_EQ((vec(kInt) + 1).dtype(), kInt);
  EXPECT_EQ((vec(kInt) + 1.5).dtype(), kFloat);
  EXPECT_EQ((vec(kBool) + 1).dtype(), kLong);
  EXPECT_EQ((vec(kBool) + true).dtype(), kBool);
  EXPECT_EQ((vec(kHalf) * 2.0).dtype(), kHalf);
  EXPECT_EQ((zero_dim(kInt) * 2.5).dtype(), kFloat);
  EXPECT_EQ((zero_dim(kHalf) * 2.5).dtype(), kHalf);
  // Numbers made tensors rank as numbers do.
  EXPECT_EQ((vec(kHalf) * wrapped_scalar_tensor(2.5)).dtype(), kHalf);
  EXPECT_EQ((zero_dim(kInt) * wrapped_scalar_tensor(2.5)).dtype(), kFloat);
  EXPECT_EQ((wrapped_scalar_tensor(2.5) * wrapped_scalar_tensor(1)).dtype(),
            kFloat);
}

TEST(Promotion, OfOperatorsThatNeedFloats) {
  EXPECT_EQ(exp(vec(kInt)).dtype(), kFloat);
  EXPECT_EQ(exp(vec(kBool)).dtype(), kFloat);
  EXPECT_EQ(exp(vec(kHalf)).dtype(), kHalf);
  EXPECT_EQ(div(vec(kInt), vec(kInt)).dtype(), kFloat);
  EXPECT_EQ(div(vec(kLong), vec(kDouble)).dtype(), kDouble);
  EXPECT_EQ((vec(kLong) < vec(kFloat)).dtype(), kBool);
}

TEST(Promotion, NumbersThatDoNotPromoteMustFit) {
  SY_EXPECT_ERROR(add(vec(kLong), vec(kLong), 1.5), TypeError,
                  "[add.Tensor] alpha: expected an integer for dtype int64, "
                  "got 1.5");
  EXPECT_EQ(add(vec(kFloat), vec(kLong), 1.5).dtype(), kFloat);
}

}  // namespace
}  // namespace sy
