#pragma once

#include "reduce_params.cuh"

// The argument of kernels of regions that keep rows (device/region_row.cuh),
// for the host and for kernels.

namespace sy::cuda {

// The argument has room for so many operands.
constexpr int kMostRowOperands = 8;

// Inputs, outputs of the elements of rows, outputs of rows.
template <int kOperands, int kNumbers>
struct RegionRowParams {
  LaunchHead head;
  long long rows, length;
  // Elements that a row has room for in shared memory: a multiple of 8.
  long long padded;
  // Threads of a row: a power of two up to a warp, or the block.
  int lanes;
  // Bytes of shared memory of a row; 0: rows are read again.
  int kept;
  char* data[kOperands];
  Walk<kOperands> row_walk, element_walk;
  Number numbers[kNumbers];
};

}  // namespace sy::cuda
