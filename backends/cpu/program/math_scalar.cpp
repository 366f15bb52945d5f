// Kernels that are plain loops on every machine: what libm does better, and
// integer functions with loops of their own.

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "backends/cpu/program/plain_loop.h"
#include "backends/cpu/program/table.h"

namespace sy::tiles {

namespace {

using lang::Prim;

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
double lgamma_of(double x) {
  int sign;
  return lgamma_r(x, &sign);
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
void fill_floats(KernelTable& t, ComputeType type) {
  t.at(Prim::nextafter, type) = &binary_loop<T, T, nextafter_of<T>>;
  t.at(Prim::copy, type) = &copy<T>;
}

template <class T>
void fill_integers(KernelTable& t, ComputeType type) {
  t.at(Prim::gcd, type) = &binary_loop<T, T, gcd_of<T>>;
  t.at(Prim::lcm, type) = &binary_loop<T, T, lcm_of<T>>;
  t.at(Prim::pow, type) = &binary_loop<T, T, pow_of<T>>;
  const PrimFn same = &copy<std::make_unsigned_t<T>>;
  for (Prim p :
       {Prim::copy, Prim::floor, Prim::ceil, Prim::round, Prim::trunc}) {
    t.at(p, type) = same;
  }
}

}  // namespace

void fill_math_scalar(KernelTable& t) {
  fill_floats<float>(t, ComputeType::f32);
  fill_floats<double>(t, ComputeType::f64);
  t.at(Prim::lgamma, ComputeType::f64) = &unary_loop<double, double, lgamma_of>;
  t.at(Prim::erf, ComputeType::f64) = &unary_loop<double, double, ::erf>;
  t.at(Prim::erfc, ComputeType::f64) = &unary_loop<double, double, ::erfc>;
  t.at(Prim::atan2, ComputeType::f64) = &binary_loop<double, double, ::atan2>;
  t.at(Prim::hypot, ComputeType::f64) = &binary_loop<double, double, ::hypot>;
  fill_integers<uint8_t>(t, ComputeType::u8);
  fill_integers<int8_t>(t, ComputeType::i8);
  fill_integers<int16_t>(t, ComputeType::i16);
  fill_integers<int32_t>(t, ComputeType::i32);
  fill_integers<int64_t>(t, ComputeType::i64);
  for (Prim p :
       {Prim::copy, Prim::floor, Prim::ceil, Prim::round, Prim::trunc}) {
    t.at(p, ComputeType::b8) = &copy<uint8_t>;
  }
  // 1 << 1 is 2, a number that is not 0.
  t.at(Prim::shift_left, ComputeType::b8) = &copy<uint8_t>;
}

}  // namespace sy::tiles
