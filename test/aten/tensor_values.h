#pragma once

#include <vector>

#include "aten/engine/copy.h"
#include "aten/tensor.h"

// The elements of a tensor in row-major order, for comparisons in tests.

namespace sy {

template <class T = double>
std::vector<T> values(const Tensor& t) {
  const Tensor dense = contiguous_cpu(t, CppTypeToScalarType<T>::value);
  const T* p = static_cast<const T*>(dense.data_ptr());
  return {p, p + dense.numel()};
}

inline std::vector<int64_t> ints(IntArrayRef list) { return list.vec(); }

}  // namespace sy
