#pragma once

#include "aten/engine/pointwise.h"

namespace sy {
class OperatorEntry;
}

namespace sy::cpu {

// Runs a pointwise operator on CPU tensors: checks the contract, makes the
// result, runs the element program.
SY_API Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args);
// Makes all op.n_outputs results.
SY_API void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                              Tensor* results);

// Writes to `out`, which is resized if need be, or to `self`, which is also an
// input. After the checks the version of the written tensor is bumped with
// `writer`.
SY_API void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                          const OperatorEntry& writer, Tensor& out);
SY_API void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                              const OperatorEntry& writer, Tensor& self);

}  // namespace sy::cpu
