#pragma once

#include "aten/backend/claims.h"
#include "aten/backend/cpu_fallback.h"

namespace sy {

namespace detail {

template <auto* F, class Op, class Signature>
struct Composed;
template <auto* F, class Op, class R, class... A>
struct Composed<F, Op, R(A...)> {
  static R call(A... args) {
    try {
      const ComposedCall whole;
      return F(args...);
    } catch (const NeedsFallback&) {
    }
    return OnCpu<R(A...)>{Op::name}(args...);
  }
};

}  // namespace detail

// The kernel F of operator Op, which calls other operators, for backends that
// have no kernel of their own. If one of those operators falls back to the CPU,
// the whole call falls back instead.
template <auto* F, class Op>
constexpr auto* composed =
    &detail::Composed<F, Op, typename Op::Signature>::call;

}  // namespace sy
