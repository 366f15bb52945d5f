#pragma once

#include "aten/engine/reduce.h"

namespace sy {
class OperatorEntry;
}

namespace sy::meta {

// The kernels of the Meta device, like those of backends/cpu/engine/reduce.h:
// contract and result, no data.
SY_API Tensor reduce(const ReduceOp& op, const ReduceArgs& args);
SY_API void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                       const OperatorEntry& writer, Tensor& out);
SY_API void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                           Tensor* results);
SY_API void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                        const OperatorEntry& writer, Tensor* const* outs);

}  // namespace sy::meta
