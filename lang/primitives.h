#pragma once

#include <cstdint>
#include <string_view>

// The primitives that element programs are made of. This is the one table: the
// compiler of expressions (lang) takes names and types from it, and the
// CPU (backends/cpu/program) implements its entries.
//
// X(name, type, domain)
//   type    T_T  (T) -> T        TT_T  (T, T) -> T       TTT_T (T, T, T) -> T
//           T_B  (T) -> bool     TT_B  (T, T) -> bool
//           B_B  (bool) -> bool  BB_B  (bool, bool) -> bool
//           BTT_T (bool, T, T) -> T                      B_T   (bool) -> T
//   domain  ALL  every compute dtype (bool counts as an integer type)
//           NUM  every compute dtype but bool
//           INT  integer dtypes and bool      FLT  float32 and float64
// T is the compute dtype of the program. A bool register holds one byte, 0 or
// 1, per element. Integers wrap around.
#define SY_FORALL_PRIMITIVES(X) \
  X(copy, T_T, ALL)             \
  X(neg, T_T, NUM)              \
  X(abs, T_T, ALL)              \
  X(sign, T_T, ALL)             \
  X(square, T_T, ALL)           \
  X(reciprocal, T_T, FLT)       \
  X(sqrt, T_T, FLT)             \
  X(rsqrt, T_T, FLT)            \
  X(exp, T_T, FLT)              \
  X(exp2, T_T, FLT)             \
  X(expm1, T_T, FLT)            \
  X(log, T_T, FLT)              \
  X(log2, T_T, FLT)             \
  X(log10, T_T, FLT)            \
  X(log1p, T_T, FLT)            \
  X(sin, T_T, FLT)              \
  X(cos, T_T, FLT)              \
  X(tan, T_T, FLT)              \
  X(asin, T_T, FLT)             \
  X(acos, T_T, FLT)             \
  X(atan, T_T, FLT)             \
  X(sinh, T_T, FLT)             \
  X(cosh, T_T, FLT)             \
  X(tanh, T_T, FLT)             \
  X(asinh, T_T, FLT)            \
  X(acosh, T_T, FLT)            \
  X(atanh, T_T, FLT)            \
  X(sigmoid, T_T, FLT)          \
  X(erf, T_T, FLT)              \
  X(erfc, T_T, FLT)             \
  X(erfinv, T_T, FLT)           \
  X(lgamma, T_T, FLT)           \
  X(digamma, T_T, FLT)          \
  X(i0, T_T, FLT)               \
  X(i0e, T_T, FLT)              \
  X(i1, T_T, FLT)               \
  X(i1e, T_T, FLT)              \
  X(bessel_j0, T_T, FLT)        \
  X(bessel_j1, T_T, FLT)        \
  X(bessel_y0, T_T, FLT)        \
  X(bessel_y1, T_T, FLT)        \
  X(bessel_k0, T_T, FLT)        \
  X(bessel_k0e, T_T, FLT)       \
  X(bessel_k1, T_T, FLT)        \
  X(bessel_k1e, T_T, FLT)       \
  X(airy_ai, T_T, FLT)          \
  X(erfcx, T_T, FLT)            \
  X(ndtri, T_T, FLT)            \
  X(floor, T_T, ALL)            \
  X(ceil, T_T, ALL)             \
  X(round, T_T, ALL)            \
  X(trunc, T_T, ALL)            \
  X(frac, T_T, FLT)             \
  X(bitwise_not, T_T, INT)      \
  X(add, TT_T, ALL)             \
  X(sub, TT_T, ALL)             \
  X(mul, TT_T, ALL)             \
  X(div, TT_T, FLT)             \
  X(trunc_div, TT_T, ALL)       \
  X(floor_div, TT_T, ALL)       \
  X(fmod, TT_T, ALL)            \
  X(remainder, TT_T, ALL)       \
  X(pow, TT_T, ALL)             \
  X(atan2, TT_T, FLT)           \
  X(hypot, TT_T, FLT)           \
  X(copysign, TT_T, FLT)        \
  X(nextafter, TT_T, FLT)       \
  X(maximum, TT_T, ALL)         \
  X(minimum, TT_T, ALL)         \
  X(fmax, TT_T, ALL)            \
  X(fmin, TT_T, ALL)            \
  X(xlogy, TT_T, FLT)           \
  X(zeta, TT_T, FLT)            \
  X(polygamma, TT_T, FLT)       \
  X(igamma, TT_T, FLT)          \
  X(igammac, TT_T, FLT)         \
  X(chebyshev_t, TT_T, FLT)     \
  X(chebyshev_u, TT_T, FLT)     \
  X(chebyshev_v, TT_T, FLT)     \
  X(chebyshev_w, TT_T, FLT)     \
  X(hermite_h, TT_T, FLT)       \
  X(hermite_he, TT_T, FLT)      \
  X(laguerre_l, TT_T, FLT)      \
  X(legendre_p, TT_T, FLT)      \
  X(bitwise_and, TT_T, INT)     \
  X(bitwise_or, TT_T, INT)      \
  X(bitwise_xor, TT_T, INT)     \
  X(shift_left, TT_T, INT)      \
  X(shift_right, TT_T, INT)     \
  X(gcd, TT_T, INT)             \
  X(lcm, TT_T, INT)             \
  X(fma, TTT_T, ALL)            \
  X(clamp, TTT_T, ALL)          \
  X(lerp, TTT_T, FLT)           \
  X(eq, TT_B, ALL)              \
  X(ne, TT_B, ALL)              \
  X(lt, TT_B, ALL)              \
  X(le, TT_B, ALL)              \
  X(gt, TT_B, ALL)              \
  X(ge, TT_B, ALL)              \
  X(isnan, T_B, ALL)            \
  X(isinf, T_B, ALL)            \
  X(isfinite, T_B, ALL)         \
  X(signbit, T_B, ALL)          \
  X(truth, T_B, ALL)            \
  X(logical_not, B_B, ALL)      \
  X(logical_and, BB_B, ALL)     \
  X(logical_or, BB_B, ALL)      \
  X(logical_xor, BB_B, ALL)     \
  X(select, BTT_T, ALL)         \
  X(from_bool, B_T, ALL)

// fma(a, b, c) = a * b + c, with one rounding for floats. clamp(x, lo, hi) =
// minimum(maximum(x, lo), hi). maximum and minimum propagate NaN; fmax and fmin
// drop it. trunc_div and floor_div of floats divide and round; of integers they
// throw ZeroDivision through the runner's error flag. pow of integers is exact
// modulo 2^n; negative exponents give 0, 1 or -1. remainder has the sign of the
// divisor, fmod that of the dividend. xlogy(0, y) = 0 unless y is NaN. The
// primitives from i0 to ndtri and from zeta to legendre_p are the functions of
// lang/special/functions.h.

namespace sy::lang {

enum class Prim : uint8_t {
#define SY_PRIM_ENUM(name, type, domain) name,
  SY_FORALL_PRIMITIVES(SY_PRIM_ENUM)
#undef SY_PRIM_ENUM
      kCount
};

enum class PrimType : uint8_t {
  T_T,
  TT_T,
  TTT_T,
  T_B,
  TT_B,
  B_B,
  BB_B,
  BTT_T,
  B_T
};

enum class PrimDomain : uint8_t { ALL, NUM, INT, FLT };

struct PrimInfo {
  std::string_view name;
  PrimType type;
  PrimDomain domain;
};

inline constexpr PrimInfo kPrims[] = {
#define SY_PRIM_INFO(name, type, domain) \
  {#name, PrimType::type, PrimDomain::domain},
    SY_FORALL_PRIMITIVES(SY_PRIM_INFO)
#undef SY_PRIM_INFO
};

// How many operands a primitive of this type takes.
constexpr int arity(PrimType t) {
  switch (t) {
    case PrimType::T_T:
    case PrimType::T_B:
    case PrimType::B_B:
    case PrimType::B_T: return 1;
    case PrimType::TT_T:
    case PrimType::TT_B:
    case PrimType::BB_B: return 2;
    default: return 3;
  }
}

}  // namespace sy::lang
