#include "backends/cuda/support/group.h"

#include <bit>

#include "backends/cuda/copy.h"
#include "backends/cuda/cub/counts.h"
#include "backends/cuda/device/group.cuh"

namespace sy::cuda {

void sum_before(const Tensor& counts, int64_t n) {
  if (cub::sum_before(counts, n)) return;
  const int device = counts.device().index();
  SumBeforeParams p{{}, static_cast<unsigned long long*>(counts.raw_data()), n};
  const unsigned threads = n <= 256 ? 64 : 1024;
  launch(device, kernel(device, "support/group.cu", "sum_before"),
         {{1}, {threads}}, p, {&counts});
}

SortedKeys group(const Tensor& keys, int64_t bound) {
  const int64_t n = keys.numel();
  if (n > kGroupMost) return sort_keys(keys.reshape({-1}), bound);
  const SortedKeys out{empty_on(keys.device(), n, kLong),
                       empty_on(keys.device(), n, kLong)};
  const int device = keys.device().index();
  const auto words = [](const Tensor& t) {
    return static_cast<unsigned long long*>(t.raw_data());
  };
  GroupParams p{
      {},
      words(keys),
      words(out.keys),
      words(out.places),
      static_cast<int>(n),
      static_cast<int>(std::bit_width(static_cast<uint64_t>(bound - 1)))};
  launch(device, kernel(device, "support/group.cu", "group_small"),
         {{1}, {kGroupThreads}}, p, {&keys, &out.keys, &out.places});
  return out;
}

}  // namespace sy::cuda
