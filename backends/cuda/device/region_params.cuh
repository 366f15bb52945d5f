#pragma once

#include "reduce_params.cuh"

// The arguments of kernels of regions (device/region.cuh), for the host and for
// kernels: where operands lie.

namespace sy::cuda {

constexpr int kRegionThreads = 256;

// Values that are computed element by element: inputs, then outputs. `packs`
// packs of elements follow the first `skipped` elements.
template <int kOperands, int kNumbers>
struct RegionWalkParams {
  LaunchHead head;
  long long numel, skipped, packs;
  char* data[kOperands];
  Walk<kOperands> walk;
  Number numbers[kNumbers];
};

// Values that are reduced. `data`, `keep` and `reduce` of the head say nothing.
template <int kOperands, int kNumbers>
struct RegionReduceParams : ReduceHead {
  char* inputs[kOperands];
  Walk<kOperands> kept_walk, reduced_walk;
  Number numbers[kNumbers];
};

}  // namespace sy::cuda
