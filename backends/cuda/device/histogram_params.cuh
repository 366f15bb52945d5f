#pragma once

#include "launch_head.cuh"

namespace sy::cuda {

// Arguments of histogram.cu: how often each number of [0, bins) is among n
// numbers.
struct CountNumbersParams {
  LaunchHead head;
  long long n, bins;
  const void* numbers;
  unsigned long long* counts;  // 0 before
};

// Up to so many bins each block first counts in bins of its own.
constexpr int kBlockBins = 4096;

}  // namespace sy::cuda
