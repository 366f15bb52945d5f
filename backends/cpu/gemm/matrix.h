#pragma once

#include "aten/tensor.h"

namespace sy::cpu {

// A matrix of a tensor, or of one of its batches.
struct Matrix {
  char* data;
  int64_t rows, cols;
  int64_t row_stride, col_stride;  // in elements

  Matrix transposed() const {
    return {data, cols, rows, col_stride, row_stride};
  }
};
// Rows or columns lie close together, and do not overlap.
bool has_unit_stride(const Matrix& m);
// The last two dims of t, at batch 0.
Matrix matrix_of(const TensorBase& t);

// c = alpha * a b + beta * c, or + bias[j] in column j (n contiguous elements,
// nullptr for none); all of one dtype. With beta 0, c is not read. `weight` is
// the tensor of b where it may come again (packed_weight.h).
void multiply(const char* op, ScalarType dtype, const Matrix& a,
              const Matrix& b, const Matrix& c, const Scalar& alpha,
              const Scalar& beta, const void* bias,
              const TensorBase* weight = nullptr);

}  // namespace sy::cpu
