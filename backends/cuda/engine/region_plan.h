#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aten/backend/region.h"
#include "backends/cuda/print/region.h"
#include "backends/cuda/print/region_row.h"

// How a region becomes kernels: one for each reduction, in order, whose results
// go to temporary memory, then one for the outputs that vary over the same
// dims. Each kernel computes the pointwise values that it reads, again if need
// be: memory is what costs. A softmax, a norm of rows and the like are one
// kernel.

namespace sy::cuda {

struct RegionStep {
  print::RegionText text;
  // The dims that it walks, of which `reduced` go.
  uint64_t space = 0, reduced = 0;
};

// All steps as one kernel, which reads rows once: for reductions over the same
// dims of the same space, and outputs over that space and over what is kept.
struct RegionRowStep {
  print::RegionRowText text;
  uint64_t space = 0, reduced = 0;
};

struct RegionPlan {
  std::vector<RegionStep> steps;
  std::optional<RegionRowStep> row;
};

// Borrows the region and the values. If there is no plan, `why` says so and the
// result is false.
bool plan_region(const Region& region, const RegionValues& values,
                 RegionPlan* plan, RegionReason* why);

}  // namespace sy::cuda
