// Elementary functions of double. What is missing here libm does: see
// math_scalar.cpp.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/math_double.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/program/loop.inc"
#include "backends/cpu/program/math64.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

template <double (*kFunction)(double)>
struct Function {
  static constexpr bool kCostly = true;
  static HWY_INLINE double f(double x) { return kFunction(x); }
};
template <double (*kFunction)(double), double (*kSlow)(double)>
struct Trigonometric {
  static constexpr bool kCostly = true;
  static HWY_INLINE bool special(double x) {
    return !(__builtin_fabs(x) <= kTrigLimit);
  }
  static double slow(double x) { return kSlow(x); }
  static HWY_INLINE double f(double x) { return kFunction(x); }
};
struct Xlogy {
  static constexpr bool kCostly = true;
  static HWY_INLINE double f(double x, double y) {
    const double product = x * log64(y);
    return ((x == 0) & (y == y)) ? 0.0 : product;
  }
};

template <double (*kFunction)(double)>
void set(KernelTable& t, Prim p) {
  set_unary<double, Function<kFunction>>(t, p);
}

void fill(KernelTable& t) {
  set<exp64>(t, Prim::exp);
  set<exp2_64>(t, Prim::exp2);
  set<expm1_64>(t, Prim::expm1);
  set<log64>(t, Prim::log);
  set<log2_64>(t, Prim::log2);
  set<log10_64>(t, Prim::log10);
  set<log1p_64>(t, Prim::log1p);
  set<asin64>(t, Prim::asin);
  set<acos64>(t, Prim::acos);
  set<atan64>(t, Prim::atan);
  set<sinh64>(t, Prim::sinh);
  set<cosh64>(t, Prim::cosh);
  set<tanh64>(t, Prim::tanh);
  set<asinh64>(t, Prim::asinh);
  set<acosh64>(t, Prim::acosh);
  set<atanh64>(t, Prim::atanh);
  set<sigmoid64>(t, Prim::sigmoid);
  set_unary<double, Trigonometric<sin64, ::sin>>(t, Prim::sin);
  set_unary<double, Trigonometric<cos64, ::cos>>(t, Prim::cos);
  set_unary<double, Trigonometric<tan64, ::tan>>(t, Prim::tan);
  set_binary<double, Xlogy>(t, Prim::xlogy);
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_math_double(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
