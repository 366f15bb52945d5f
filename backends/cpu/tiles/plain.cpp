// Kernels that are plain loops on every machine: what libm does better, integer
// functions with loops of their own, and the special functions.

#include <cstring>

#include "aten/program/functors/environment.h"
#include "aten/program/special.h"
#include "backends/cpu/tiles/spread.h"
#include "backends/cpu/tiles/table.h"

namespace sy::cpu::tiles {

namespace {

#include "aten/program/functors/arithmetic.inc"
#include "aten/program/functors/compare.inc"
#include "aten/program/functors/integer.inc"
#include "aten/program/functors/math64.inc"
#include "aten/program/functors/math_double.inc"
#include "aten/program/functors/special.inc"

using lang::Prim;

template <class T>
void copy(void* dst, const void* a, const void*, const void*,
          uint32_t uniform_mask, int64_t n) {
  if ((uniform_mask & 1) == 0) {
    if (dst != a) std::memcpy(dst, a, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  spread_fn(sizeof(T))(dst, a, n);
}

template <class F, class T>
void unary_loop(void* dst, const void* a, const void*, const void*,
                uint32_t uniform_mask, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  if (n <= 0) return;
  if (uniform_mask & 1) {
    const T y = F::f(x[0]);
    for (int64_t i = 0; i < n; ++i) d[i] = y;
  } else {
    for (int64_t i = 0; i < n; ++i) d[i] = F::f(x[i]);
  }
}

template <class F, class T>
void binary_loop(void* dst, const void* a, const void* b, const void*,
                 uint32_t uniform_mask, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if (n <= 0) return;
  const T x0 = x[0];  // dst may be a uniform operand
  const T y0 = y[0];
  for (int64_t i = 0; i < n; ++i) {
    const T p = (uniform_mask & 1) ? x0 : x[i];
    const T q = (uniform_mask & 2) ? y0 : y[i];
    d[i] = F::f(p, q);
  }
}

template <Prim p, ComputeType type, class F>
void set(KernelTable& t) {
  using T = ElementOf<type>;
  constexpr int kArity = lang::arity(lang::kPrims[static_cast<int>(p)].type);
  if constexpr (std::is_same_v<F, Copy> || std::is_same_v<F, First>) {
    using Bits =
        std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                           std::type_identity<T>>;
    t.at(p, type) = &copy<typename Bits::type>;
  } else if constexpr (kArity == 1) {
    t.at(p, type) = &unary_loop<F, T>;
  } else {
    t.at(p, type) = &binary_loop<F, T>;
  }
}

}  // namespace

void fill_plain(KernelTable& t) {
#define SY_LIST_COPIES
#define SY_LIST_PLAIN
#define SY_LIST_SPECIAL
#define SY_FUNCTOR(prim, type, functor) \
  set<Prim::prim, ComputeType::type, functor>(t);
#include "aten/program/functors/list.inc"
}

}  // namespace sy::cpu::tiles
