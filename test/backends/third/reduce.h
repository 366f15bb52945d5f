#pragma once

#include "aten/engine/reduce.h"

namespace sy {
class OperatorEntry;
}

namespace sy::third {

// Any reduction, on copies in the host's memory.
Tensor reduce(const ReduceOp& op, const ReduceArgs& args);
void reduce_results(const ReduceOp& op, const ReduceArgs& args,
                    Tensor* results);
void reduce_out(const ReduceOp& op, const ReduceArgs& args,
                const OperatorEntry& writer, Tensor& out);
void reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                 const OperatorEntry& writer, Tensor* const* outs);

// How often the engine ran.
int reductions();

}  // namespace sy::third
