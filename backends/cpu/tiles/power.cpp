// pow of floats. A uniform exponent that has a name is computed by it, as in
// PyTorch: x^0.5 is sqrt(x), x^2 is x * x. Compiled programs do the same: see
// kNamedPowers in backends/cpu/jit/emitter.cpp.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/power.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/math64.inc"
#include "aten/program/functors/power.inc"

using lang::Prim;

struct Cube {
  template <class T>
  static HWY_INLINE T f(T x) {
    return x * x * x;
  }
};
struct InverseSquare {
  template <class T>
  static HWY_INLINE T f(T x) {
    return T(1) / (x * x);
  }
};

template <ComputeType type, class F>
void pow_prim(void* dst, const void* a, const void* b, const void* c,
              uint32_t uniform_mask, int64_t n) {
  using T = ElementOf<type>;
  if ((uniform_mask & 2) != 0) {
    const T exponent = *static_cast<const T*>(b);
    PrimFn fn = nullptr;
    if (exponent == T(2)) fn = prim_fn(Prim::square, type);
    if (exponent == T(0.5)) fn = prim_fn(Prim::sqrt, type);
    if (exponent == T(1)) fn = prim_fn(Prim::copy, type);
    if (exponent == T(-1)) fn = prim_fn(Prim::reciprocal, type);
    if (exponent == T(-0.5)) fn = prim_fn(Prim::rsqrt, type);
    if (exponent == T(3)) fn = &prim<Cube, T, T>;
    if (exponent == T(-2)) fn = &prim<InverseSquare, T, T>;
    if (fn != nullptr) return fn(dst, a, nullptr, nullptr, uniform_mask & 1, n);
  }
  prim<F, T, T, T>(dst, a, b, c, uniform_mask, n);
}

template <Prim p, ComputeType type, class F>
void set(KernelTable& t) {
  t.at(p, type) = &pow_prim<type, F>;
}

void fill(KernelTable& t) {
#define SY_LIST_POWER
#define SY_FUNCTOR(prim, type, functor) \
  set<Prim::prim, ComputeType::type, functor>(t);
#include "aten/program/functors/list.inc"
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_power(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
