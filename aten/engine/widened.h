#pragma once

#include "aten/tensor.h"

namespace sy {

// Half and BFloat16 in float32, the dtype in which compositions compute them.
// Other tensors are returned as they are.
inline Tensor widened(const Tensor& t) {
  return is_reduced_floating_type(t.scalar_type()) ? t.to(kFloat) : t;
}

}  // namespace sy
