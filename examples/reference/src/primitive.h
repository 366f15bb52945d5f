#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "aten/program/evaluate.h"
#include "elements.h"
#include "lang/primitives.h"

// The meaning of the primitives of element programs, for one element.

namespace reference {

using sy::lang::Prim;

// The content of a register: a number, or a truth value.
template <class T>
struct Register {
  T v{};
  bool b = false;
};

// Integers wrap around.
template <class T, class F>
T wrapping(T a, T b, const F& f) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(
        f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  } else {
    return f(a, b);
  }
}
template <class T>
T add(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x + y; });
}
template <class T>
T sub(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x - y; });
}
template <class T>
T mul(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x * y; });
}
template <class T>
bool is_nan(T v) {
  return v != v;
}
template <class T>
T maximum(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}
template <class T>
T minimum(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}

// The primitives that only floats have.
template <class T>
bool floating(Prim p, T a, T b, T c, T* out) {
  switch (p) {
    case Prim::reciprocal: *out = 1 / a; return true;
    case Prim::sqrt: *out = std::sqrt(a); return true;
    case Prim::rsqrt: *out = 1 / std::sqrt(a); return true;
    case Prim::exp: *out = std::exp(a); return true;
    case Prim::exp2: *out = std::exp2(a); return true;
    case Prim::expm1: *out = std::expm1(a); return true;
    case Prim::log: *out = std::log(a); return true;
    case Prim::log2: *out = std::log2(a); return true;
    case Prim::log10: *out = std::log10(a); return true;
    case Prim::log1p: *out = std::log1p(a); return true;
    case Prim::sin: *out = std::sin(a); return true;
    case Prim::cos: *out = std::cos(a); return true;
    case Prim::tan: *out = std::tan(a); return true;
    case Prim::asin: *out = std::asin(a); return true;
    case Prim::acos: *out = std::acos(a); return true;
    case Prim::atan: *out = std::atan(a); return true;
    case Prim::sinh: *out = std::sinh(a); return true;
    case Prim::cosh: *out = std::cosh(a); return true;
    case Prim::tanh: *out = std::tanh(a); return true;
    case Prim::asinh: *out = std::asinh(a); return true;
    case Prim::acosh: *out = std::acosh(a); return true;
    case Prim::atanh: *out = std::atanh(a); return true;
    case Prim::sigmoid: *out = 1 / (1 + std::exp(-a)); return true;
    case Prim::erf: *out = std::erf(a); return true;
    case Prim::erfc: *out = std::erfc(a); return true;
    case Prim::floor: *out = std::floor(a); return true;
    case Prim::ceil: *out = std::ceil(a); return true;
    case Prim::round: *out = std::nearbyint(a); return true;
    case Prim::trunc: *out = std::trunc(a); return true;
    case Prim::frac: *out = a - std::trunc(a); return true;
    case Prim::div: *out = a / b; return true;
    case Prim::trunc_div: *out = std::trunc(a / b); return true;
    case Prim::fmod: *out = std::fmod(a, b); return true;
    case Prim::pow: *out = std::pow(a, b); return true;
    case Prim::atan2: *out = std::atan2(a, b); return true;
    case Prim::hypot: *out = std::hypot(a, b); return true;
    case Prim::copysign: *out = std::copysign(a, b); return true;
    case Prim::nextafter: *out = std::nextafter(a, b); return true;
    case Prim::fma: *out = std::fma(a, b, c); return true;
    default: return false;
  }
}

// The primitives of numbers. The library evaluates special functions, and what
// integers do otherwise than floats.
template <class T>
T number(Prim p, T a, T b, T c) {
  switch (p) {
    case Prim::copy: return a;
    case Prim::maximum: return maximum(a, b);
    case Prim::minimum: return minimum(a, b);
    case Prim::clamp: return minimum(maximum(a, b), c);
    default: break;
  }
  if constexpr (!std::is_same_v<T, bool>) {
    switch (p) {
      case Prim::neg: return sub(T(0), a);
      case Prim::abs: return a < 0 ? sub(T(0), a) : std::max(a, T(0));
      case Prim::sign: return static_cast<T>((a > 0) - (a < 0));
      case Prim::square: return mul(a, a);
      case Prim::add: return add(a, b);
      case Prim::sub: return sub(a, b);
      case Prim::mul: return mul(a, b);
      case Prim::fmax: return is_nan(a) ? b : is_nan(b) ? a : std::max(a, b);
      case Prim::fmin: return is_nan(a) ? b : is_nan(b) ? a : std::min(a, b);
      default: break;
    }
  }
  T out{};
  if constexpr (std::is_floating_point_v<T>) {
    if (p == Prim::neg) return -a;
    if (p == Prim::abs) return std::abs(a);
    if (floating(p, a, b, c, &out)) return out;
  }
  const auto held = [](T v) {
    sy::program::Uniform u = {};
    std::memcpy(&u, &v, sizeof v);
    return u;
  };
  const sy::program::Uniform result = sy::program::evaluate(
      p, sy::program::compute_type_of(sy::CppTypeToScalarType<T>::value),
      held(a), held(b), held(c));
  std::memcpy(&out, &result, sizeof out);
  return out;
}

template <class T>
bool truth(Prim p, T a, T b) {
  switch (p) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    case Prim::ge: return a >= b;
    case Prim::isnan: return is_nan(a);
    case Prim::truth: return a != T(0);
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (p == Prim::isinf) return std::isinf(a);
    if (p == Prim::isfinite) return std::isfinite(a);
    return std::signbit(a);
  } else {
    if (p == Prim::isinf) return false;
    return p == Prim::isfinite || a < T(0);
  }
}

template <class T>
Register<T> apply(Prim p, const Register<T>& a, const Register<T>& b,
                  const Register<T>& c) {
  using sy::lang::PrimType;
  switch (p) {
    case Prim::logical_not: return {{}, !a.b};
    case Prim::logical_and: return {{}, a.b && b.b};
    case Prim::logical_or: return {{}, a.b || b.b};
    case Prim::logical_xor: return {{}, a.b != b.b};
    case Prim::select: return {a.b ? b.v : c.v, false};
    case Prim::from_bool: return {static_cast<T>(a.b), false};
    default: break;
  }
  const PrimType type = sy::lang::kPrims[static_cast<int>(p)].type;
  if (type == PrimType::T_B || type == PrimType::TT_B) {
    return {{}, truth(p, a.v, b.v)};
  }
  return {number(p, a.v, b.v, c.v), false};
}

}  // namespace reference
