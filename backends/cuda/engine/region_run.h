#pragma once

#include "backends/cuda/engine/region_kernels.h"

namespace sy::cuda {

// Puts the steps of a region into the current stream: by their kernels, or by
// the interpreters until these are compiled.
void run_region_steps(const PreparedOnCuda& prepared, const RegionCall& call);

}  // namespace sy::cuda
