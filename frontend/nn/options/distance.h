#pragma once

#include <cstdint>

#include "frontend/nn/arg.h"

// Options of the distances. Names and defaults are libtorch's.

namespace sy::nn {

struct CosineSimilarityOptions {
  SY_ARG(int64_t, dim) = 1;
  // The least that a norm counts as.
  SY_ARG(double, eps) = 1e-8;
};

struct PairwiseDistanceOptions {
  // The order of the norm.
  SY_ARG(double, p) = 2.0;
  // Added to each difference.
  SY_ARG(double, eps) = 1e-6;
  SY_ARG(bool, keepdim) = false;
};

namespace functional {

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

}  // namespace functional
}  // namespace sy::nn
