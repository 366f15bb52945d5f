// Loops of whole programs: what the generator wrote of each, on the functors
// of the primitives.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/compiled.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {
namespace {

#include "aten/program/functors/arithmetic.inc"
#include "aten/program/functors/compare.inc"

using lang::Prim;

template <Prim, ComputeType>
struct FunctorOf;
#define SY_LIST_ARITHMETIC
#define SY_LIST_COMPARE
#define SY_FUNCTOR(prim, compute_type, functor) \
  template <>                                   \
  struct FunctorOf<Prim::prim, ComputeType::compute_type> : functor {};
#include "aten/program/functors/list.inc"

// One step of a program.
template <Prim p, ComputeType type, class... A>
HWY_INLINE auto step(A... a) {
  return FunctorOf<p, type>::f(a...);
}

#include "backends/cpu/tiles/compiled_gen.inc"

// A program's function of one element in a loop over blocks, see Note [Block
// loops].
template <class F, ComputeType type>
void loop(void* dst, const void* a, const void* b, const void* c, uint32_t,
          int64_t n) {
  using T = ElementOf<type>;
  constexpr int64_t kBlock = 64 / sizeof(T);
  T u[F::kUniforms + 1];
  for (int k = 0; k < F::kUniforms; ++k) {
    __builtin_memcpy(&u[k], static_cast<const program::Uniform*>(c) + k,
                     sizeof(T));
  }
  const auto element = [&u](T x, T y) HWY_ATTR {
    if constexpr (F::kInputs == 1) return F::template f<type, T>(x, u);
    if constexpr (F::kInputs == 2) return F::template f<type, T>(x, y, u);
  };
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(F::kInputs > 1 ? b : a);
  for (; n >= kBlock; n -= kBlock, d += kBlock, x += kBlock, y += kBlock) {
    SY_TILE_LOOP
    for (int64_t i = 0; i < kBlock; ++i) d[i] = element(x[i], y[i]);
  }
  if (n <= 0) return;
  T room[3][kBlock] = {};
  __builtin_memcpy(room[0], x, static_cast<size_t>(n) * sizeof(T));
  __builtin_memcpy(room[1], y, static_cast<size_t>(n) * sizeof(T));
  SY_TILE_LOOP
  for (int64_t i = 0; i < kBlock; ++i) {
    room[2][i] = element(room[0][i], room[1][i]);
  }
  __builtin_memcpy(d, room[2], static_cast<size_t>(n) * sizeof(T));
}

void fill(KernelTable& t) {
  int i = 0;
  each_compiled([&](auto program) {
    using F = decltype(program);
    t.compiled[i][0] = &loop<F, ComputeType::f32>;
    t.compiled[i][1] = &loop<F, ComputeType::f64>;
    ++i;
  });
}

}  // namespace
}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::tiles {
void fill_compiled(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }
}  // namespace sy::cpu::tiles
#endif
