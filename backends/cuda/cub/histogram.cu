#include <cub/device/device_histogram.cuh>

#include "backends/cuda/cub/parts.cuh"

namespace sy::cuda::cub_library {

namespace {

template <class Number>
int count(void* room, size_t* room_bytes, const void* numbers, int64_t n,
          uint64_t* counts, int64_t bins, void* stream) {
  return taken(cub::DeviceHistogram::HistogramEven(
      room, *room_bytes, static_cast<const Number*>(numbers),
      reinterpret_cast<unsigned long long*>(counts), static_cast<int>(bins) + 1,
      Number{0}, static_cast<Number>(bins), n,
      static_cast<cudaStream_t>(stream)));
}

}  // namespace

int count_numbers(void* room, size_t* room_bytes, int number_bits,
                  const void* numbers, int64_t n, uint64_t* counts,
                  int64_t bins, void* stream) {
  if (bins < 1 || bins >= INT32_MAX) return cudaErrorInvalidValue;
  switch (number_bits) {
    case 32:
      return count<int32_t>(room, room_bytes, numbers, n, counts, bins, stream);
    case 64:
      return count<int64_t>(room, room_bytes, numbers, n, counts, bins, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace sy::cuda::cub_library
