#pragma once

#include <vector>

#include "backends/cuda/engine/reduce_launch.h"
#include "backends/cuda/engine/region_plan.h"
#include "backends/cuda/engine/region_space.h"

// Steps of regions without their kernels, node by node by the interpreters of
// element programs and reductions: what a run takes until they are compiled.
// The same bits.

namespace sy::cuda {

bool can_interpret(const RegionStep& step);

// Borrows everything.
struct InterpretedStep {
  const RegionStep* step = nullptr;
  const RegionSpace* space = nullptr;
  const RegionCall* call = nullptr;
  // The values in memory, by number: their places, and the tensors of those
  // that reductions made.
  const RegionPlace* values = nullptr;
  const Tensor* temporaries = nullptr;
  // Dims in the order in which the operands lie, fastest first.
  const std::vector<int>* order = nullptr;
};

// The outputs of the step go to `outputs`.
void interpret_walk(const InterpretedStep& s,
                    const std::vector<RegionPlace>& outputs);
// `results`: the addresses of the reduction's results. `nothing`: the numbers
// of the accumulators of no elements. The layout of the run is not looked at.
void interpret_reduction(const InterpretedStep& s, ReduceRun run,
                         void* const* results,
                         const std::vector<Number>& nothing);

}  // namespace sy::cuda
