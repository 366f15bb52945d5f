#pragma once

#include <cstdint>
#include <vector>

#include "aten/backend/region.h"
#include "backends/cuda/print/region.h"

// How a region becomes kernels: one for each reduction, in order, whose results
// go to temporary memory, then one for the outputs that vary over the same
// dims. What is pointwise is computed where it is read, again if need be:
// memory is what costs.

namespace sy::cuda {

struct RegionStep {
  print::RegionText text;
  // The dims that it walks, of which `reduced` go.
  uint64_t space = 0, reduced = 0;
};

struct RegionPlan {
  std::vector<RegionStep> steps;
};

// Borrows the region and the values. If there is no plan, `why` says so and the
// result is false.
bool plan_region(const Region& region, const RegionValues& values,
                 RegionPlan* plan, RegionReason* why);

}  // namespace sy::cuda
