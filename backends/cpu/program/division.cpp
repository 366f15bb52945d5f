// Quotients and remainders of integers and of floats.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/division.cpp"
#include "hwy/foreach_target.h"

#include <cmath>
#include <limits>

#include "backends/cpu/program/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

// Note [Integer quotients]
// The quotient of two integers of at most 32 bits, rounded to double, truncates
// to the right integer: it is nearer to its exact value than that is to the
// next integer. For 16 bits float is wide enough. The same holds of 64 bits
// where both numbers have 53 at most.
template <class T>
using Quotient = std::conditional_t<sizeof(T) < 4, float, double>;

template <class T>
HWY_INLINE T wrapped_negative(T a) {
  return static_cast<T>(0 - static_cast<uint64_t>(a));
}
template <class T>
HWY_NOINLINE T slow_quotient(T a, T b) {
  if (b == 0) {
    set_error();
    return 0;
  }
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return wrapped_negative(a);
  }
  return static_cast<T>(a / b);
}
template <class T>
HWY_INLINE T quotient(T a, T b) {
  using Whole = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  return static_cast<T>(static_cast<Whole>(static_cast<Quotient<T>>(a) /
                                           static_cast<Quotient<T>>(b)));
}
template <class T>
HWY_INLINE bool no_fast_quotient(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    constexpr uint64_t kLimit = uint64_t{1} << 52;
    const uint64_t both = (static_cast<uint64_t>(a) + kLimit) |
                          (static_cast<uint64_t>(b) + kLimit);
    return (b == 0) | ((both >> 53) != 0);
  }
  // The smallest int32 by -1 leaves int32; narrower types wrap afterwards.
  return (b == 0) |
         (sizeof(T) == 4 &&
          (b == static_cast<T>(-1)) & (a == std::numeric_limits<T>::min()));
}
template <class T>
HWY_INLINE T rest(T a, T b, T q) {
  return static_cast<T>(static_cast<uint64_t>(a) -
                        static_cast<uint64_t>(q) * static_cast<uint64_t>(b));
}

// A functor of a, b and their truncated quotient.
template <class F>
struct OfQuotient {
  static constexpr bool kCostly = true;
  template <class T>
  static HWY_INLINE bool special(T a, T b) {
    return no_fast_quotient(a, b);
  }
  template <class T>
  static HWY_NOINLINE T slow(T a, T b) {
    return b == 0 ? slow_quotient(a, b) : F::of(a, b, slow_quotient(a, b));
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return F::of(a, b, quotient(a, b));
  }
};
struct TruncOf {
  template <class T>
  static HWY_INLINE T of(T, T, T q) {
    return q;
  }
};
struct FloorOf {
  template <class T>
  static HWY_INLINE T of(T a, T b, T q) {
    const T r = rest(a, b, q);
    return static_cast<T>(q - ((r != 0) & ((r < 0) != (b < 0))));
  }
};
struct FmodOf {
  template <class T>
  static HWY_INLINE T of(T a, T b, T q) {
    return rest(a, b, q);
  }
};
struct RemainderOf {
  template <class T>
  static HWY_INLINE T of(T a, T b, T q) {
    const T r = rest(a, b, q);
    return static_cast<T>(r + (((r != 0) & ((r < 0) != (b < 0))) ? b : T(0)));
  }
};

// Floats. a - trunc(a / b) b is exact while the quotient is small: in double
// for float, with a fused product for double. Else libm.
struct Fmod {
  static constexpr bool kCostly = true;
  static HWY_INLINE bool special(float a, float b) {
    const double q = static_cast<double>(a) / static_cast<double>(b);
    return !(__builtin_fabs(q) < 0x1p27) |
           !(__builtin_fabsf(b) < __builtin_inff());
  }
  static HWY_INLINE bool special(double a, double b) {
#if HWY_NATIVE_FMA
    return !(__builtin_fabs(a / b) < 0x1p51) |
           !(__builtin_fabs(b) < __builtin_inf());
#else
    return (a == a) | (b == b) | true;
#endif
  }
  template <class T>
  static HWY_NOINLINE T slow(T a, T b) {
    return std::fmod(a, b);
  }
  static HWY_INLINE float f(float a, float b) {
    const double x = static_cast<double>(a);
    const double y = static_cast<double>(b);
    const double r = x - __builtin_trunc(x / y) * y;
    return __builtin_copysignf(static_cast<float>(r), a);
  }
  static HWY_INLINE double f(double a, double b) {
    const double x = __builtin_fabs(a);
    const double y = __builtin_fabs(b);
    // A quotient just below an integer may have been rounded up to it.
    const double r = __builtin_fma(-__builtin_trunc(x / y), y, x);
    return __builtin_copysign(r < 0 ? r + y : r, a);
  }
};
struct Remainder {
  static constexpr bool kCostly = true;
  template <class T>
  static HWY_INLINE bool special(T a, T b) {
    return Fmod::special(a, b);
  }
  template <class T>
  static HWY_INLINE T of(T b, T m) {
    return ((m != 0) & ((b < 0) != (m < 0))) ? m + b : m;
  }
  template <class T>
  static HWY_NOINLINE T slow(T a, T b) {
    return of(b, std::fmod(a, b));
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return of(b, Fmod::f(a, b));
  }
};
// The floor of the exact quotient, as Python defines a // b.
struct FloorDiv {
  static constexpr bool kCostly = true;
  template <class T>
  static HWY_INLINE bool special(T a, T b) {
    return Fmod::special(a, b);
  }
  static HWY_INLINE float floor(float x) { return __builtin_floorf(x); }
  static HWY_INLINE double floor(double x) { return __builtin_floor(x); }
  static HWY_INLINE float copysign(float x, float s) {
    return __builtin_copysignf(x, s);
  }
  static HWY_INLINE double copysign(double x, double s) {
    return __builtin_copysign(x, s);
  }
  template <class T>
  static HWY_INLINE T of(T a, T b, T m) {
    T q = (a - m) / b;
    q = ((m != 0) & ((b < 0) != (m < 0))) ? q - T(1) : q;
    const T floored = floor(q);
    const T nearest = q - floored > T(0.5) ? floored + T(1) : floored;
    return q != 0 ? nearest : copysign(T(0), a / b);
  }
  template <class T>
  static HWY_NOINLINE T slow(T a, T b) {
    return b == 0 ? a / b : of(a, b, std::fmod(a, b));
  }
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return of(a, b, Fmod::f(a, b));
  }
};

template <class T>
void fill_integer_type(KernelTable& t) {
  set_binary<T, OfQuotient<TruncOf>>(t, Prim::trunc_div);
  set_binary<T, OfQuotient<FloorOf>>(t, Prim::floor_div);
  set_binary<T, OfQuotient<FmodOf>>(t, Prim::fmod);
  set_binary<T, OfQuotient<RemainderOf>>(t, Prim::remainder);
}
template <class T>
void fill_float_type(KernelTable& t) {
  set_binary<T, FloorDiv>(t, Prim::floor_div);
  set_binary<T, Fmod>(t, Prim::fmod);
  set_binary<T, Remainder>(t, Prim::remainder);
}

void fill(KernelTable& t) {
  fill_integer_type<uint8_t>(t);
  fill_integer_type<int8_t>(t);
  fill_integer_type<int16_t>(t);
  fill_integer_type<int32_t>(t);
  fill_integer_type<int64_t>(t);
  fill_float_type<float>(t);
  fill_float_type<double>(t);
  // Of bools 0 and 1 as of bytes: a / 1 = a, a % 1 = 0.
  for (Prim p :
       {Prim::trunc_div, Prim::floor_div, Prim::fmod, Prim::remainder}) {
    t.at(p, ComputeType::b8) = t.at(p, ComputeType::u8);
  }
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_division(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
