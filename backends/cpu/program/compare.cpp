// What gives or takes bools: comparisons, classes of numbers, logic, select;
// and all arithmetic of the compute type bool.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/compare.cpp"
#include "hwy/foreach_target.h"

#include <bit>

#include "backends/cpu/program/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;
using Bool = uint8_t;

#define SY_TILE_COMPARE(Name, expression) \
  struct Name {                           \
    template <class T>                    \
    static HWY_INLINE Bool f(T a, T b) {  \
      return expression;                  \
    }                                     \
  };
SY_TILE_COMPARE(Eq, a == b)
SY_TILE_COMPARE(Ne, a != b)
SY_TILE_COMPARE(Lt, a < b)
SY_TILE_COMPARE(Le, a <= b)
SY_TILE_COMPARE(And, (a != 0) & (b != 0))
SY_TILE_COMPARE(Or, (a | b) != 0)
SY_TILE_COMPARE(Xor, (a != 0) != (b != 0))
SY_TILE_COMPARE(AndNot, (a != 0) & (b == 0))
SY_TILE_COMPARE(OrNot, (a != 0) | (b == 0))
#undef SY_TILE_COMPARE

// a > b is b < a: the operands change places.
template <class F, class T>
void swapped(void* dst, const void* a, const void* b, const void* c,
             uint32_t uniform_mask, int64_t n) {
  prim<F, Bool, T, T>(dst, b, a, c,
                      (uniform_mask >> 1 & 1) | (uniform_mask & 1) << 1, n);
}

HWY_INLINE float magnitude(float x) { return __builtin_fabsf(x); }
HWY_INLINE double magnitude(double x) { return __builtin_fabs(x); }

struct IsNan {
  template <class T>
  static HWY_INLINE Bool f(T x) {
    return x != x;
  }
};
struct IsInf {
  template <class T>
  static HWY_INLINE Bool f(T x) {
    return magnitude(x) == static_cast<T>(__builtin_inf());
  }
};
struct IsFinite {
  template <class T>
  static HWY_INLINE Bool f(T x) {
    return magnitude(x) < static_cast<T>(__builtin_inf());
  }
};
struct Signbit {
  static HWY_INLINE Bool f(float x) { return std::bit_cast<uint32_t>(x) >> 31; }
  static HWY_INLINE Bool f(double x) {
    return std::bit_cast<uint64_t>(x) >> 63;
  }
  template <class T>
  static HWY_INLINE Bool f(T x) {
    return x < 0;
  }
};
struct Truth {
  template <class T>
  static HWY_INLINE Bool f(T x) {
    return x != 0;
  }
};
struct Not {
  static HWY_INLINE Bool f(Bool x) { return x == 0; }
};
struct Zero {
  static HWY_INLINE Bool f(Bool) { return 0; }
};
struct One {
  static HWY_INLINE Bool f(Bool) { return 1; }
};
template <class T>
struct FromBoolTo {
  static HWY_INLINE T f(Bool x) { return static_cast<T>(x != 0); }
};
struct Select {
  template <class T>
  static HWY_INLINE T f(Bool condition, T a, T b) {
    return condition != 0 ? a : b;
  }
};
struct Mux {  // fma on bools
  static HWY_INLINE Bool f(Bool a, Bool b, Bool c) {
    return ((a != 0) & (b != 0)) | (c != 0);
  }
};
struct ClampBool {
  static HWY_INLINE Bool f(Bool x, Bool low, Bool high) {
    return ((x | low) != 0) & (high != 0);
  }
};

template <class T>
void fill_type(KernelTable& t, ComputeType type) {
  t.at(Prim::eq, type) = &prim<Eq, Bool, T, T>;
  t.at(Prim::ne, type) = &prim<Ne, Bool, T, T>;
  t.at(Prim::lt, type) = &prim<Lt, Bool, T, T>;
  t.at(Prim::le, type) = &prim<Le, Bool, T, T>;
  t.at(Prim::gt, type) = &swapped<Lt, T>;
  t.at(Prim::ge, type) = &swapped<Le, T>;
  t.at(Prim::truth, type) = &prim<Truth, Bool, T>;
  if constexpr (std::is_floating_point_v<T>) {
    t.at(Prim::isnan, type) = &prim<IsNan, Bool, T>;
    t.at(Prim::isinf, type) = &prim<IsInf, Bool, T>;
    t.at(Prim::isfinite, type) = &prim<IsFinite, Bool, T>;
  }
  t.at(Prim::signbit, type) = &prim<Signbit, Bool, T>;
  t.at(Prim::from_bool, type) = &prim<FromBoolTo<T>, T, Bool>;
  t.at(Prim::select, type) = &prim<Select, T, Bool, T, T>;
  t.at(Prim::logical_not, type) = &prim<Not, Bool, Bool>;
  t.at(Prim::logical_and, type) = &prim<And, Bool, Bool, Bool>;
  t.at(Prim::logical_or, type) = &prim<Or, Bool, Bool, Bool>;
  t.at(Prim::logical_xor, type) = &prim<Xor, Bool, Bool, Bool>;
}

// The integers' answers to what only floats can be: constant.
template <class F>
void constant(void* dst, const void*, const void*, const void*, uint32_t,
              int64_t n) {
  static constexpr Bool kAny = 0;
  prim<F, Bool, Bool>(dst, &kAny, nullptr, nullptr, 1, n);
}

// Arithmetic modulo nothing: a result that is not 0 is 1.
void fill_bool(KernelTable& t) {
  constexpr ComputeType type = ComputeType::b8;
  const auto unary = [&t](Prim p, PrimFn fn) { t.at(p, type) = fn; };
  const PrimFn same = &prim<Truth, Bool, Bool>;
  for (Prim p : {Prim::abs, Prim::sign, Prim::square}) unary(p, same);
  unary(Prim::bitwise_not, &prim<Not, Bool, Bool>);
  const PrimFn either = &prim<Or, Bool, Bool, Bool>;
  const PrimFn both = &prim<And, Bool, Bool, Bool>;
  for (Prim p :
       {Prim::add, Prim::maximum, Prim::fmax, Prim::bitwise_or, Prim::gcd}) {
    t.at(p, type) = either;
  }
  for (Prim p :
       {Prim::mul, Prim::minimum, Prim::fmin, Prim::bitwise_and, Prim::lcm}) {
    t.at(p, type) = both;
  }
  t.at(Prim::sub, type) = &prim<Xor, Bool, Bool, Bool>;
  t.at(Prim::bitwise_xor, type) = &prim<Xor, Bool, Bool, Bool>;
  t.at(Prim::pow, type) = &prim<OrNot, Bool, Bool, Bool>;
  t.at(Prim::shift_right, type) = &prim<AndNot, Bool, Bool, Bool>;
  t.at(Prim::fma, type) = &prim<Mux, Bool, Bool, Bool, Bool>;
  t.at(Prim::clamp, type) = &prim<ClampBool, Bool, Bool, Bool, Bool>;
}

void fill(KernelTable& t) {
  fill_type<float>(t, ComputeType::f32);
  fill_type<double>(t, ComputeType::f64);
  fill_type<uint8_t>(t, ComputeType::u8);
  fill_type<int8_t>(t, ComputeType::i8);
  fill_type<int16_t>(t, ComputeType::i16);
  fill_type<int32_t>(t, ComputeType::i32);
  fill_type<int64_t>(t, ComputeType::i64);
  fill_type<Bool>(t, ComputeType::b8);
  for (ComputeType type :
       {ComputeType::u8, ComputeType::i8, ComputeType::i16, ComputeType::i32,
        ComputeType::i64, ComputeType::b8}) {
    t.at(Prim::isnan, type) = &constant<Zero>;
    t.at(Prim::isinf, type) = &constant<Zero>;
    t.at(Prim::isfinite, type) = &constant<One>;
  }
  fill_bool(t);
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_compare(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
