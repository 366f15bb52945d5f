#pragma once

// The device's functions of floats. Names of C and its overloads come from the
// C library of the host, as CUDA's come from libdevice: the last bit differs.

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

// NOLINTBEGIN(misc-unused-using-decls): kernels call them without std::.
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
// NOLINTEND(misc-unused-using-decls)

// min and max of two numbers of any types, as CUDA's overloads.
#define SY_ON_HOST_MIN_MAX(T)                      \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
SY_ON_HOST_MIN_MAX(int)
SY_ON_HOST_MIN_MAX(unsigned)
SY_ON_HOST_MIN_MAX(long)
SY_ON_HOST_MIN_MAX(unsigned long)
SY_ON_HOST_MIN_MAX(long long)
SY_ON_HOST_MIN_MAX(unsigned long long)
#undef SY_ON_HOST_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
inline unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
inline unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
inline unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
inline unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }

inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline double __fma_rn(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline float __frsqrt_rn(float a) {
  return static_cast<float>(1 / __builtin_sqrt(double{a}));
}
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }

inline float rsqrtf(float a) { return 1 / sqrtf(a); }
inline double rsqrt(double a) { return 1 / sqrt(a); }
inline float rsqrt(float a) { return rsqrtf(a); }
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1) : 0; }
inline float fdividef(float a, float b) { return a / b; }
inline float __expf(float a) { return expf(a); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __log2f(float a) { return log2f(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __tanf(float a) { return tanf(a); }
inline float sinpif(float a) {
  return static_cast<float>(sin(fmod(double{a}, 2) * M_PI));
}
inline float cospif(float a) {
  return static_cast<float>(cos(fmod(double{a}, 2) * M_PI));
}
inline double sinpi(double a) { return sin(fmod(a, 2) * M_PI); }
inline double cospi(double a) { return cos(fmod(a, 2) * M_PI); }

// Conversions to integers as the device does them: values outside are the
// nearest integer of the type, NaN is 0 (the lowest for 64 bits).
namespace sy_on_host {
template <class I, class F>
I to_integer(F x) {
  using Limits = std::numeric_limits<I>;
  if (x != x) return sizeof(I) == 8 ? (I{1} << (sizeof(I) * 8 - 1)) : I{0};
  if (x <= static_cast<F>(Limits::min())) return Limits::min();
  if (x >= static_cast<F>(Limits::max())) return Limits::max();
  return static_cast<I>(x);
}
}  // namespace sy_on_host

#define SY_ON_HOST_CONVERT(F, f, I, i)                   \
  inline I __##f##2##i##_rz(F x) {                       \
    return sy_on_host::to_integer<I>(std::trunc(x));     \
  }                                                      \
  inline I __##f##2##i##_rn(F x) {                       \
    return sy_on_host::to_integer<I>(std::nearbyint(x)); \
  }                                                      \
  inline I __##f##2##i##_rd(F x) {                       \
    return sy_on_host::to_integer<I>(std::floor(x));     \
  }                                                      \
  inline I __##f##2##i##_ru(F x) {                       \
    return sy_on_host::to_integer<I>(std::ceil(x));      \
  }
SY_ON_HOST_CONVERT(float, float, int, int)
SY_ON_HOST_CONVERT(float, float, unsigned, uint)
SY_ON_HOST_CONVERT(float, float, long long, ll)
SY_ON_HOST_CONVERT(float, float, unsigned long long, ull)
SY_ON_HOST_CONVERT(double, double, int, int)
SY_ON_HOST_CONVERT(double, double, unsigned, uint)
SY_ON_HOST_CONVERT(double, double, long long, ll)
SY_ON_HOST_CONVERT(double, double, unsigned long long, ull)
#undef SY_ON_HOST_CONVERT

inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) {
  return static_cast<float>(x);
}
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) {
  return static_cast<double>(x);
}
