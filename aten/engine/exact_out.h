#pragma once

#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"

// For out= forms that take the dtype of the result only (the tag `exact_out`).

namespace sy {

class OperatorEntry;

// Throws TypeError unless `out` has the dtype that the call gives. Both also
// throw what planning the call throws; they allocate nothing.
SY_API void check_exact_out(const OperatorEntry& writer, const PointwiseOp& op,
                            const PointwiseArgs& args, const TensorBase& out);
SY_API void check_exact_out(const OperatorEntry& writer, const ReduceOp& op,
                            const ReduceArgs& args, const TensorBase& out);

// The same for operators that copy their result to `out` (the tag
// `copied_out`): `out` is row-major if it has to be resized. An `out` that
// shares memory with an input is left to the engine.
SY_API void prepare_copied_out(const OperatorEntry& writer,
                               const PointwiseOp& op, const PointwiseArgs& args,
                               Tensor& out);

}  // namespace sy
