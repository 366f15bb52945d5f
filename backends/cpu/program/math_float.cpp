// Elementary functions of float.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/math_float.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/program/loop.inc"
#include "backends/cpu/program/math64.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

inline constexpr float kInfF = __builtin_inff();

HWY_INLINE float madf(float a, float b, float c) {
#if HWY_NATIVE_FMA
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
template <class... C>
HWY_INLINE float poly(float x, float c0, C... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return madf(poly(x, rest...), x, c0);
  }
}
#if HWY_TARGET <= HWY_AVX3
using FloatTag = hn::ScalableTag<float>;
using VF = hn::Vec<FloatTag>;

HWY_INLINE VF set(float x) { return hn::Set(FloatTag(), x); }
template <class... C>
HWY_INLINE VF poly(VF x, float c0, C... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return set(c0);
  } else {
    return hn::MulAdd(poly(x, rest...), x, set(c0));
  }
}
#endif
HWY_INLINE float pow2f(uint32_t k) {
  return std::bit_cast<float>((k + 127) << 23);
}

// As exp_parts in double: p = e^r - 1.
struct ExpPartsF {
  uint32_t k;
  float p;
};
HWY_INLINE ExpPartsF exp_parts_f(float x) {
  constexpr float kShiftF = 0x1.8p23f;
  const float shifted = madf(x, 0x1.715476p0f, kShiftF);
  const float n = shifted - kShiftF;
  float r = madf(n, -0x1.62e4p-1f, x);
  r = madf(n, -0x1.7f7d1cp-20f, r);
  const float p = poly(r, 0x1.fffffcp-2f, 0x1.55549p-3f, 0x1.5558f8p-5f,
                       0x1.123b02p-7f, 0x1.6a2288p-10f);
  return {std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kShiftF),
          madf(r * r, p, r)};
}
// Within 1 ulp.
HWY_INLINE float exp32(float x) {
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const ExpPartsF e = exp_parts_f(x);
  const uint32_t half = ((e.k + 512) >> 1) - 256;
  return (e.p + 1.0f) * pow2f(half) * pow2f(e.k - half);
}
// Where neither denormals nor infinity can be the result: |x| < 87.
HWY_INLINE float exp32_normal(float x) {
  const ExpPartsF e = exp_parts_f(x);
  return (e.p + 1.0f) * pow2f(e.k);
}

// (log(1 + f) - f + f^2 / 2) / f^3 for f from sqrt(1/2) - 1 to sqrt(2) - 1.
template <class T>
HWY_INLINE T log_series(T f) {
  return poly(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b4p-3f,
              -0x1.555c54p-3f, 0x1.23377cp-3f, -0x1.fc2118p-4f, 0x1.e6eea8p-4f,
              -0x1.de4164p-4f, 0x1.14619cp-4f);
}
// As log_parts, but with a series in f = m - 1 itself: no division. 1 ulp.
HWY_INLINE float log32(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = std::bit_cast<uint32_t>(tiny ? x * 0x1p25f : x);
  const int32_t k = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float f =
      std::bit_cast<float>(bits - (static_cast<uint32_t>(k) << 23)) - 1.0f;
  const float n = static_cast<float>(k) - (tiny ? 25.0f : 0.0f);
  const float z = f * f;
  const float tail =
      madf(n, 0x1.7f7d1cp-20f, madf(z * f, log_series(f), -0.5f * z));
  float y = madf(n, 0x1.62e4p-1f, f + tail);
  y = x == kInfF ? kInfF : y;
  y = x < 0 ? __builtin_nanf("") : y;
  y = x == 0 ? -kInfF : y;
  return x != x ? x : y;
}

// The series of log32 for u = 1 + x, and, to second order, what that sum lost.
HWY_INLINE float log1p32(float x) {
  const float u = 1.0f + x;
  const float back = u - 1.0f;
  const float lost = (1.0f - (u - back)) + (x - back);
  const uint32_t bits = std::bit_cast<uint32_t>(u);
  const int32_t k = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float f =
      std::bit_cast<float>(bits - (static_cast<uint32_t>(k) << 23)) - 1.0f;
  // Of the largest k nothing of it counts.
  const int32_t down = k < 100 ? k : 100;
  const float c = lost * pow2f(0u - static_cast<uint32_t>(down));
  const float n = static_cast<float>(k);
  const float z = f * f;
  const float tail =
      madf(n, 0x1.7f7d1cp-20f, madf(z * f, log_series(f), -0.5f * z));
  float y = madf(n, 0x1.62e4p-1f, f + (tail + madf(z - f, c, c)));
  y = x == kInfF ? kInfF : y;
  y = x < -1.0f ? __builtin_nanf("") : y;
  y = x == -1.0f ? -kInfF : y;
  return (x != x) | (x == 0) ? x : y;
}

HWY_INLINE float sigmoid32(float x) {
  const float e = exp32(-__builtin_fabsf(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

#if HWY_TARGET <= HWY_AVX3
#include "backends/cpu/program/math_avx512.inc"
#include "backends/cpu/program/math_table.inc"
#define SY_TILE_VECTOR(function) \
  static HWY_INLINE VF v(VF x) { return function(x); }
#else
HWY_INLINE float tanh32(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  const float p = poly(z, -0x1.555554p-2f, 0x1.11106cp-3f, -0x1.b9ef86p-5f,
                       0x1.63951cp-6f, -0x1.0c2212p-7f, 0x1.197cf6p-9f);
  const float b = a > 10.0f ? 10.0f : a;  // 1 from there on
  const float large = 1.0f - 2.0f / (exp32_normal(2.0f * b) + 1.0f);
  const float y = a < 0.625f ? madf(a * z, p, a) : large;
  return __builtin_copysignf(y, x);
}

// Below 1 an odd series, above 1 - e^-q(a) with q(a) = -log(erfc(a)), which is
// smooth; above 4 the result is 1 and a is held there.
HWY_INLINE float erf32(float x) {
  const float a = __builtin_fabsf(x);
  const float z = x * x;
  const float small =
      poly(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2dp-4f, -0x1.b7f982p-6f,
           0x1.5408aep-8f, -0x1.a409cap-11f, 0x1.4997c2p-14f);
  const float b = a > 4.0f ? 4.0f : a;
  const float q =
      poly(b, -0x1.6e69f0p-13f, 0x1.2127e6p0f, 0x1.4445fep-1f, 0x1.bb845ep-4f,
           -0x1.9b8fcap-6f, 0x1.115cdep-8f, -0x1.c798p-12f, 0x1.61f4d2p-16f);
  const float y = a < 1.0f ? madf(a, small, a) : 1.0f - exp32_normal(-q);
  return __builtin_copysignf(y, x);
}

#define SY_TILE_VECTOR(function)
#endif

#define SY_TILE_OWN(Name, function)                            \
  struct Name {                                                \
    static constexpr bool kCostly = true;                      \
    static HWY_INLINE float f(float x) { return function(x); } \
    SY_TILE_VECTOR(function)                                   \
  };
SY_TILE_OWN(Exp, exp32)
SY_TILE_OWN(Tanh, tanh32)
SY_TILE_OWN(Sigmoid, sigmoid32)
SY_TILE_OWN(Erf, erf32)
#if HWY_TARGET <= HWY_AVX3
#define SY_TILE_VECTOR_ONLY(Name, function)                               \
  struct Name {                                                           \
    static constexpr bool kCostly = true;                                 \
    static HWY_INLINE float f(float x) { return hn::GetLane(v(set(x))); } \
    static HWY_INLINE VF v(VF x) { return function(x); }                  \
  };
SY_TILE_VECTOR_ONLY(Log, log32)
SY_TILE_VECTOR_ONLY(Log1p, log1p32)
#undef SY_TILE_VECTOR_ONLY
#else
SY_TILE_OWN(Log, log32)
SY_TILE_OWN(Log1p, log1p32)
#endif
#undef SY_TILE_OWN
#undef SY_TILE_VECTOR

// Through double.
#define SY_TILE_WIDER(Name, function)                              \
  struct Name {                                                    \
    static constexpr bool kCostly = true;                          \
    static HWY_INLINE float f(float x) {                           \
      return static_cast<float>(function(static_cast<double>(x))); \
    }                                                              \
  };
SY_TILE_WIDER(Exp2, exp2_64)
SY_TILE_WIDER(Expm1, expm1_64)
SY_TILE_WIDER(Log2, log2_64)
SY_TILE_WIDER(Log10, log10_64)
SY_TILE_WIDER(Asin, asin64)
SY_TILE_WIDER(Acos, acos64)
SY_TILE_WIDER(Atan, atan64)
SY_TILE_WIDER(Sinh, sinh64)
SY_TILE_WIDER(Cosh, cosh64)
SY_TILE_WIDER(Asinh, asinh64)
SY_TILE_WIDER(Acosh, acosh64)
SY_TILE_WIDER(Atanh, atanh64)
SY_TILE_WIDER(Erfc, erfc_f32)
#undef SY_TILE_WIDER

#define SY_TILE_WIDER2(Name, function)                               \
  struct Name {                                                      \
    static constexpr bool kCostly = true;                            \
    static HWY_INLINE float f(float x, float y) {                    \
      return static_cast<float>(                                     \
          function(static_cast<double>(x), static_cast<double>(y))); \
    }                                                                \
  };
SY_TILE_WIDER2(Atan2, atan2_f32)
SY_TILE_WIDER2(Hypot, hypot_f32)
#undef SY_TILE_WIDER2

// The argument is reduced to a sum of two floats, by double where there is no
// fused multiplication; the series are float's.
template <int64_t kQuarters>
struct Sin {
  static constexpr bool kCostly = true;
  static HWY_INLINE bool special(float x) {
    return !(__builtin_fabsf(x) <= static_cast<float>(kTrigLimit));
  }
  static float slow(float x) {
    const double wide = static_cast<double>(x);
    return static_cast<float>(kQuarters == 0 ? std::sin(wide) : std::cos(wide));
  }
  static HWY_INLINE float f(float x) {
#if HWY_NATIVE_FMA
    // pi / 2 in three parts. The first is of multiples of 2^-23, as x is where
    // n is not 0, and what is left below 1: the first difference is exact. The
    // second gives two floats by Knuth's sum.
    constexpr float kHalfPi = 0x1.921fb6p0f, kSecond = 0x1.777a5cp-25f,
                    kThird = 0x1.ee59dap-50f, kShiftF = 0x1.8p23f;
    const float shifted = madf(x, 0x1.45f306p-1f, kShiftF);
    const float n = shifted - kShiftF;
    const float near = madf(-n, kHalfPi, x);
    const float second = n * kSecond;
    const float r = near + second;
    const float part = r - near;
    const float rest = (near - (r - part)) + (second - part);
    const float low = madf(n, kThird, rest + madf(n, kSecond, -second));
    const int32_t q = std::bit_cast<int32_t>(shifted) + kQuarters;
#else
    const double wide = static_cast<double>(x);
    const double shifted = mad(wide, 0x1.45f306dc9c883p-1, kShift);
    const double n = shifted - kShift;
    const double reduced =
        (wide - n * 0x1.921fb544p0) - n * 0x1.0b4611a62633p-34;
    const float r = static_cast<float>(reduced);
    const float low = static_cast<float>(reduced - static_cast<double>(r));
    const int32_t q = static_cast<int32_t>(low_bits(shifted) + kQuarters);
#endif
    const float z = r * r;
    const float s =
        r + madf(r * z,
                 poly(z, -0x1.555546p-3f, 0x1.110756p-7f, -0x1.994b38p-13f),
                 low);
    // 1 - z / 2 as a sum of two floats.
    const float head = 1.0f - 0.5f * z;
    const float tail = (1.0f - head) - 0.5f * z;
    const float c =
        head + madf(z * z,
                    poly(z, 0x1.55554ap-5f, -0x1.6c0c2cp-10f, 0x1.99e8eep-16f),
                    madf(-r, low, tail));
    const uint32_t bits =
        (q & 1) ? std::bit_cast<uint32_t>(c) : std::bit_cast<uint32_t>(s);
    const float y =
        std::bit_cast<float>(bits ^ (static_cast<uint32_t>(q & 2) << 30));
    return ((kQuarters == 0) & (x == 0)) ? x : y;
  }
};
struct Tan {
  static constexpr bool kCostly = true;
  static HWY_INLINE bool special(float x) { return Sin<0>::special(x); }
  static float slow(float x) {
    return static_cast<float>(std::tan(static_cast<double>(x)));
  }
  static HWY_INLINE float f(float x) {
    return static_cast<float>(tan64(static_cast<double>(x)));
  }
};
// Below 0 and at the edges the C library's.
struct Lgamma {
  static constexpr bool kCostly = true;
  static HWY_INLINE bool special(float x) { return !((x > 0) & (x < kInfF)); }
  static float slow(float x) {
    int sign;  // std::lgamma writes the global signgam: a race
    return lgammaf_r(x, &sign);
  }
  static HWY_INLINE float f(float x) {
    return static_cast<float>(lgamma_f32(static_cast<double>(x)));
  }
};
struct Xlogy {
  static constexpr bool kCostly = true;
  static HWY_INLINE float f(float x, float y) {
    const float product = x * log32(y);
    return ((x == 0) & (y == y)) ? 0.0f : product;
  }
};

void fill(KernelTable& t) {
  set_unary<float, Exp>(t, Prim::exp);
  set_unary<float, Exp2>(t, Prim::exp2);
  set_unary<float, Expm1>(t, Prim::expm1);
  set_unary<float, Log>(t, Prim::log);
  set_unary<float, Log2>(t, Prim::log2);
  set_unary<float, Log10>(t, Prim::log10);
  set_unary<float, Log1p>(t, Prim::log1p);
  set_unary<float, Sin<0>>(t, Prim::sin);
  set_unary<float, Sin<1>>(t, Prim::cos);
  set_unary<float, Tan>(t, Prim::tan);
  set_unary<float, Asin>(t, Prim::asin);
  set_unary<float, Acos>(t, Prim::acos);
  set_unary<float, Atan>(t, Prim::atan);
  set_unary<float, Sinh>(t, Prim::sinh);
  set_unary<float, Cosh>(t, Prim::cosh);
  set_unary<float, Tanh>(t, Prim::tanh);
  set_unary<float, Asinh>(t, Prim::asinh);
  set_unary<float, Acosh>(t, Prim::acosh);
  set_unary<float, Atanh>(t, Prim::atanh);
  set_unary<float, Sigmoid>(t, Prim::sigmoid);
  set_unary<float, Erf>(t, Prim::erf);
  set_unary<float, Erfc>(t, Prim::erfc);
  set_unary<float, Lgamma>(t, Prim::lgamma);
  set_binary<float, Atan2>(t, Prim::atan2);
  set_binary<float, Hypot>(t, Prim::hypot);
  set_binary<float, Xlogy>(t, Prim::xlogy);
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_math_float(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
