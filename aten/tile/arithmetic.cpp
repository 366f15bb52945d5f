// Arithmetic that is exact or one rounding, on every type.

#include "aten/tile/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/tile/arithmetic.cpp"
#include "hwy/foreach_target.h"

#include "aten/tile/loop.inc"
#include "aten/tile/narrow.inc"

HWY_BEFORE_NAMESPACE();
#include "aten/tile/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

// Integer arithmetic wraps: it is done on unsigned numbers.
template <class T>
HWY_INLINE constexpr auto wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(x);
  } else {
    return x;
  }
}

struct Neg {
  template <class T>
  static HWY_INLINE T f(T x) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(0 - wide(x));
    return static_cast<T>(-x);
  }
};
struct Abs {
  static HWY_INLINE float f(float x) { return __builtin_fabsf(x); }
  static HWY_INLINE double f(double x) { return __builtin_fabs(x); }
  template <class T>
  static HWY_INLINE T f(T x) {
    return x < 0 ? static_cast<T>(0 - wide(x)) : x;
  }
};
struct Sign {
  template <class T>
  static HWY_INLINE T f(T x) {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};
struct Square {
  template <class T>
  static HWY_INLINE T f(T x) {
    return static_cast<T>(wide(x) * wide(x));
  }
};
struct Reciprocal {
  template <class T>
  static HWY_INLINE T f(T x) {
    return T(1) / x;
  }
};
struct Sqrt {
  static HWY_INLINE float f(float x) { return __builtin_sqrtf(x); }
  static HWY_INLINE double f(double x) { return __builtin_sqrt(x); }
};
struct Rsqrt {
  template <class T>
  static HWY_INLINE T f(T x) {
    return T(1) / Sqrt::f(x);
  }
};
struct Floor {
  static HWY_INLINE float f(float x) { return __builtin_floorf(x); }
  static HWY_INLINE double f(double x) { return __builtin_floor(x); }
};
struct Ceil {
  static HWY_INLINE float f(float x) { return __builtin_ceilf(x); }
  static HWY_INLINE double f(double x) { return __builtin_ceil(x); }
};
struct Round {
  static HWY_INLINE float f(float x) { return __builtin_rintf(x); }
  static HWY_INLINE double f(double x) { return __builtin_rint(x); }
};
struct Trunc {
  static HWY_INLINE float f(float x) { return __builtin_truncf(x); }
  static HWY_INLINE double f(double x) { return __builtin_trunc(x); }
};
struct Frac {
  template <class T>
  static HWY_INLINE T f(T x) {
    return x - Trunc::f(x);
  }
};
struct Add {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return static_cast<T>(wide(a) + wide(b));
  }
};
struct Sub {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return static_cast<T>(wide(a) - wide(b));
  }
};
struct Mul {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return static_cast<T>(wide(a) * wide(b));
  }
};
struct Div {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return a / b;
  }
};
struct TruncDiv {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return Trunc::f(a / b);
  }
};
struct Copysign {
  static HWY_INLINE float f(float a, float b) {
    return __builtin_copysignf(a, b);
  }
  static HWY_INLINE double f(double a, double b) {
    return __builtin_copysign(a, b);
  }
};
struct Maximum {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};
struct Minimum {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};
struct Fmax {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return ((a > b) | (b != b)) ? a : b;
  }
};
struct Fmin {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return ((a < b) | (b != b)) ? a : b;
  }
};
struct Fma {
  static HWY_INLINE float f(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
  }
  static HWY_INLINE double f(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
  template <class T>
  static HWY_INLINE T f(T a, T b, T c) {
    return static_cast<T>(wide(a) * wide(b) + wide(c));
  }
};
struct Clamp {
  // minimum(maximum(x, low), high), each as gcc knows max and min
  // instructions, which keep a NaN on their right; one of the bounds is put
  // back.
  template <class T>
  static HWY_INLINE T f(T x, T low, T high) {
    const T above = low > x ? low : x;
    const T within = high < above ? high : above;
    if constexpr (std::is_integral_v<T>) {
      return within;
    } else {
      return __builtin_isunordered(low, high) ? low + high : within;
    }
  }
};
struct Lerp {
  // From the nearer end, so that weights 0 and 1 give the ends exactly.
  template <class T>
  static HWY_INLINE T f(T a, T b, T weight) {
    const T difference = b - a;
    const T from_a = a + weight * difference;
    const T from_b = b - difference * (T(1) - weight);
    return ((weight < T(0.5)) & (weight > T(-0.5))) ? from_a : from_b;
  }
};

template <class T>
void fill_all(KernelTable& t) {
  set_unary<T, Neg>(t, Prim::neg);
  set_unary<T, Abs>(t, Prim::abs);
  set_unary<T, Sign>(t, Prim::sign);
  set_unary<T, Square>(t, Prim::square);
  set_binary<T, Add>(t, Prim::add);
  set_binary<T, Sub>(t, Prim::sub);
  set_binary<T, Mul>(t, Prim::mul);
  set_binary<T, Maximum>(t, Prim::maximum);
  set_binary<T, Minimum>(t, Prim::minimum);
  set_ternary<T, Fma>(t, Prim::fma);
  set_ternary<T, Clamp>(t, Prim::clamp);
  t.at(Prim::fmax, TileTypeOf<T>::value) =
      t.at(Prim::maximum, TileTypeOf<T>::value);
  t.at(Prim::fmin, TileTypeOf<T>::value) =
      t.at(Prim::minimum, TileTypeOf<T>::value);
}

template <class T>
void fill_floating(KernelTable& t) {
  set_unary<T, Reciprocal>(t, Prim::reciprocal);
  set_unary<T, Sqrt>(t, Prim::sqrt);
  set_unary<T, Rsqrt>(t, Prim::rsqrt);
  set_unary<T, Floor>(t, Prim::floor);
  set_unary<T, Ceil>(t, Prim::ceil);
  set_unary<T, Round>(t, Prim::round);
  set_unary<T, Trunc>(t, Prim::trunc);
  set_unary<T, Frac>(t, Prim::frac);
  set_binary<T, Div>(t, Prim::div);
  set_binary<T, TruncDiv>(t, Prim::trunc_div);
  set_binary<T, Copysign>(t, Prim::copysign);
  set_binary<T, Fmax>(t, Prim::fmax);
  set_binary<T, Fmin>(t, Prim::fmin);
  set_ternary<T, Lerp>(t, Prim::lerp);
}

// Of what takes little more than reading and writing.
void fill_narrow(KernelTable& t) {
  set_narrow_unary<Neg>(t, Prim::neg);
  set_narrow_unary<Abs>(t, Prim::abs);
  set_narrow_unary<Square>(t, Prim::square);
  set_narrow_unary<Sqrt>(t, Prim::sqrt);
  set_narrow_binary<Add>(t, Prim::add);
  set_narrow_binary<Sub>(t, Prim::sub);
  set_narrow_binary<Mul>(t, Prim::mul);
  set_narrow_binary<Div>(t, Prim::div);
  set_narrow_binary<Maximum>(t, Prim::maximum);
  set_narrow_binary<Minimum>(t, Prim::minimum);
}

void fill(KernelTable& t) {
  fill_narrow(t);
  fill_all<float>(t);
  fill_all<double>(t);
  fill_all<uint8_t>(t);
  fill_all<int8_t>(t);
  fill_all<int16_t>(t);
  fill_all<int32_t>(t);
  fill_all<int64_t>(t);
  fill_floating<float>(t);
  fill_floating<double>(t);
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_arithmetic(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
