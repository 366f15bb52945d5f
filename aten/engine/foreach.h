#pragma once

#include <vector>

#include "aten/engine/structured.h"
#include "aten/tensor.h"

// What `foreach:` operators share. For the sources that sygen writes.

namespace sy::generated {

// Throws ValueError if there are no elements.
SY_API void check_foreach(const char* op, const char* argument, size_t size);
// Throws ValueError unless a list has as many elements as the first one.
SY_API void check_length(const char* op, const char* argument, size_t size,
                         size_t expected);
// The results into the tensors of an out= list of as many, whose dtypes they
// must have; all are computed before any is written.
SY_API void store_each(const OperatorEntry& op,
                       const std::vector<Tensor>& results, TensorList out);
// After the writes of a kernel that is made of other operators: `op` is what
// was called.
SY_API void name_writers(const OperatorEntry& op, TensorList written);

}  // namespace sy::generated
