#pragma once

#include <optional>

#include "aten/contract/resize_axis.h"
#include "aten/engine/dims.h"
#include "aten/tensor.h"

// What operators that resize images share.
namespace sy::composite {

// self at other sizes of its last dims, made of index_select: for backends that
// have no kernel of their own.
Tensor resize_by_index(const ResizeRequest& r, const Tensor& self,
                       IntArrayRef sizes);
// The gradient of what had these sizes.
Tensor resize_backward_by_index(const ResizeRequest& r,
                                const Tensor& grad_output, IntArrayRef sizes);

// By sizes or by factors: which of the two, and the sizes that follow.
using ResizeFactors = std::optional<ArrayRef<double>>;
Dims resized_dims(const char* op, const Tensor& input,
                  const OptionalIntArrayRef& output_size,
                  const ResizeFactors& factors, int64_t n);
inline std::optional<double> factor_of(const ResizeFactors& factors, size_t i) {
  return factors ? std::optional<double>((*factors)[i]) : std::nullopt;
}

// f(sizes, factors…) for n dims.
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
