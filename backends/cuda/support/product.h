#pragma once

#include "aten/tensor.h"
#include "backends/cuda/device/product_params.cuh"

namespace sy::cuda {

// c = alpha a b + beta added: `groups` products of an m x k by a k x n matrix,
// at any strides. The result is contiguous.
struct Product {
  const Tensor &left, &right;  // the tensors of a and b
  MatrixOperand a, b;
  int64_t groups, m, n, k;
  Tensor added;  // of the sizes of the result, or undefined
  Scalar alpha = Scalar(1), beta = Scalar(0);
};

// `t` as a batch of matrices.
inline MatrixOperand operand(const Tensor& t, int64_t group, int64_t row,
                             int64_t column) {
  return {t.raw_data(), group, row, column};
}
inline MatrixOperand operand(const Tensor& t) {
  const IntArrayRef s = t.strides();
  return t.dim() == 3 ? operand(t, s[0], s[1], s[2])
                      : operand(t, 0, s[0], s[1]);
}

}  // namespace sy::cuda
