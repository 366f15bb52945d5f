#pragma once

#include <gtest/gtest.h>
#include <sy/lazy.h>
#include <sy/sy.h>

// The device, and tensors for it.

namespace sy {

inline const Device& lazy_device() {
  static const Device device = [] {
    load_library("lazy").keep();
    return Device("lazy");
  }();
  return device;
}
inline TensorOptions on_lazy(ScalarType t = kFloat) {
  return TensorOptions(t).device(lazy_device());
}
// A tensor on the CPU.
inline Tensor sample(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return ((arange(n, TensorOptions(kFloat)) * 0.37).sin() * 3).view(sizes);
}
inline void expect_same(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.sizes(), want.sizes());
  ASSERT_EQ(got.scalar_type(), want.scalar_type());
  EXPECT_TRUE(allclose(got.to(kCPU), want.to(kCPU), 1e-5, 1e-5))
      << got.to(kCPU) << want.to(kCPU);
}

}  // namespace sy
