#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "aten/backend/cpu_fallback.h"
#include "aten/tensor.h"
#include "c10/dispatch/boxing.h"

// The dtypes and layouts that a backend outside the tree claims for its kernels
// in NAME.yaml (`dtypes:`, `layouts:`). sygen registers the kernels so that
// they get no other calls. Other calls run like calls of operators without a
// kernel, and are counted as such.

namespace sy {

struct BackendClaims {
  uint32_t dtypes = ~0u;  // bit of each ScalarType
  bool strided = true;    // else tensors are contiguous
  constexpr bool has(ScalarType t) const {
    return ((dtypes >> static_cast<int>(t)) & 1u) != 0;
  }
};

// Calls the operator on the CPU, and copies the tensors among the arguments
// there and back: OnCpu<decltype(add_Tensor)>{"aten::add.Tensor"}(a, b, 1).
template <class Signature>
struct OnCpu;
template <class R, class... A>
struct OnCpu<R(A...)> {
  const char* op;

  R operator()(A... args) const {
    Kernel fallback = Kernel::from_boxed(&cpu_fallback);
    fallback.flags = Kernel::kFallback;
    fallback.op = &Dispatcher::singleton().find_or_throw(op).entry();
    return detail::call_kernel<R, A...>(&fallback, DispatchKeySet(),
                                        std::forward<A>(args)...);
  }
};

namespace detail {

template <class T>
constexpr bool holds_tensors() {
  if constexpr (is_tensor<T>) {
    return true;
  } else if constexpr (requires { typename T::value_type; }) {
    return holds_tensors<typename T::value_type>();
  } else {
    return false;
  }
}

// Whether the claims cover an argument. They do not cover numbers in CPU
// memory, which are not tensors of the backend.
template <class T>
bool claims_fit(const BackendClaims& claims, const T& arg) {
  if constexpr (is_tensor<T>) {
    return !arg.defined() || (!arg.is_cpu() && claims.has(arg.scalar_type()) &&
                              (claims.strided || arg.is_contiguous()));
  } else if constexpr (std::is_same_v<T, ScalarType>) {
    return claims.has(arg);
  } else if constexpr (std::is_same_v<T, std::optional<ScalarType>>) {
    return !arg || claims.has(*arg);
  } else if constexpr (holds_tensors<T>()) {
    if constexpr (requires { arg.has_value(); }) {
      return !arg.has_value() || claims_fit(claims, *arg);
    } else {
      for (const auto& element : arg) {
        if (!claims_fit(claims, element)) return false;
      }
      return true;
    }
  } else {
    return true;
  }
}

template <class Signature, auto* F, const BackendClaims& Claims, const char* Op>
struct ClaimedKernel;
template <class R, class... A, auto* F, const BackendClaims& Claims,
          const char* Op>
struct ClaimedKernel<R(A...), F, Claims, Op> {
  static R call(A... args) {
    // Factories make tensors of any dtype: they compute nothing.
    constexpr bool computes = (holds_tensors<std::remove_cvref_t<A>>() || ...);
    if constexpr (computes) {
      if (!(claims_fit(Claims, args) && ...)) {
        return OnCpu<R(A...)>{Op}(std::forward<A>(args)...);
      }
    }
    return F(std::forward<A>(args)...);
  }
};

}  // namespace detail

// The kernel F of operator Op for calls within the claims.
template <auto* F, const BackendClaims& Claims, const char* Op>
constexpr auto* claimed =
    &detail::ClaimedKernel<std::remove_pointer_t<decltype(F)>, F, Claims,
                           Op>::call;

}  // namespace sy
