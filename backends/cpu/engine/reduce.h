#pragma once

#include "aten/engine/reduce.h"

namespace sy {
class OperatorEntry;
}

namespace sy::cpu {

// Runs a reduction on a CPU tensor. The result is the same for any number of
// threads.
SY_API Tensor reduce(const ReduceOp& op, const ReduceArgs& args);
// Writes to `out`, which is resized if need be. After the checks its version is
// bumped with `writer`.
SY_API void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                       const OperatorEntry& writer, Tensor& out);
// The same for op.n_results results.
SY_API void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                           Tensor* results);
SY_API void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                        const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::cpu
