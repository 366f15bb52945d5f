#pragma once

#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

namespace sy {

// The CompositeExplicitAutograd kernel of pointwise operators and reductions.
// It serves backends that have no kernel for such an operator. It runs the
// operator's element program (aten/backend/node.h) step by step, with the
// operators of lang/primitive_operators.h. Half and BFloat16 are
// computed in float32 and rounded once, as in any element program. If one of
// these operators falls back to the CPU, the whole call falls back instead.
SY_API void decompose(const Kernel& kernel, const OperatorEntry& op,
                      DispatchKeySet keys, Value* args, size_t num_args,
                      Value* results, size_t num_results);

}  // namespace sy
