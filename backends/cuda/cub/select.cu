#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "backends/cuda/cub/parts.cuh"

namespace sy::cuda::cub_library {

int select_places(void* room, size_t* room_bytes, const uint8_t* flags,
                  int64_t* places, int64_t* count, int64_t n, void* stream) {
  return taken(cub::DeviceSelect::Flagged(
      room, *room_bytes, thrust::counting_iterator<int64_t>(0), flags, places,
      count, n, static_cast<cudaStream_t>(stream)));
}

// Sums integers only: CUB groups the elements of a scan as its blocks happen to
// run, so that sums of floats would differ from run to run.
int sum_before(void* room, size_t* room_bytes, uint64_t* numbers, int64_t n,
               void* stream) {
  return taken(
      cub::DeviceScan::ExclusiveSum(room, *room_bytes, numbers, numbers, n,
                                    static_cast<cudaStream_t>(stream)));
}

}  // namespace sy::cuda::cub_library
