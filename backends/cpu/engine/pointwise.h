#pragma once

#include "aten/engine/pointwise.h"

namespace sy {
class OperatorEntry;
}

namespace sy::cpu {

// Runs a pointwise operator on CPU tensors: contract, result, tile program.
SY_API Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args);
// All of op.n_outputs results.
SY_API void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                              Tensor* results);

// Into `out`, resized if need be, or to `self`, which is an input too. The
// version of what is written is bumped with `writer` after the checks.
SY_API void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                          const OperatorEntry& writer, Tensor& out);
SY_API void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                              const OperatorEntry& writer, Tensor& self);

}  // namespace sy::cpu
