#include "backends/cpu/program/chain.h"

#include "backends/cpu/program/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/program/chain.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/program/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/program/wide.inc"
namespace sy::tiles::HWY_NAMESPACE {
namespace {

#include "backends/cpu/program/functors/arithmetic.inc"

using lang::Prim;

template <class T>
struct Registers {
  static constexpr int kCount = 8;
  T value[kCount];
  bool flag[kCount];
};

template <int kChain, size_t kStep, class T>
HWY_INLINE void step(Registers<T>& r) {
  constexpr Step s = kChains[kChain].steps[kStep];
  const T a = r.value[s.a], b = r.value[s.b];
  bool& flag = r.flag[s.dst];
  T& value = r.value[s.dst];
  if constexpr (s.op == Prim::gt) {
    flag = a > b;
  } else if constexpr (s.op == Prim::le) {
    flag = a <= b;
  } else if constexpr (s.op == Prim::isnan) {
    flag = a != a;
  } else if constexpr (s.op == Prim::select) {
    value = r.flag[s.a] ? b : r.value[s.c];
  } else if constexpr (s.op == Prim::add) {
    value = Add::f(a, b);
  } else if constexpr (s.op == Prim::mul) {
    value = Mul::f(a, b);
  } else if constexpr (s.op == Prim::div) {
    value = Div::f(a, b);
  } else {
    static_assert(s.op == Prim::clamp);
    value = Clamp::f(a, b, r.value[s.c]);
  }
}

template <int kChain, class T>
HWY_INLINE T element(T a, T b, const T* uniforms) {
  constexpr const Chain& c = kChains[kChain];
  Registers<T> r = {};
  r.value[0] = a;
  if constexpr (c.n_inputs > 1) r.value[1] = b;
  for (int u = 0; u < c.n_uniforms; ++u) {
    r.value[c.n_inputs + u] = uniforms[u];
  }
  [&r]<size_t... i>(std::index_sequence<i...>) { (step<kChain, i>(r), ...); }
  (std::make_index_sequence<kChains[kChain].n_steps>());
  return r.value[c.steps[c.n_steps - 1].dst];
}

template <int kChain, class T>
void chain(void* dst, const void* a, const void* b, const void* c, uint32_t,
           int64_t n) {
  constexpr int kInputs = kChains[kChain].n_inputs;
  constexpr int64_t kBlock = 64 / sizeof(T);
  T uniforms[kMaxUniforms];
  for (int u = 0; u < kChains[kChain].n_uniforms; ++u) {
    __builtin_memcpy(&uniforms[u], static_cast<const Uniform*>(c) + u,
                     sizeof(T));
  }
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(kInputs > 1 ? b : a);
  for (; n >= kBlock; n -= kBlock, d += kBlock, x += kBlock, y += kBlock) {
    SY_TILE_LOOP
    for (int64_t i = 0; i < kBlock; ++i) {
      d[i] = element<kChain>(x[i], y[i], uniforms);
    }
  }
  if (n <= 0) return;
  T room[3][kBlock] = {};
  __builtin_memcpy(room[0], x, static_cast<size_t>(n) * sizeof(T));
  __builtin_memcpy(room[1], y, static_cast<size_t>(n) * sizeof(T));
  SY_TILE_LOOP
  for (int64_t i = 0; i < kBlock; ++i) {
    room[2][i] = element<kChain>(room[0][i], room[1][i], uniforms);
  }
  __builtin_memcpy(d, room[2], static_cast<size_t>(n) * sizeof(T));
}

template <size_t... i>
void fill_all(KernelTable& t, std::index_sequence<i...>) {
  ((t.chains[i][0] = &chain<i, float>, t.chains[i][1] = &chain<i, double>),
   ...);
}
void fill(KernelTable& t) {
  fill_all(t, std::make_index_sequence<kNumChains>());
}

}  // namespace
}  // namespace sy::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::tiles {

void fill_chain(Isa isa, KernelTable& table) { SY_TILE_FILL(isa, table) }

int find_chain(const Program& p) noexcept {
  if (p.n_steps > Chain::kMaxSteps || p.n_results != 1 || p.bool_inputs != 0 ||
      p.bool_uniforms != 0 || p.results[0].is_bool ||
      p.results[0].reg != p.steps[p.n_steps - 1].dst) {
    return -1;
  }
  const auto same = [](const Step& s, const Step& t) {
    return s.op == t.op && s.dst == t.dst && s.a == t.a && s.b == t.b &&
           s.c == t.c;
  };
  for (int k = 0; k < kNumChains; ++k) {
    const Chain& c = kChains[k];
    if (c.n_steps != p.n_steps || c.n_inputs != p.n_inputs ||
        c.n_uniforms != p.n_uniforms) {
      continue;
    }
    int i = 0;
    while (i < c.n_steps && same(c.steps[i], p.steps[i])) ++i;
    if (i == c.n_steps) return k;
  }
  return -1;
}

}  // namespace sy::tiles
#endif
