#pragma once

#include <optional>

#include "aten/contract/resize_axis.h"
#include "aten/engine/dims.h"
#include "aten/tensor.h"

// Shared by operators that resize images.
namespace sy::composite {

// self with its last dims resized to `sizes`, made of index_select, for
// backends that have no kernel of their own.
Tensor resize_by_index(const ResizeRequest& r, const Tensor& self,
                       IntArrayRef sizes);
// The gradient of the images that were resized. They had `sizes`.
Tensor resize_backward_by_index(const ResizeRequest& r,
                                const Tensor& grad_output, IntArrayRef sizes);

// The sizes of the result: `output_size`, or the sizes of input times
// `factors`. Throws ValueError unless exactly one of the two is given.
using ResizeFactors = std::optional<ArrayRef<double>>;
Dims resized_dims(const char* op, const Tensor& input,
                  const OptionalIntArrayRef& output_size,
                  const ResizeFactors& factors, int64_t n);
inline std::optional<double> factor_of(const ResizeFactors& factors, size_t i) {
  return factors ? std::optional<double>((*factors)[i]) : std::nullopt;
}

// Calls f(sizes, factors…) with the sizes of the result and kDims factors.
template <int64_t kDims, class F>
Tensor resized(const char* op, const Tensor& input,
               const OptionalIntArrayRef& output_size,
               const ResizeFactors& factors, const F& f) {
  const Dims sizes = resized_dims(op, input, output_size, factors, kDims);
  if constexpr (kDims == 1) {
    return f(sizes, factor_of(factors, 0));
  } else if constexpr (kDims == 2) {
    return f(sizes, factor_of(factors, 0), factor_of(factors, 1));
  } else {
    return f(sizes, factor_of(factors, 0), factor_of(factors, 1),
             factor_of(factors, 2));
  }
}

}  // namespace sy::composite
