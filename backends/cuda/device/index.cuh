#pragma once

#include "indexing.cuh"
#include "kernel.cuh"

namespace sy::cuda {

// The value of the index at this many bytes from the first.
__device__ __forceinline__ int64_t index_at(const LaunchHead& head,
                                            const IndexOperand& index,
                                            int64_t at, int argument) {
  int64_t k = index.narrow != 0
                  ? *reinterpret_cast<const int32_t*>(index.data + at)
                  : *reinterpret_cast<const int64_t*>(index.data + at);
  if (k < index.low || k >= index.size) {
    report(head, Fault::kIndex, argument, k, index.size);
    k = 0;
  }
  if (k < 0) k += index.size;
  return k * index.step;
}

}  // namespace sy::cuda
