#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cpu/tiles/kernels.h"

// The results that the primitives of element programs should give, one element
// at a time in plain C++: the oracle of the tests.

namespace sy::cpu::tiles::testing {

template <class T>
T wrap(uint64_t x) {
  return static_cast<T>(x);
}

template <class T>
T exact_float(lang::Prim prim, T a, T b, T c) {
  using lang::Prim;
  const bool a_nan = a != a, b_nan = b != b;
  switch (prim) {
    case Prim::copy: return a;
    case Prim::neg: return -a;
    case Prim::abs: return std::fabs(a);
    case Prim::sign: return a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
    case Prim::square: return a * a;
    case Prim::reciprocal: return 1 / a;
    case Prim::sqrt: return std::sqrt(a);
    case Prim::rsqrt: return 1 / std::sqrt(a);
    case Prim::floor: return std::floor(a);
    case Prim::ceil: return std::ceil(a);
    case Prim::round: return std::nearbyint(a);
    case Prim::trunc: return std::trunc(a);
    case Prim::frac: return a - std::trunc(a);
    case Prim::add: return a + b;
    case Prim::sub: return a - b;
    case Prim::mul: return a * b;
    case Prim::div: return a / b;
    case Prim::trunc_div: return std::trunc(a / b);
    case Prim::floor_div: {
      if (b == 0) return a / b;
      const T m = std::fmod(a, b);
      T q = (a - m) / b;
      if (m != 0 && (b < 0) != (m < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), a / b);
      const T f = std::floor(q);
      return q - f > T(0.5) ? f + 1 : f;
    }
    case Prim::fmod: return std::fmod(a, b);
    case Prim::remainder: {
      const T m = std::fmod(a, b);
      return m != 0 && (b < 0) != (m < 0) ? m + b : m;
    }
    case Prim::copysign: return std::copysign(a, b);
    case Prim::nextafter: return std::nextafter(a, b);
    case Prim::maximum: return a_nan ? a : b_nan ? b : a > b ? a : b;
    case Prim::minimum: return a_nan ? a : b_nan ? b : a < b ? a : b;
    case Prim::fmax: return a_nan ? b : b_nan ? a : a > b ? a : b;
    case Prim::fmin: return a_nan ? b : b_nan ? a : a < b ? a : b;
    case Prim::fma: return std::fma(a, b, c);
    case Prim::clamp:
      return exact_float(Prim::minimum, exact_float(Prim::maximum, a, b, c), c,
                         c);
    case Prim::lerp:
      return std::fabs(c) < T(0.5) ? a + c * (b - a) : b - (b - a) * (1 - c);
    case Prim::isnan: return a_nan;
    case Prim::isinf: return std::isinf(a);
    case Prim::isfinite: return std::isfinite(a);
    case Prim::signbit: return std::signbit(a);
    default: return std::numeric_limits<T>::quiet_NaN();
  }
}

template <class T>
T exact_integer(lang::Prim prim, T a, T b, T c) {
  using lang::Prim;
  const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const uint64_t z = static_cast<uint64_t>(c);
  constexpr int kBits = 8 * sizeof(T);
  // 128 bits hold every quotient, that of the least number by -1 too.
  const __int128 p = a, q = b;
  const auto floored = [&] {
    const __int128 t = p / q;
    return p % q != 0 && (p < 0) != (q < 0) ? t - 1 : t;
  };
  const auto magnitude = [](__int128 v) { return v < 0 ? -v : v; };
  const auto gcd = [&] {
    __int128 m = magnitude(p), n = magnitude(q);
    while (n != 0) {
      const __int128 r = m % n;
      m = n;
      n = r;
    }
    return m;
  };
  switch (prim) {
    case Prim::copy:
    case Prim::floor:
    case Prim::ceil:
    case Prim::round:
    case Prim::trunc: return a;
    case Prim::neg: return wrap<T>(0 - x);
    case Prim::abs: return a < 0 ? wrap<T>(0 - x) : a;
    case Prim::sign: return a > 0 ? T(1) : a < 0 ? wrap<T>(~uint64_t{0}) : T(0);
    case Prim::square: return wrap<T>(x * x);
    case Prim::bitwise_not: return wrap<T>(~x);
    case Prim::add: return wrap<T>(x + y);
    case Prim::sub: return wrap<T>(x - y);
    case Prim::mul: return wrap<T>(x * y);
    case Prim::trunc_div: return q == 0 ? T(0) : static_cast<T>(p / q);
    case Prim::floor_div: return q == 0 ? T(0) : static_cast<T>(floored());
    case Prim::fmod: return q == 0 ? T(0) : static_cast<T>(p % q);
    case Prim::remainder:
      return q == 0 ? T(0) : static_cast<T>(p - floored() * q);
    case Prim::pow: {
      if (b < 0) {
        if (a == 1) return 1;
        if (std::is_signed_v<T> && a == wrap<T>(~uint64_t{0})) {
          return (b & 1) ? a : T(1);
        }
        return 0;
      }
      uint64_t r = 1, s = x;
      for (uint64_t e = y; e != 0; e >>= 1, s *= s) {
        if (e & 1) r *= s;
      }
      return wrap<T>(r);
    }
    case Prim::maximum:
    case Prim::fmax: return a > b ? a : b;
    case Prim::minimum:
    case Prim::fmin: return a < b ? a : b;
    case Prim::bitwise_and: return wrap<T>(x & y);
    case Prim::bitwise_or: return wrap<T>(x | y);
    case Prim::bitwise_xor: return wrap<T>(x ^ y);
    case Prim::shift_left: return q < 0 || q >= kBits ? T(0) : wrap<T>(x << y);
    case Prim::shift_right: {
      const bool out = q < 0 || q >= kBits;
      return out ? (a < 0 ? wrap<T>(~uint64_t{0}) : T(0))
                 : static_cast<T>(a >> b);
    }
    case Prim::gcd: return wrap<T>(static_cast<uint64_t>(gcd()));
    case Prim::lcm:
      return gcd() == 0 ? T(0)
                        : wrap<T>(static_cast<uint64_t>(magnitude(p) / gcd()) *
                                  static_cast<uint64_t>(magnitude(q)));
    case Prim::fma: return wrap<T>(x * y + z);
    case Prim::clamp: {
      const T low = a > b ? a : b;
      return low < c ? low : c;
    }
    case Prim::isnan:
    case Prim::isinf: return 0;
    case Prim::isfinite: return 1;
    case Prim::signbit: return a < 0;
    default: return 0;
  }
}

// The primitives that round once or not at all: results must be equal.
template <class T>
T exact_reference(lang::Prim prim, T a, T b, T c) {
  using lang::Prim;
  switch (prim) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    case Prim::ge: return a >= b;
    case Prim::truth: return a != 0;
    case Prim::logical_not: return a == 0;
    case Prim::logical_and: return a != 0 && b != 0;
    case Prim::logical_or: return a != 0 || b != 0;
    case Prim::logical_xor: return (a != 0) != (b != 0);
    case Prim::select: return a != 0 ? b : c;
    case Prim::from_bool: return a != 0;
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    return exact_float(prim, a, b, c);
  } else {
    return exact_integer(prim, a, b, c);
  }
}
// Bools: as integers, and what is not 0 is 1.
inline uint8_t exact_bool(lang::Prim prim, uint8_t a, uint8_t b, uint8_t c) {
  if (prim == lang::Prim::bitwise_not) return a == 0;
  return exact_reference<int32_t>(prim, a, b, c) != 0;
}

// The arity of a primitive, and which of its operands and results are bools.
struct Signature {
  int arity;
  bool bool_operand[3];
  bool bool_result;
};
inline Signature signature(lang::Prim prim) {
  using lang::PrimType;
  const PrimType t = lang::kPrims[static_cast<int>(prim)].type;
  Signature s{lang::arity(t), {}, false};
  s.bool_operand[0] = t == PrimType::B_B || t == PrimType::BB_B ||
                      t == PrimType::BTT_T || t == PrimType::B_T;
  s.bool_operand[1] = t == PrimType::BB_B;
  s.bool_result = t == PrimType::T_B || t == PrimType::TT_B ||
                  t == PrimType::B_B || t == PrimType::BB_B;
  return s;
}

// Runs a test body once for each instruction set of this machine.
template <class Body>
void for_each_isa(Body body) {
  const Isa before = active_isa();
  for (Isa isa : {Isa::sse4, Isa::avx2, Isa::avx512}) {
    if (set_isa(isa)) body(isa);
  }
  set_isa(before);
}

// A small generator of the tests' own: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

}  // namespace sy::cpu::tiles::testing
