#pragma once

#include "c10/dispatcher.h"
#include "c10/value.h"

namespace sy {

// The CompositeExplicitAutograd kernel of pointwise operators and reductions:
// it serves backends that have no kernel for one of them. It takes the steps of
// the operator's program (aten/backend/node.h) one by one, by the operators of
// codegen/lang/primitive_operators.h. Narrow floats are computed in float32 and
// rounded once, as programs are. Where one of those falls back to the CPU, the
// whole call does instead.
SY_API void decompose(const Kernel& kernel, const OperatorEntry& op,
                      DispatchKeySet keys, Value* args, size_t num_args,
                      Value* results, size_t num_results);

}  // namespace sy
