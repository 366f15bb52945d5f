#pragma once

#include "backends/cuda/engine/reduce_launch.h"

// Reductions by the interpreter (reduce_interpret.cu): what a call takes until
// its kernels are compiled. The same bits.

namespace sy::cuda {

// Whether the programs are small enough, and combine with what the interpreter
// knows in double.
bool can_interpret(const print::ReduceText& text);

// `results`: where the results go. `numbers`: those of the call, `n` of them,
// as kernels take them.
void interpret_reduce(const print::ReduceText& text, const ReduceRun& run,
                      void* const* results, const Number* numbers, int n);

}  // namespace sy::cuda
