#pragma once

#include <gtest/gtest.h>
#include <sy/sy.h>

// Tensors for compiled callables, and what two runs must have in common.

namespace sy::test {

// Whether sizes stand in front of blocks of malloc, as glibc has it.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kKnowsBlocks = false;
#else
inline constexpr bool kKnowsBlocks = true;
#endif

inline Tensor sample(IntArrayRef sizes, double first = 0) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return ((arange(n, TensorOptions(kFloat)) * 0.37 + first).sin() * 3)
      .view(sizes);
}

inline void expect_same(const Tensor& got, const Tensor& want,
                        double tolerance = 1e-5) {
  ASSERT_EQ(got.defined(), want.defined());
  if (!got.defined()) return;
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.strides(), want.strides());
  ASSERT_EQ(got.scalar_type(), want.scalar_type());
  EXPECT_TRUE(allclose(got.to(kDouble), want.to(kDouble), tolerance,
                       tolerance / 2, true))
      << got << want;
}

}  // namespace sy::test
