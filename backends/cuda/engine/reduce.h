#pragma once

#include "aten/engine/reduce.h"

namespace sy {
class OperatorEntry;
}

// The reduce engine (aten/backend/engines.h). Sums and products of floats are
// made in double. Results do not depend on the machine, on streams or on
// whether the kernel is compiled yet. No call waits for the device.

namespace sy::cuda {

Tensor reduce(const ReduceOp& op, const ReduceArgs& args);
void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out);
void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results);
void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::cuda
