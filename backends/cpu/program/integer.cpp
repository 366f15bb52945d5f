// Bits of integers.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/integer.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/program/functors.inc"
#include "backends/cpu/program/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

struct BitwiseNot {
  template <class T>
  static HWY_INLINE T f(T x) {
    return static_cast<T>(~x);
  }
};
struct BitwiseAnd {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOr {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXor {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Shifts by less than 0 or by the width and more shift everything out.
template <class T>
HWY_INLINE constexpr unsigned amount(T b) {
  return static_cast<unsigned>(b) & (8 * sizeof(T) - 1);
}
template <class T>
HWY_INLINE constexpr bool within(T b) {
  return (b >= 0) & (static_cast<uint64_t>(b) < 8 * sizeof(T));
}
struct ShiftLeft {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    using U = std::make_unsigned_t<T>;
    const T shifted =
        static_cast<T>(static_cast<U>(static_cast<U>(a) << amount(b)));
    return within(b) ? shifted : T(0);
  }
};
struct ShiftRight {
  template <class T>
  static HWY_INLINE T f(T a, T b) {
    const T out = std::is_signed_v<T> ? static_cast<T>(a < 0 ? -1 : 0) : T(0);
    return within(b) ? static_cast<T>(a >> amount(b)) : out;
  }
};

// No machine shifts bytes, each by its own amount or all by one; it is cheaper
// to multiply them.
template <class T>
void shift_bytes_left(void* dst, const void* a, const void* b, const void* c,
                      uint32_t uniform_mask, int64_t n) {
  static_assert(sizeof(T) == 1);
  if (uniform_mask != 2 || n <= 0) {
    return prim<ShiftLeft, T, T, T>(dst, a, b, c, uniform_mask, n);
  }
  const T factor = ShiftLeft::f(T(1), *static_cast<const T*>(b));
  prim<Mul, T, T, T>(dst, a, &factor, c, uniform_mask, n);
}

template <class T>
void fill_type(KernelTable& t) {
  set_unary<T, BitwiseNot>(t, Prim::bitwise_not);
  set_binary<T, BitwiseAnd>(t, Prim::bitwise_and);
  set_binary<T, BitwiseOr>(t, Prim::bitwise_or);
  set_binary<T, BitwiseXor>(t, Prim::bitwise_xor);
  if constexpr (sizeof(T) == 1) {
    t.at(Prim::shift_left, TileTypeOf<T>::value) = &shift_bytes_left<T>;
  } else {
    set_binary<T, ShiftLeft>(t, Prim::shift_left);
  }
  set_binary<T, ShiftRight>(t, Prim::shift_right);
}

void fill(KernelTable& t) {
  fill_type<uint8_t>(t);
  fill_type<int8_t>(t);
  fill_type<int16_t>(t);
  fill_type<int32_t>(t);
  fill_type<int64_t>(t);
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {
void fill_integer(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::tiles
#endif
