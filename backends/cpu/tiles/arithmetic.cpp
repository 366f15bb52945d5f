// Kernels of functors/arithmetic.inc.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/arithmetic.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"
#include "backends/cpu/tiles/narrow.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/arithmetic.inc"

using lang::Prim;

// Primitives that take little more than reading and writing have kernels of
// Half and BFloat16 too.
constexpr bool has_narrow(Prim p) {
  switch (p) {
    case Prim::neg:
    case Prim::abs:
    case Prim::square:
    case Prim::sqrt:
    case Prim::add:
    case Prim::sub:
    case Prim::mul:
    case Prim::div:
    case Prim::maximum:
    case Prim::minimum: return true;
    default: return false;
  }
}

template <Prim p, ComputeType type, class F>
void set(KernelTable& t) {
  t.at(p, type) = kernel_of<p, type, F>();
  if constexpr (type == ComputeType::f32 && has_narrow(p)) {
    set_narrow<F, lang::kPrims[static_cast<int>(p)].type>(t, p);
  }
}

void fill(KernelTable& t) {
#define SY_LIST_ARITHMETIC
#define SY_FUNCTOR(prim, type, functor) \
  set<Prim::prim, ComputeType::type, functor>(t);
#include "aten/program/functors/list.inc"
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_arithmetic(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
