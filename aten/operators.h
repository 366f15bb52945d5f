#pragma once

#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/scalar_tensor.h"
#include "aten/tensor.h"

// The operators of C++ on tensors and numbers, as ATen has them: a == b and its
// kin give a tensor of bools.

namespace sy {

inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) {
  return sub(wrapped_scalar_tensor(a), b);
}
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return div(a, b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) {
  return div(wrapped_scalar_tensor(a), b);
}
inline Tensor operator%(const Tensor& a, const Tensor& b) {
  return remainder(a, b);
}
inline Tensor operator%(const Tensor& a, const Scalar& b) {
  return remainder(a, b);
}
inline Tensor operator%(const Scalar& a, const Tensor& b) {
  return remainder(wrapped_scalar_tensor(a), b);
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
  return bitwise_and(a, b);
}
inline Tensor operator&(const Tensor& a, const Scalar& b) {
  return bitwise_and(a, b);
}
inline Tensor operator&(const Scalar& a, const Tensor& b) {
  return bitwise_and(b, a);
}
inline Tensor operator|(const Tensor& a, const Tensor& b) {
  return bitwise_or(a, b);
}
inline Tensor operator|(const Tensor& a, const Scalar& b) {
  return bitwise_or(a, b);
}
inline Tensor operator|(const Scalar& a, const Tensor& b) {
  return bitwise_or(b, a);
}
inline Tensor operator^(const Tensor& a, const Tensor& b) {
  return bitwise_xor(a, b);
}
inline Tensor operator^(const Tensor& a, const Scalar& b) {
  return bitwise_xor(a, b);
}
inline Tensor operator^(const Scalar& a, const Tensor& b) {
  return bitwise_xor(b, a);
}

inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator==(const Tensor& a, const Scalar& b) { return eq(a, b); }
inline Tensor operator==(const Scalar& a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator!=(const Tensor& a, const Scalar& b) { return ne(a, b); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<(const Tensor& a, const Scalar& b) { return lt(a, b); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator<=(const Tensor& a, const Scalar& b) { return le(a, b); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return ge(b, a); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>(const Tensor& a, const Scalar& b) { return gt(a, b); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator>=(const Tensor& a, const Scalar& b) { return ge(a, b); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return le(b, a); }

}  // namespace sy
