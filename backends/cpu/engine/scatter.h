#pragma once

#include "aten/engine/dims.h"
#include "c10/tensor/scalar.h"
#include "c10/tensor/scalar_type.h"

// Joins elements of a source to the elements of a tensor at indices.

namespace sy::cpu {

enum class Join : uint8_t { Assign, Add, Multiply, Min, Max };

// The places to which the elements of a source of these sizes go: the same
// place in all dims but `dim`, and in `dim` the index. Strides are in elements;
// to_strides[dim] is not used.
struct ScatterPlan {
  Dims sizes;
  int64_t dim;
  const int64_t* index;
  Dims index_strides;
  int64_t step;  // in bytes, for an index of 1
  const void* from;
  Dims from_strides;
  void* to;
  Dims to_strides;
};
// Joins alpha times each element of the source to its target, in the order of
// `dim`, whatever the number of threads. Only Add uses alpha.
void scatter(const char* op, ScalarType dtype, const ScatterPlan& plan,
             Join join, const Scalar& alpha = true);

}  // namespace sy::cpu
