// Arithmetic that is exact or one rounding, on every type.

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/arithmetic.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/program/functors.inc"
#include "backends/cpu/program/loop.inc"
#include "backends/cpu/program/narrow.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

using lang::Prim;

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
