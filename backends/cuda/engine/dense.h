#pragma once

#include "aten/engine/copy.h"
#include "aten/tensor.h"

namespace sy::cuda {

// The tensor itself if its elements lie row by row, else a copy.
inline Tensor dense(const Tensor& t) {
  if (t.is_contiguous()) return t;
  const Tensor copy(make_tensor(t.sizes(), t.dtype(), t.device()));
  copy_tensor(copy, t);
  return copy;
}

}  // namespace sy::cuda
