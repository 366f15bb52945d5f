#include <algorithm>

#include <cub/device/device_segmented_radix_sort.cuh>

#include "backends/cuda/cub/parts.cuh"

namespace sy::cuda::cub_library {

namespace {

// An iterator over the beginnings of rows.
struct RowBegin {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = ptrdiff_t;
  using pointer = const int*;
  using reference = int;

  int n, first;

  __host__ __device__ int operator[](ptrdiff_t i) const {
    return static_cast<int>((first + i) * n);
  }
  __host__ __device__ RowBegin operator+(ptrdiff_t i) const {
    return {n, static_cast<int>(first + i)};
  }
};

// The sizes of CUB's sort of segments have 31 bits: rows are sorted some at a
// time.
template <class Key>
int sort_keys_of(void* room, size_t* room_bytes, void* keys[2], void* places[2],
                 int64_t rows, int64_t n, cudaStream_t stream) {
  const int64_t most =
      std::clamp<int64_t>((int64_t{1} << 30) / n, 1, int64_t{1} << 30);
  size_t needed = 0;
  int swapped = 0;
  for (int64_t first = 0; first < rows; first += most) {
    const int64_t some = std::min(most, rows - first), at = first * n;
    cub::DoubleBuffer<Key> k(static_cast<Key*>(keys[0]) + at,
                             static_cast<Key*>(keys[1]) + at);
    cub::DoubleBuffer<uint32_t> p(static_cast<uint32_t*>(places[0]) + at,
                                  static_cast<uint32_t*>(places[1]) + at);
    const RowBegin begin{static_cast<int>(n), 0};
    const int e = taken(cub::DeviceSegmentedRadixSort::SortPairs(
        room, room == nullptr ? needed : *room_bytes, k, p,
        static_cast<int>(some * n), static_cast<int>(some), begin, begin + 1, 0,
        static_cast<int>(8 * sizeof(Key)), stream));
    if (e != cudaSuccess) return e;
    if (room == nullptr) {
      *room_bytes = needed;
      return cudaSuccess;
    }
    swapped = k.selector;
  }
  if (swapped != 0) {
    std::swap(keys[0], keys[1]);
    std::swap(places[0], places[1]);
  }
  return cudaSuccess;
}

}  // namespace

int sort_rows(void* room, size_t* room_bytes, int key_bits, void* keys[2],
              void* places[2], int64_t rows, int64_t n, void* stream) {
  if (n < 1 || n > INT32_MAX) return cudaErrorInvalidValue;
  const auto s = static_cast<cudaStream_t>(stream);
  return for_key_bits(key_bits, [&](auto key) {
    return sort_keys_of<decltype(key)>(room, room_bytes, keys, places, rows, n,
                                       s);
  });
}

}  // namespace sy::cuda::cub_library
