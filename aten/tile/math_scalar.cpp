// Kernels that are plain loops on every machine: special functions, what libm
// does better, and integer functions with loops of their own.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "aten/tile/table.h"

namespace sy::tile {

namespace {

using lang::Prim;

template <class T, T (*kFunction)(T)>
void unary(void* dst, const void* a, const void*, const void*,
           uint32_t uniform_mask, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  if (n <= 0) return;
  if (uniform_mask & 1) {
    const T y = kFunction(x[0]);
    for (int64_t i = 0; i < n; ++i) d[i] = y;
  } else {
    for (int64_t i = 0; i < n; ++i) d[i] = kFunction(x[i]);
  }
}
template <class T, T (*kFunction)(T, T)>
void binary(void* dst, const void* a, const void* b, const void*,
            uint32_t uniform_mask, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if (n <= 0) return;
  const T x0 = x[0];  // dst may be a uniform operand
  const T y0 = y[0];
  for (int64_t i = 0; i < n; ++i) {
    d[i] = kFunction((uniform_mask & 1) ? x0 : x[i],
                     (uniform_mask & 2) ? y0 : y[i]);
  }
}

template <class T>
void copy(void* dst, const void* a, const void*, const void*,
          uint32_t uniform_mask, int64_t n) {
  if ((uniform_mask & 1) == 0) {
    if (dst != a) std::memcpy(dst, a, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  if (n <= 0) return;
  T* d = static_cast<T*>(dst);
  const T x = *static_cast<const T*>(a);
  for (int64_t i = 0; i < n; ++i) d[i] = x;
}

// std::lgamma writes the global signgam: a race.
float lgamma_of(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}
double lgamma_of(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// The asymptotic series from 10 up, recurrence below, reflection below 0.
double digamma_of(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0;
  if (x < 0) {
    if (x == std::trunc(x)) return std::numeric_limits<double>::quiet_NaN();
    result = -M_PI / std::tan(M_PI * (x - std::trunc(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  // Bernoulli numbers B(2k) / 2k.
  const double series =
      z *
      (1. / 12 -
       z * (1. / 120 -
            z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 -
                                                                 z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}
float digamma_of(float x) {
  return static_cast<float>(digamma_of(static_cast<double>(x)));
}

// Halley's method on erf(x) = y, or on erfc(x) = 1 - y where that is exact,
// from an approximation by elementary functions (Winitzki, 2008).
double erfinv_of(double y) {
  const double a = std::fabs(y);
  if (!(a < 1)) {
    return a == 1 ? std::copysign(std::numeric_limits<double>::infinity(), y)
                  : std::numeric_limits<double>::quiet_NaN();
  }
  constexpr double kSlope = 0.88622692545275801365;  // sqrt(pi) / 2
  if (a < 1e-8) return y * kSlope;
  double x = a * (kSlope + 0.2320136665346544 * a * a);
  if (a > 1e-3) {
    const double l = std::log1p(-a * a);
    const double t = 2 / (M_PI * 0.147) + 0.5 * l;
    x = std::sqrt(std::sqrt(t * t - l / 0.147) - t);
  }
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(x) - a : (1 - a) - std::erfc(x);
    const double u = error * kSlope * std::exp(x * x);
    x -= u / (1 + x * u);
  }
  return std::copysign(x, y);
}
float erfinv_of(float y) {
  return static_cast<float>(erfinv_of(static_cast<double>(y)));
}

template <class T>
T nextafter_of(T a, T b) {
  return std::nextafter(a, b);
}

template <class T>
std::make_unsigned_t<T> magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < 0 ? static_cast<U>(0 - static_cast<U>(x)) : static_cast<U>(x);
}
template <class T>
T gcd_of(T a, T b) {
  return static_cast<T>(std::gcd(magnitude(a), magnitude(b)));
}
template <class T>
T lcm_of(T a, T b) {
  const auto g = std::gcd(magnitude(a), magnitude(b));
  if (g == 0) return 0;
  return static_cast<T>(static_cast<uint64_t>(magnitude(a) / g) *
                        static_cast<uint64_t>(magnitude(b)));
}
template <class T>
T pow_of(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == static_cast<T>(-1)) return (exponent & 1) ? base : T(1);
    return 0;
  }
  uint64_t result = 1;
  uint64_t square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <class T>
void fill_floats(KernelTable& t, TileType type) {
  t.at(Prim::erfinv, type) = &unary<T, erfinv_of>;
  t.at(Prim::lgamma, type) = &unary<T, lgamma_of>;
  t.at(Prim::digamma, type) = &unary<T, digamma_of>;
  t.at(Prim::nextafter, type) = &binary<T, nextafter_of<T>>;
  t.at(Prim::copy, type) = &copy<T>;
}

template <class T>
void fill_integers(KernelTable& t, TileType type) {
  t.at(Prim::gcd, type) = &binary<T, gcd_of<T>>;
  t.at(Prim::lcm, type) = &binary<T, lcm_of<T>>;
  t.at(Prim::pow, type) = &binary<T, pow_of<T>>;
  const PrimFn same = &copy<std::make_unsigned_t<T>>;
  for (Prim p :
       {Prim::copy, Prim::floor, Prim::ceil, Prim::round, Prim::trunc}) {
    t.at(p, type) = same;
  }
}

}  // namespace

void fill_math_scalar(KernelTable& t) {
  fill_floats<float>(t, TileType::f32);
  fill_floats<double>(t, TileType::f64);
  t.at(Prim::erf, TileType::f64) = &unary<double, ::erf>;
  t.at(Prim::erfc, TileType::f64) = &unary<double, ::erfc>;
  t.at(Prim::atan2, TileType::f64) = &binary<double, ::atan2>;
  t.at(Prim::hypot, TileType::f64) = &binary<double, ::hypot>;
  fill_integers<uint8_t>(t, TileType::u8);
  fill_integers<int8_t>(t, TileType::i8);
  fill_integers<int16_t>(t, TileType::i16);
  fill_integers<int32_t>(t, TileType::i32);
  fill_integers<int64_t>(t, TileType::i64);
  for (Prim p :
       {Prim::copy, Prim::floor, Prim::ceil, Prim::round, Prim::trunc}) {
    t.at(p, TileType::b8) = &copy<uint8_t>;
  }
  // 1 << 1 is 2, a number that is not 0.
  t.at(Prim::shift_left, TileType::b8) = &copy<uint8_t>;
}

}  // namespace sy::tile
