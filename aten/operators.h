#pragma once

#include "aten/scalar_tensor.h"
#include "aten/tensor.h"

// C++ operators on tensors and numbers, as in ATen. a == b and the other
// comparisons give a tensor of bools.

namespace sy {

inline Tensor operator-(const Tensor& a) { return a.neg(); }
inline Tensor operator~(const Tensor& a) { return a.bitwise_not(); }
inline Tensor operator!(const Tensor& a) { return a.logical_not(); }

inline Tensor operator+(const Tensor& a, const Tensor& b) { return a.add(b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return a.add(b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return b.add(a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return a.sub(b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return a.sub(b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) {
  return wrapped_scalar_tensor(a).sub(b);
}
inline Tensor operator*(const Tensor& a, const Tensor& b) { return a.mul(b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return a.mul(b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return b.mul(a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return a.div(b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return a.div(b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) {
  return wrapped_scalar_tensor(a).div(b);
}
inline Tensor operator%(const Tensor& a, const Tensor& b) {
  return a.remainder(b);
}
inline Tensor operator%(const Tensor& a, const Scalar& b) {
  return a.remainder(b);
}
inline Tensor operator%(const Scalar& a, const Tensor& b) {
  return wrapped_scalar_tensor(a).remainder(b);
}

inline Tensor& operator+=(Tensor& a, const Tensor& b) {
  a.add_(b);
  return a;
}
inline Tensor& operator+=(Tensor& a, const Scalar& b) {
  a.add_(b);
  return a;
}
inline Tensor& operator-=(Tensor& a, const Tensor& b) {
  a.sub_(b);
  return a;
}
inline Tensor& operator-=(Tensor& a, const Scalar& b) {
  a.sub_(b);
  return a;
}
inline Tensor& operator*=(Tensor& a, const Tensor& b) {
  a.mul_(b);
  return a;
}
inline Tensor& operator*=(Tensor& a, const Scalar& b) {
  a.mul_(b);
  return a;
}
inline Tensor& operator/=(Tensor& a, const Tensor& b) {
  a.div_(b);
  return a;
}
inline Tensor& operator/=(Tensor& a, const Scalar& b) {
  a.div_(b);
  return a;
}

inline Tensor operator&(const Tensor& a, const Tensor& b) {
  return a.bitwise_and(b);
}
inline Tensor operator&(const Tensor& a, const Scalar& b) {
  return a.bitwise_and(b);
}
inline Tensor operator&(const Scalar& a, const Tensor& b) {
  return b.bitwise_and(a);
}
inline Tensor operator|(const Tensor& a, const Tensor& b) {
  return a.bitwise_or(b);
}
inline Tensor operator|(const Tensor& a, const Scalar& b) {
  return a.bitwise_or(b);
}
inline Tensor operator|(const Scalar& a, const Tensor& b) {
  return b.bitwise_or(a);
}
inline Tensor operator^(const Tensor& a, const Tensor& b) {
  return a.bitwise_xor(b);
}
inline Tensor operator^(const Tensor& a, const Scalar& b) {
  return a.bitwise_xor(b);
}
inline Tensor operator^(const Scalar& a, const Tensor& b) {
  return b.bitwise_xor(a);
}

inline Tensor operator==(const Tensor& a, const Tensor& b) { return a.eq(b); }
inline Tensor operator==(const Tensor& a, const Scalar& b) { return a.eq(b); }
inline Tensor operator==(const Scalar& a, const Tensor& b) { return b.eq(a); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return a.ne(b); }
inline Tensor operator!=(const Tensor& a, const Scalar& b) { return a.ne(b); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return b.ne(a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return a.lt(b); }
inline Tensor operator<(const Tensor& a, const Scalar& b) { return a.lt(b); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return b.gt(a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return a.le(b); }
inline Tensor operator<=(const Tensor& a, const Scalar& b) { return a.le(b); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return b.ge(a); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return a.gt(b); }
inline Tensor operator>(const Tensor& a, const Scalar& b) { return a.gt(b); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return b.lt(a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return a.ge(b); }
inline Tensor operator>=(const Tensor& a, const Scalar& b) { return a.ge(b); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return b.le(a); }

}  // namespace sy
