#pragma once

#include "kernel.cuh"

// The names of the compiler and of the standard library that the scalar
// functors (aten/program/functors) and the special functions use, for device
// code. Kernels have no standard headers: inside of sy::cuda::functors there is
// a namespace std of its own, which has as much as these functions name, and
// gcc's built-in functions are macros.

#ifdef SY_CUDA_ON_HOST
#include <math.h>
#endif

#define SY_FN __device__ __forceinline__
#define SY_FN_SLOW __device__ inline
#define SY_FN_FREE __device__ inline
#define SY_FMA 1
#define SY_VECTORS 0

#ifdef __CUDACC__  // NVRTC has it too
// A functor serves unsigned integers too.
#pragma nv_diag_suppress 186
#define __builtin_fabsf(x) ::fabsf(x)
#define __builtin_fabs(x) ::fabs(x)
#define __builtin_sqrtf(x) ::sqrtf(x)
#define __builtin_sqrt(x) ::sqrt(x)
#define __builtin_floorf(x) ::floorf(x)
#define __builtin_floor(x) ::floor(x)
#define __builtin_ceilf(x) ::ceilf(x)
#define __builtin_ceil(x) ::ceil(x)
#define __builtin_rintf(x) ::rintf(x)
#define __builtin_rint(x) ::rint(x)
#define __builtin_truncf(x) ::truncf(x)
#define __builtin_trunc(x) ::trunc(x)
#define __builtin_copysignf(x, y) ::copysignf(x, y)
#define __builtin_copysign(x, y) ::copysign(x, y)
#define __builtin_fmaf(x, y, z) ::fmaf(x, y, z)
#define __builtin_fma(x, y, z) ::fma(x, y, z)
#define __builtin_memcpy(to, from, bytes) ::memcpy(to, from, bytes)
#define __builtin_isunordered(x, y) (((x) != (x)) | ((y) != (y)))
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000u)
#define __builtin_nanf(text) __builtin_bit_cast(float, 0x7fc00000u)
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define __builtin_nan(text) __builtin_bit_cast(double, 0x7ff8000000000000ull)
#endif

namespace sy::cuda {

// A bool in a register: 0 or 1.
using bool8 = uint8_t;

namespace functors {
namespace std {

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_floating_point_v =
    is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_same_v<T, uint8_t> || is_same_v<T, int8_t> || is_same_v<T, int16_t> ||
    is_same_v<T, uint16_t> || is_same_v<T, int32_t> || is_same_v<T, uint32_t> ||
    is_same_v<T, int64_t> || is_same_v<T, uint64_t>;
template <class T>
inline constexpr bool is_signed_v = T(-1) < T(0);

template <bool condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, class A, class B>
using conditional_t = typename conditional<condition, A, B>::type;

template <class T>
using make_unsigned_t = conditional_t<
    sizeof(T) == 1, uint8_t,
    conditional_t<sizeof(T) == 2, uint16_t,
                  conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
struct numeric_limits {  // only for integers
  static SY_FN constexpr T min() {
    return is_signed_v<T> ? static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1))
                          : T(0);
  }
};
template <>
struct numeric_limits<double> {
  static SY_FN constexpr double infinity() { return __builtin_inf(); }
  static SY_FN constexpr double quiet_NaN() { return __builtin_nan(""); }
  static SY_FN constexpr double epsilon() { return 0x1p-52; }
};

template <class To, class From>
SY_FN constexpr To bit_cast(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

template <class T>
SY_FN_FREE T gcd(T a, T b) {
  while (b != 0) {
    const T r = static_cast<T>(a % b);
    a = b;
    b = r;
  }
  return a;
}

SY_FN float fmod(float a, float b) { return ::fmodf(a, b); }
SY_FN double fmod(double a, double b) { return ::fmod(a, b); }
SY_FN float nextafter(float a, float b) { return ::nextafterf(a, b); }
SY_FN double nextafter(double a, double b) { return ::nextafter(a, b); }
SY_FN double pow(double a, double b) { return ::pow(a, b); }

#define SY_STD_FUNCTION(name) \
  SY_FN double name(double x) { return ::name(x); }
SY_STD_FUNCTION(sin)
SY_STD_FUNCTION(cos)
SY_STD_FUNCTION(tan)
SY_STD_FUNCTION(asin)
SY_STD_FUNCTION(acos)
SY_STD_FUNCTION(sinh)
SY_STD_FUNCTION(cosh)
SY_STD_FUNCTION(asinh)
SY_STD_FUNCTION(acosh)
SY_STD_FUNCTION(exp)
SY_STD_FUNCTION(expm1)
SY_STD_FUNCTION(log)
SY_STD_FUNCTION(log1p)
SY_STD_FUNCTION(sqrt)
SY_STD_FUNCTION(fabs)
SY_STD_FUNCTION(floor)
SY_STD_FUNCTION(ceil)
SY_STD_FUNCTION(trunc)
SY_STD_FUNCTION(rint)
SY_STD_FUNCTION(erf)
SY_STD_FUNCTION(erfc)
SY_STD_FUNCTION(tgamma)
#undef SY_STD_FUNCTION
SY_FN double copysign(double x, double y) { return __builtin_copysign(x, y); }
SY_FN double fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
SY_FN bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
SY_FN bool isnan(double x) { return x != x; }

namespace numbers {
inline constexpr double pi = 3.141592653589793238462643383279502884;
inline constexpr double inv_pi = 0.318309886183790671537767526745028724;
inline constexpr double sqrt2 = 1.414213562373095048801688724209698079;
inline constexpr double egamma = 0.577215664901532860606512090082402431;
}  // namespace numbers

}  // namespace std

#ifdef __CUDACC__
SY_FN float lgammaf_r(float x, int*) { return ::lgammaf(x); }
SY_FN double lgamma_r(double x, int*) { return ::lgamma(x); }
#endif

}  // namespace functors
}  // namespace sy::cuda
