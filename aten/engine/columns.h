#pragma once

#include "aten/tensor.h"

// Results whose matrices are column-major, as LAPACK writes them and ATen gives
// them (the tag `column_major`).

namespace sy {

class OperatorEntry;

// new_result, but with column-major matrices if there are at least as many dims
// as `like` has: beside matrices, an operator gives vectors and numbers of a
// batch, which stay row-major.
SY_API Tensor new_by_columns(const TensorBase& like, IntArrayRef sizes,
                             ScalarType dtype);

// store_result, but an `out` that is resized is laid out as `result` is.
SY_API void store_as_laid_out(const OperatorEntry& op, const Tensor& result,
                              Tensor& out);

}  // namespace sy
