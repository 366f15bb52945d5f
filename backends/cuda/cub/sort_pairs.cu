#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/cub/parts.cuh"

namespace sy::cuda::cub_library {

namespace {

template <class Key>
int sort_keys_of(void* room, size_t* room_bytes, int bits, void* keys[2],
                 void* places[2], int64_t n, cudaStream_t stream) {
  cub::DoubleBuffer<Key> k(static_cast<Key*>(keys[0]),
                           static_cast<Key*>(keys[1]));
  cub::DoubleBuffer<uint32_t> p(static_cast<uint32_t*>(places[0]),
                                static_cast<uint32_t*>(places[1]));
  const int e = taken(cub::DeviceRadixSort::SortPairs(room, *room_bytes, k, p,
                                                      n, 0, bits, stream));
  if (e != cudaSuccess || room == nullptr) return e;
  keys[0] = k.Current();
  keys[1] = k.Alternate();
  places[0] = p.Current();
  places[1] = p.Alternate();
  return cudaSuccess;
}

}  // namespace

int sort_pairs(void* room, size_t* room_bytes, int key_bits, int bits,
               void* keys[2], void* places[2], int64_t n, void* stream) {
  const auto s = static_cast<cudaStream_t>(stream);
  const auto sort = [&](auto key) {
    return sort_keys_of<decltype(key)>(room, room_bytes, bits, keys, places, n,
                                       s);
  };
  switch (key_bits) {
    case 8: return sort(uint8_t{});
    case 16: return sort(uint16_t{});
    case 32: return sort(uint32_t{});
    case 64: return sort(uint64_t{});
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace sy::cuda::cub_library
