// How often each number occurs. Additions of integers are in any order.

#include "histogram_params.cuh"
#include "kernel.cuh"

#ifndef SY_NUMBER
#define SY_NUMBER int64_t
#endif

SY_KERNEL(count_numbers, CountNumbersParams, 512) {
  __shared__ uint32_t found[kBlockBins];
  const auto* const numbers = static_cast<const SY_NUMBER*>(p.numbers);
  const bool few = p.bins <= kBlockBins;
  const int bins = few ? static_cast<int>(p.bins) : 0;
  for (int k = static_cast<int>(threadIdx.x); k < bins;
       k += static_cast<int>(blockDim.x)) {
    found[k] = 0;
  }
  __syncthreads();
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    const int64_t k = numbers[i];
    if (k < 0 || k >= p.bins) continue;
    if (few) {
      atomicAdd(&found[k], 1u);
    } else {
      atomicAdd(p.counts + k, 1ull);
    }
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < bins;
       k += static_cast<int>(blockDim.x)) {
    if (found[k] == 0) continue;
    atomicAdd(p.counts + k, static_cast<unsigned long long>(found[k]));
  }
}
