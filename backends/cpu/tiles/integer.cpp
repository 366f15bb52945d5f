// Kernels of the bits of functors/integer.inc.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/integer.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/arithmetic.inc"
#include "aten/program/functors/integer.inc"

using lang::Prim;

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

template <Prim p, ComputeType type, class F>
void set(KernelTable& t) {
  using T = ElementOf<type>;
  if constexpr (p == Prim::shift_left && sizeof(T) == 1) {
    t.at(p, type) = &shift_bytes_left<T>;
  } else {
    t.at(p, type) = kernel_of<p, type, F>();
  }
}

void fill(KernelTable& t) {
#define SY_LIST_INTEGER
#define SY_FUNCTOR(prim, type, functor) \
  set<Prim::prim, ComputeType::type, functor>(t);
#include "aten/program/functors/list.inc"
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_integer(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
