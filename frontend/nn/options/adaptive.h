#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "frontend/nn/arg.h"

namespace sy::nn {

// Names and defaults are libtorch's.
struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes,
                                    std::vector<int64_t> cutoffs)
      : in_features_(in_features),
        n_classes_(n_classes),
        cutoffs_(std::move(cutoffs)) {}

  SY_ARG(int64_t, in_features);
  SY_ARG(int64_t, n_classes);
  // The classes at which clusters begin, in rising order.
  SY_ARG(std::vector<int64_t>, cutoffs);
  // Cluster i, from 1, sees in_features / div_value^i features.
  SY_ARG(double, div_value) = 4.;
  SY_ARG(bool, head_bias) = false;
};

}  // namespace sy::nn
