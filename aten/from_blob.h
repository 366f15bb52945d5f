#pragma once

#include <type_traits>
#include <utility>

#include "aten/tensor.h"

namespace sy {

namespace detail {
// `strides` may be nullptr, which means row-major. The deleter may be nullptr.
SY_API Tensor from_blob(void* data, IntArrayRef sizes,
                        const IntArrayRef* strides, Deleter deleter,
                        void* context, const TensorOptions& options);
}  // namespace detail

// Tensors over the caller's memory. The memory must be on options.device(),
// hold elements of options.dtype() as far as sizes and strides reach, and live
// as long as any tensor over it. Throws ValueError. The memory is not read.
inline Tensor from_blob(void* data, IntArrayRef sizes,
                        const TensorOptions& options = {}) {
  return detail::from_blob(data, sizes, nullptr, nullptr, nullptr, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
  return detail::from_blob(data, sizes, &strides, nullptr, nullptr, options);
}

namespace detail {
template <class F>
Tensor from_blob(void* data, IntArrayRef sizes, const IntArrayRef* strides,
                 F&& deleter, const TensorOptions& options) {
  using Function = std::decay_t<F>;
  if constexpr (std::is_convertible_v<F, Deleter>) {
    return from_blob(data, sizes, strides, static_cast<Deleter>(deleter), data,
                     options);
  } else {
    struct Owner {
      void* data;
      Function deleter;
      static void run(void* context) {
        auto* const owner = static_cast<Owner*>(context);
        owner->deleter(owner->data);
        delete owner;
      }
    };
    auto* const owner = new Owner{data, std::forward<F>(deleter)};
    try {
      return from_blob(data, sizes, strides, &Owner::run, owner, options);
    } catch (...) {
      delete owner;  // the memory stays the caller's
      throw;
    }
  }
}
}  // namespace detail

// The same with a deleter. deleter(data) is called when no tensor over the
// memory is left, by the thread that released the last one. It must not throw.
// It is not called if from_blob throws.
template <class F>
requires std::is_invocable_v<F&, void*> Tensor
from_blob(void* data, IntArrayRef sizes, F&& deleter,
          const TensorOptions& options = {}) {
  return detail::from_blob(data, sizes, nullptr, std::forward<F>(deleter),
                           options);
}
template <class F>
requires std::is_invocable_v<F&, void*> Tensor
from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, F&& deleter,
          const TensorOptions& options = {}) {
  return detail::from_blob(data, sizes, &strides, std::forward<F>(deleter),
                           options);
}

}  // namespace sy
