#pragma once

#include "aten/engine/dims.h"
#include "c10/scalar.h"
#include "c10/scalar_type.h"

// Elements joined to those of a tensor at indices.

namespace sy::cpu {

enum class Join : uint8_t { Assign, Add, Multiply, Min, Max };

// Where the elements of a source of these sizes go: to the place of the other
// dims, moved along `dim` by the index. Strides are in elements; that of `to`
// along dim is not used.
struct ScatterPlan {
  Dims sizes;
  int64_t dim;
  const int64_t* index;
  Dims index_strides;
  int64_t step;  // in bytes, for 1 of index
  const void* from;
  Dims from_strides;
  void* to;
  Dims to_strides;
};
// Joins alpha times each element of the source to the one it goes to, in the
// order of `dim`, whatever the number of threads. Alpha is for Add.
void scatter(const char* op, ScalarType dtype, const ScatterPlan& plan,
             Join join, const Scalar& alpha = true);

}  // namespace sy::cpu
