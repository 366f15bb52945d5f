// Kernels of functors/math_float.inc.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/math_float.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/math64.inc"
#include "aten/program/functors/math_float.inc"

using lang::Prim;

template <Prim p, ComputeType type, class F>
void set(KernelTable& t) {
  t.at(p, type) = kernel_of<p, type, F>();
}

void fill(KernelTable& t) {
#define SY_LIST_MATH_FLOAT
#define SY_FUNCTOR(prim, type, functor) \
  set<Prim::prim, ComputeType::type, functor>(t);
#include "aten/program/functors/list.inc"
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_math_float(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
