#pragma once

#include <vector>

#include "aten/engine/structured.h"
#include "aten/tensor.h"

// Shared by `foreach:` operators. For the sources that sygen writes.

namespace sy::generated {

// Throws ValueError if the list is empty.
SY_API void check_foreach(const char* op, const char* argument, size_t size);
// Throws ValueError unless a list has as many elements as the first one.
SY_API void check_length(const char* op, const char* argument, size_t size,
                         size_t expected);
// Stores the results in the tensors of an out= list, one in each. Throws
// TypeError unless these have the dtypes of the results. All results exist
// before the first tensor is written.
SY_API void store_each(const OperatorEntry& op,
                       const std::vector<Tensor>& results, TensorList out);
// Names the operator that was called, `op`, as the writer of tensors that a
// kernel made of other operators has written.
SY_API void name_writers(const OperatorEntry& op, TensorList written);

}  // namespace sy::generated
