#pragma once

#include "launch_head.cuh"

namespace sy::cuda {

// Of histogram.cu: how often each number of [0, bins) is among n numbers.
struct CountNumbersParams {
  LaunchHead head;
  long long n, bins;
  const void* numbers;
  unsigned long long* counts;  // 0 before
};

// Of so many bins each block counts its own first.
constexpr int kBlockBins = 4096;

}  // namespace sy::cuda
