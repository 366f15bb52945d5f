#pragma once

#include "aten/engine/copy.h"
#include "aten/engine/structured.h"
#include "aten/tensor.h"

// Shared by the kernels of losses.

namespace sy::cpu {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// Calls f(T* elements). The elements that f writes there become those of `out`,
// in order.
template <class T, class F>
void fill_contiguous(const Tensor& out, const F& f) {
  if (out.is_contiguous()) {
    f(static_cast<T*>(out.raw_data()));
    return;
  }
  const Tensor dense = new_result(out, out.sizes(), out.scalar_type());
  f(static_cast<T*>(dense.raw_data()));
  copy_cpu(out, dense);
}

}  // namespace sy::cpu
