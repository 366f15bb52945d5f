#pragma once

#include <optional>

#include "aten/tensor.h"

namespace sy::nn::detail {

// Returns what operators take for a parameter that may be absent: undefined
// tensors stand for none in modules and options.
inline std::optional<Tensor> if_defined(const Tensor& t) {
  if (!t.defined()) return std::nullopt;
  return t;
}

}  // namespace sy::nn::detail
