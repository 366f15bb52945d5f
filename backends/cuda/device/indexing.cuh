#pragma once

#include "launch_head.cuh"
#include "walk.cuh"

// Arguments of the kernels of indexing.cu.

namespace sy::cuda {

constexpr int kMostIndices = 4;  // at once

// One tensor of indices, int64 or int32. An index k stands for k * step bytes
// (or elements, or whatever is counted). An index outside of [low, size) is an
// error of the argument; it counts as 0. Negative ones get `size` added.
struct IndexOperand {
  const char* data = nullptr;
  long long step = 0, low = 0, size = 0;
  int narrow = 0;  // int32
};

template <int kIndices>
struct ReadParams {
  LaunchHead head;
  Walk<2 + kIndices> walk;  // to, from, the indices
  char* to;
  const char* from;
  IndexOperand index[kIndices];
  int argument;
};

// Sums of indices: to[i] = first + base[i] + Σ index * step.
template <int kIndices>
struct FoldParams {
  LaunchHead head;
  Walk<2 + kIndices> walk;  // to, base (a unit is a byte), the indices
  char* to;  // int64
  long long first;
  int adds;    // to what `to` holds
  IndexOperand index[kIndices];
  int argument;
};

}  // namespace sy::cuda
