#include <bit>
#include <cmath>
#include <numeric>

#include "lang/program.h"
#include "lang/special/functions.h"

// The primitives on single numbers: for uniforms and as the reference.

namespace sy::lang {
namespace {

double round_even(double x) { return std::nearbyint(x); }

double remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double floor_div(double a, double b) {
  if (b == 0) return a / b;
  const double q = (a - std::fmod(a, b)) / b;
  const double whole = std::round(q);
  return std::fmod(a, b) != 0 && (std::fmod(a, b) < 0) != (b < 0) ? whole - 1
                                                                  : whole;
}

double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// Comparisons and logic.
double truth_of(Prim op, double a, double b, double c) {
  switch (op) {
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    case Prim::ge: return a >= b;
    case Prim::isnan: return std::isnan(a);
    case Prim::isinf: return std::isinf(a);
    case Prim::isfinite: return std::isfinite(a);
    case Prim::signbit: return std::signbit(a);
    case Prim::truth: return a != 0;
    case Prim::logical_not: return a == 0;
    case Prim::logical_and: return a != 0 && b != 0;
    case Prim::logical_or: return a != 0 || b != 0;
    case Prim::logical_xor: return (a != 0) != (b != 0);
    case Prim::select: return a != 0 ? b : c;
    case Prim::from_bool: return a;
    default: return std::nan("");  // the integer primitives
  }
}

// Functions of two and three numbers, then those of truth_of().
double on_several(Prim op, double a, double b, double c) {
  switch (op) {
    case Prim::add: return a + b;
    case Prim::sub: return a - b;
    case Prim::mul: return a * b;
    case Prim::div: return a / b;
    case Prim::trunc_div: return std::trunc(a / b);
    case Prim::floor_div: return floor_div(a, b);
    case Prim::fmod: return std::fmod(a, b);
    case Prim::remainder: return remainder(a, b);
    case Prim::pow: return std::pow(a, b);
    case Prim::atan2: return std::atan2(a, b);
    case Prim::hypot: return std::hypot(a, b);
    case Prim::copysign: return std::copysign(a, b);
    case Prim::nextafter: return std::nextafter(a, b);
    case Prim::maximum: return maximum(a, b);
    case Prim::minimum: return minimum(a, b);
    case Prim::fmax: return std::fmax(a, b);
    case Prim::fmin: return std::fmin(a, b);
    case Prim::xlogy: return std::isnan(b) ? b : a == 0 ? 0 : a * std::log(b);
    case Prim::zeta: return special::zeta(a, b);
    case Prim::polygamma: return special::polygamma(a, b);
    case Prim::igamma: return special::igamma(a, b);
    case Prim::igammac: return special::igammac(a, b);
    case Prim::chebyshev_t: return special::chebyshev_t(a, b);
    case Prim::chebyshev_u: return special::chebyshev_u(a, b);
    case Prim::chebyshev_v: return special::chebyshev_v(a, b);
    case Prim::chebyshev_w: return special::chebyshev_w(a, b);
    case Prim::hermite_h: return special::hermite_h(a, b);
    case Prim::hermite_he: return special::hermite_he(a, b);
    case Prim::laguerre_l: return special::laguerre_l(a, b);
    case Prim::legendre_p: return special::legendre_p(a, b);
    case Prim::fma: return std::fma(a, b, c);
    case Prim::clamp: return minimum(maximum(a, b), c);
    case Prim::lerp: return a + c * (b - a);
    default: return truth_of(op, a, b, c);
  }
}

double on_doubles(Prim op, double a, double b, double c) {
  switch (op) {
    case Prim::copy: return a;
    case Prim::neg: return -a;
    case Prim::abs: return std::fabs(a);
    case Prim::sign: return (a > 0) - (a < 0);
    case Prim::square: return a * a;
    case Prim::reciprocal: return 1 / a;
    case Prim::sqrt: return std::sqrt(a);
    case Prim::rsqrt: return 1 / std::sqrt(a);
    case Prim::exp: return std::exp(a);
    case Prim::exp2: return std::exp2(a);
    case Prim::expm1: return std::expm1(a);
    case Prim::log: return std::log(a);
    case Prim::log2: return std::log2(a);
    case Prim::log10: return std::log10(a);
    case Prim::log1p: return std::log1p(a);
    case Prim::sin: return std::sin(a);
    case Prim::cos: return std::cos(a);
    case Prim::tan: return std::tan(a);
    case Prim::asin: return std::asin(a);
    case Prim::acos: return std::acos(a);
    case Prim::atan: return std::atan(a);
    case Prim::sinh: return std::sinh(a);
    case Prim::cosh: return std::cosh(a);
    case Prim::tanh: return std::tanh(a);
    case Prim::asinh: return std::asinh(a);
    case Prim::acosh: return std::acosh(a);
    case Prim::atanh: return std::atanh(a);
    case Prim::sigmoid: return 1 / (1 + std::exp(-a));
    case Prim::erf: return std::erf(a);
    case Prim::erfc: return std::erfc(a);
    case Prim::erfinv: return special::erfinv(a);
    case Prim::lgamma: return std::lgamma(a);
    case Prim::digamma: return special::digamma(a);
    case Prim::i0: return special::i0(a);
    case Prim::i0e: return special::i0e(a);
    case Prim::i1: return special::i1(a);
    case Prim::i1e: return special::i1e(a);
    case Prim::bessel_j0: return special::bessel_j0(a);
    case Prim::bessel_j1: return special::bessel_j1(a);
    case Prim::bessel_y0: return special::bessel_y0(a);
    case Prim::bessel_y1: return special::bessel_y1(a);
    case Prim::bessel_k0: return special::k0(a);
    case Prim::bessel_k0e: return special::k0e(a);
    case Prim::bessel_k1: return special::k1(a);
    case Prim::bessel_k1e: return special::k1e(a);
    case Prim::airy_ai: return special::airy_ai(a);
    case Prim::erfcx: return special::erfcx(a);
    case Prim::ndtri: return special::ndtri(a);
    case Prim::floor: return std::floor(a);
    case Prim::ceil: return std::ceil(a);
    case Prim::round: return round_even(a);
    case Prim::trunc: return std::trunc(a);
    case Prim::frac: return a - std::trunc(a);
    default: return on_several(op, a, b, c);
  }
}

using I = std::int64_t;
using U = std::uint64_t;

I wrap(U v) { return static_cast<I>(v); }

I int_pow(I base, I exponent) {
  U result = 1;
  U factor = static_cast<U>(base);
  for (auto n = static_cast<U>(exponent); n != 0; n >>= 1) {
    if (n & 1) result *= factor;
    factor *= factor;
  }
  return wrap(result);
}

// Division by -1 is apart: it is the one quotient that can overflow.
I int_quotient(I a, I b) {
  if (b == 0) return 0;
  return b == -1 ? wrap(-static_cast<U>(a)) : a / b;
}
I int_remainder(I a, I b) { return b == 0 || b == -1 ? 0 : a % b; }

U magnitude(I v) { return v < 0 ? -static_cast<U>(v) : U(v); }

I on_ints(Prim op, I a, I b, I c) {
  switch (op) {
    case Prim::neg: return wrap(-static_cast<U>(a));
    case Prim::abs: return a < 0 ? wrap(-static_cast<U>(a)) : a;
    case Prim::sign: return (a > 0) - (a < 0);
    case Prim::square: return wrap(static_cast<U>(a) * static_cast<U>(a));
    case Prim::bitwise_not: return ~a;
    case Prim::add: return wrap(static_cast<U>(a) + static_cast<U>(b));
    case Prim::sub: return wrap(static_cast<U>(a) - static_cast<U>(b));
    case Prim::mul: return wrap(static_cast<U>(a) * static_cast<U>(b));
    case Prim::trunc_div: return int_quotient(a, b);
    case Prim::floor_div: {
      const I r = int_remainder(a, b);
      return int_quotient(a, b) - (r != 0 && (r < 0) != (b < 0));
    }
    case Prim::fmod: return int_remainder(a, b);
    case Prim::remainder: {
      const I r = int_remainder(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case Prim::pow: return int_pow(a, b);
    case Prim::maximum:
    case Prim::fmax: return a > b ? a : b;
    case Prim::minimum:
    case Prim::fmin: return a < b ? a : b;
    case Prim::bitwise_and: return a & b;
    case Prim::bitwise_or: return a | b;
    case Prim::bitwise_xor: return a ^ b;
    case Prim::shift_left:
      return b < 0 || b > 63 ? 0 : wrap(static_cast<U>(a) << b);
    case Prim::shift_right: return a >> (b < 0 || b > 63 ? 63 : b);
    case Prim::gcd: return wrap(std::gcd(magnitude(a), magnitude(b)));
    case Prim::lcm: {
      const U g = std::gcd(magnitude(a), magnitude(b));
      return g == 0 ? 0 : wrap(magnitude(a) / g * magnitude(b));
    }
    case Prim::fma:
      return wrap(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(c));
    case Prim::clamp: {
      const I low = a > b ? a : b;
      return low < c ? low : c;
    }
    case Prim::eq: return a == b;
    case Prim::ne: return a != b;
    case Prim::lt: return a < b;
    case Prim::le: return a <= b;
    case Prim::gt: return a > b;
    case Prim::ge: return a >= b;
    case Prim::isnan:
    case Prim::isinf: return 0;
    case Prim::isfinite: return 1;
    case Prim::signbit: return a < 0;
    case Prim::truth: return a != 0;
    case Prim::logical_not: return a == 0;
    case Prim::logical_and: return a != 0 && b != 0;
    case Prim::logical_or: return a != 0 || b != 0;
    case Prim::logical_xor: return (a != 0) != (b != 0);
    default: return a;  // copy, from_bool and the roundings
  }
}

bool yields_bool(PrimType t) {
  return t == PrimType::T_B || t == PrimType::TT_B || t == PrimType::B_B ||
         t == PrimType::BB_B;
}

}  // namespace

bool operator==(const Uniform& a, const Uniform& b) {
  if (a.is_int != b.is_int) return false;
  return a.is_int ? a.i == b.i
                  : std::bit_cast<std::uint64_t>(a.d) ==
                        std::bit_cast<std::uint64_t>(b.d);
}

Uniform eval_uniform(Prim op, Uniform a, Uniform b, Uniform c) {
  const PrimInfo& info = kPrims[static_cast<int>(op)];
  const int n = arity(info.type);
  // Each branch keeps its own type.
  if (op == Prim::select) return a.as_double() != 0 ? b : c;
  const bool ints = a.is_int && (n < 2 || b.is_int) && (n < 3 || c.is_int);
  const bool fraction = op == Prim::pow && b.is_int && b.i < 0;
  if (info.domain == PrimDomain::INT ||
      (ints && info.domain != PrimDomain::FLT && !fraction)) {
    return Uniform::of(on_ints(op, a.i, b.i, c.i));
  }
  const double v = on_doubles(op, a.as_double(), b.as_double(), c.as_double());
  return yields_bool(info.type) ? Uniform::of(static_cast<std::int64_t>(v))
                                : Uniform::of(v);
}

}  // namespace sy::lang
