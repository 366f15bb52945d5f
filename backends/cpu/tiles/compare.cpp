// Kernels of functors/compare.inc.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/compare.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/compare.inc"

using lang::Prim;

// a > b is b < a: the operands change places.
template <class F, class T>
void swapped(void* dst, const void* a, const void* b, const void* c,
             uint32_t uniform_mask, int64_t n) {
  prim<F, Bool, T, T>(dst, b, a, c,
                      (uniform_mask >> 1 & 1) | (uniform_mask & 1) << 1, n);
}

// Reads no element: the functor gives the same for any.
template <class F>
void constant(void* dst, const void*, const void*, const void*, uint32_t,
              int64_t n) {
  static constexpr Bool kAny = 0;
  prim<F, Bool, Bool>(dst, &kAny, nullptr, nullptr, 1, n);
}

template <Prim p, ComputeType type, class F>
void set(KernelTable& t) {
  if constexpr (p == Prim::gt) {
    t.at(p, type) = &swapped<Lt, ElementOf<type>>;
  } else if constexpr (p == Prim::ge) {
    t.at(p, type) = &swapped<Le, ElementOf<type>>;
  } else if constexpr (std::is_same_v<F, Never> || std::is_same_v<F, Always>) {
    t.at(p, type) = &constant<F>;
  } else {
    t.at(p, type) = kernel_of<p, type, F>();
  }
}

void fill(KernelTable& t) {
#define SY_LIST_COMPARE
#define SY_FUNCTOR(prim, type, functor) \
  set<Prim::prim, ComputeType::type, functor>(t);
#include "aten/program/functors/list.inc"
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_compare(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
