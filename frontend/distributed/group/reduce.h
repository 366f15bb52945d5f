#pragma once

#include <cstdint>

#include "c10/tensor/scalar_type.h"
#include "frontend/distributed/reduce_op.h"

// Reductions of plain memory, in the calling thread: what a group adds itself,
// in the order of ranks. Internal.

namespace sy::distributed {

// Whether there is such a reduction: see ReduceOp.
bool reducible(ScalarType dtype, ReduceOp op) noexcept;

// acc[i] = acc[i] op x[i] for n elements. AVG adds; divide() does the rest.
// Half and BFloat16 are computed in float32 and rounded once, integers wrap
// around, MIN and MAX keep NaN. The memory is aligned for the dtype and does
// not overlap. Throws TypeError, which names both, if not reducible().
void reduce_into(void* acc, const void* x, int64_t n, ScalarType dtype,
                 ReduceOp op);

// acc[i] /= by, of a floating dtype. Throws TypeError for others.
void divide(void* acc, int64_t n, ScalarType dtype, int by);

}  // namespace sy::distributed
