// pow of floats. A uniform exponent that has a name is computed by it, as in
// PyTorch: x^0.5 is sqrt(x), x^2 is x * x.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/power.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/program/loop.inc"
#include "backends/cpu/program/math64.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

// log2 of a float, not below 0, with some 45 bits of its 53.
HWY_INLINE double log2_of_float(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  // As in log_parts(), but that no float is denormal here.
  const uint64_t offset = bits - 0x3fe6a09e667f3bcdu;
  const uint64_t field = (offset + (uint64_t{1024} << 52)) >> 52;
  const double m = std::bit_cast<double>(bits - ((field - 1024) << 52));
  const double k =
      std::bit_cast<double>(field | 0x4330000000000000u) - (0x1p52 + 1024.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double y = mad(s,
                       polynomial(s * s, 2.8853900817778504, 0.9617966941123595,
                                  0.5770779426302618, 0.41220922733052445,
                                  0.3199066608891474, 0.28288718263073565),
                       k);
  return x < kInf ? (x == 0 ? -kInf : y) : x;
}
// 2^x, to be rounded to float. A NaN has no low bits to add, as it comes of
// floats.
HWY_INLINE double exp2_for_float(double x) {
  const double t = clamped(x, -200.0, 200.0);
  const double shifted = t + kShift;
  const double y = polynomial(
      t - (shifted - kShift), 0.9999999999595618, 0.6931471805568324,
      0.24022651213498092, 0.055504109063258665, 0.009618025613318034,
      0.0013333478473685416, 0.00015469729214118296, 1.5303700711365693e-05);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(y) +
                               (low_bits(shifted) << 52));
}

struct Pow {
  static constexpr bool kCostly = true;
  static HWY_INLINE float f(float base, float exponent) {
    const double x = static_cast<double>(base);
    const double y = static_cast<double>(exponent);
    const double a = __builtin_fabs(x);
    double r = exp2_for_float(y * log2_of_float(a));
    const bool whole = __builtin_rint(y) == y;
    const bool odd = whole & (__builtin_rint(0.5 * y) != 0.5 * y);
    r = odd ? __builtin_copysign(r, x) : r;
    r = ((x < 0) & !whole & (a < kInf)) ? kNan : r;
    r = ((a == 1.0) & (__builtin_fabs(y) == kInf)) ? 1.0 : r;  // 0 * infinity
    return static_cast<float>(((x == 1.0) | (y == 0)) ? 1.0 : r);
  }
  static double f(double base, double exponent) {
    return std::pow(base, exponent);
  }
};
struct Cube {
  template <class T>
  static HWY_INLINE T f(T x) {
    return x * x * x;
  }
};
struct InverseSquare {
  template <class T>
  static HWY_INLINE T f(T x) {
    return T(1) / (x * x);
  }
};

template <class T>
void pow_prim(void* dst, const void* a, const void* b, const void* c,
              uint32_t uniform_mask, int64_t n) {
  if ((uniform_mask & 2) != 0) {
    const T exponent = *static_cast<const T*>(b);
    PrimFn fn = nullptr;
    constexpr ComputeType type = TileTypeOf<T>::value;
    if (exponent == T(2)) fn = prim_fn(Prim::square, type);
    if (exponent == T(0.5)) fn = prim_fn(Prim::sqrt, type);
    if (exponent == T(1)) fn = prim_fn(Prim::copy, type);
    if (exponent == T(-1)) fn = prim_fn(Prim::reciprocal, type);
    if (exponent == T(-0.5)) fn = prim_fn(Prim::rsqrt, type);
    if (exponent == T(3)) fn = &prim<Cube, T, T>;
    if (exponent == T(-2)) fn = &prim<InverseSquare, T, T>;
    if (fn != nullptr) return fn(dst, a, nullptr, nullptr, uniform_mask & 1, n);
  }
  prim<Pow, T, T, T>(dst, a, b, c, uniform_mask, n);
}

void fill(KernelTable& t) {
  t.at(Prim::pow, ComputeType::f32) = &pow_prim<float>;
  t.at(Prim::pow, ComputeType::f64) = &pow_prim<double>;
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_power(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
