#pragma once

#include "aten/tensor.h"

namespace sy {

// Narrow floats in float32, as compositions compute them; others as they are.
inline Tensor widened(const Tensor& t) {
  return is_reduced_floating_type(t.scalar_type()) ? t.to(kFloat) : t;
}

}  // namespace sy
