#pragma once

#include <vector>

#include "aten/engine/copy.h"
#include "aten/tensor.h"

// The elements of a tensor of any device in row-major order, for comparisons in
// tests.

namespace sy {

// t itself, or a copy on the CPU.
inline Tensor on_host(const Tensor& t) {
  return t.device().is_cpu() ? t : to_device(t, Device(kCPU));
}

template <class T = double>
std::vector<T> values(const Tensor& t) {
  const Tensor dense =
      contiguous_cpu(on_host(t), CppTypeToScalarType<T>::value);
  const T* p = static_cast<const T*>(dense.data_ptr());
  return {p, p + dense.numel()};
}

inline std::vector<int64_t> ints(IntArrayRef list) { return list.vec(); }

}  // namespace sy
