#pragma once

#include "aten/tensor.h"

namespace sy::cpu {

// The matrix of a tensor, or of one of its batches.
struct Matrix {
  char* data;
  int64_t rows, cols;
  int64_t row_stride, col_stride;  // in elements

  Matrix transposed() const {
    return {data, cols, rows, col_stride, row_stride};
  }
};
// Whether rows or columns are contiguous, and do not overlap.
bool has_unit_stride(const Matrix& m);
// The last two dims of t, at batch 0.
Matrix matrix_of(const TensorBase& t);

// c = alpha * a b + beta * c or, with a bias, c = alpha * a b + bias[j] in
// column j. bias has n contiguous elements, or is nullptr. All have one dtype.
// With beta 0, c is not read. `weight` is the tensor of b if b may come again
// (packed_weight.h).
void multiply(const char* op, ScalarType dtype, const Matrix& a,
              const Matrix& b, const Matrix& c, const Scalar& alpha,
              const Scalar& beta, const void* bias,
              const TensorBase* weight = nullptr);

}  // namespace sy::cpu
