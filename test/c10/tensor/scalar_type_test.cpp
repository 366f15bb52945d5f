#include "c10/tensor/scalar_type.h"

#include <gtest/gtest.h>

#include "test/c10/expect_error.h"

namespace sy {
namespace {

TEST(ScalarType, ParsesEveryNameItPrints) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    const auto t = static_cast<ScalarType>(i);
    EXPECT_EQ(parse_scalar_type(dtype_name(t)), t) << dtype_name(t);
    EXPECT_EQ(parse_scalar_type(kScalarTypeInfo[i].enum_name), t);
  }
  EXPECT_EQ(parse_scalar_type("float"), kFloat);
  EXPECT_EQ(parse_scalar_type("long"), kLong);
  EXPECT_EQ(parse_scalar_type("bfloat16"), kBFloat16);
}

TEST(ScalarType, ParsesNothingElse) {
  for (const char* name :
       {"", "undefined", "Undefined", "float3", "complex64", "float32 "}) {
    EXPECT_FALSE(parse_scalar_type(name).has_value()) << name;
  }
}

TEST(ScalarType, SizesAreThoseOfTheCppTypes) {
#define SY_SIZE(cpp, Enum)                                \
  EXPECT_EQ(element_size(ScalarType::Enum), sizeof(cpp)); \
  EXPECT_EQ(CppTypeToScalarType<cpp>::value, ScalarType::Enum);
  SY_FORALL_SCALAR_TYPES(SY_SIZE)
#undef SY_SIZE
}

TEST(ScalarType, PromotionIsSymmetricAndHoldsBoth) {
  for (int i = 0; i < kNumScalarTypes; ++i) {
    for (int j = 0; j < kNumScalarTypes; ++j) {
      const auto a = static_cast<ScalarType>(i);
      const auto b = static_cast<ScalarType>(j);
      const ScalarType p = promote_types(a, b);
      EXPECT_EQ(p, promote_types(b, a));
      EXPECT_TRUE(can_cast(a, p) && can_cast(b, p));
      EXPECT_EQ(promote_types(p, a), p);
    }
  }
  EXPECT_EQ(promote_types(kByte, kChar), kShort);
  EXPECT_EQ(promote_types(kHalf, kBFloat16), kFloat);
  EXPECT_EQ(promote_types(kLong, kHalf), kHalf);
  EXPECT_EQ(promote_types(kLong, ScalarType::Undefined), ScalarType::Undefined);
}

TEST(ScalarType, CastsDownwardInCategoryAreRefused) {
  EXPECT_FALSE(can_cast(kFloat, kLong));
  EXPECT_FALSE(can_cast(kLong, kBool));
  EXPECT_TRUE(can_cast(kDouble, kHalf));
}

TEST(ScalarType, DefaultDtypeIsFloatUnlessSet) {
  EXPECT_EQ(default_dtype(), kFloat);
  set_default_dtype(kDouble);
  EXPECT_EQ(default_dtype(), kDouble);
  SY_EXPECT_ERROR(
      set_default_dtype(kLong), TypeError,
      "[set_default_dtype] dtype: expected a floating type, got int64");
  SY_EXPECT_ERROR(set_default_dtype(ScalarType::Undefined), TypeError,
                  "got undefined");
  SY_EXPECT_ERROR(set_default_dtype(static_cast<ScalarType>(77)), TypeError,
                  "got no dtype");
  EXPECT_EQ(default_dtype(), kDouble);
  set_default_dtype(kFloat);
}

}  // namespace
}  // namespace sy
