// pow of floats. A uniform exponent that has a name is computed by it, as in
// PyTorch: x^0.5 is sqrt(x), x^2 is x * x.

#include "aten/tile/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/tile/power.cpp"
#include "hwy/foreach_target.h"

#include "aten/tile/loop.inc"
#include "aten/tile/math64.inc"

HWY_BEFORE_NAMESPACE();
#include "aten/tile/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

struct Pow {
  static constexpr bool kCostly = true;
  static HWY_INLINE float f(float base, float exponent) {
    const double x = static_cast<double>(base);
    const double y = static_cast<double>(exponent);
    const double a = __builtin_fabs(x);
    double r = exp64(y * log64(a));
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
    constexpr TileType type = TileTypeOf<T>::value;
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
  t.at(Prim::pow, TileType::f32) = &pow_prim<float>;
  t.at(Prim::pow, TileType::f64) = &pow_prim<double>;
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_power(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
