#pragma once

#include <memory>
#include <vector>

#include "frontend/optim/optimizer.h"

// The note of a captured step about the options that it has read.

namespace sy::optim {

struct Group {
  const OptimizerParamGroup* group;
  // The numbers that were inputs of the step: addresses in the options.
  std::vector<const double*> inputs;
};

// `groups` and `renumbered` are the optimizer's, which `alive` lives as long
// as.
void tell_options(const std::vector<OptimizerParamGroup>& groups,
                  const uint64_t& renumbered,
                  const std::weak_ptr<const void>& alive,
                  std::vector<Group> read);

}  // namespace sy::optim
