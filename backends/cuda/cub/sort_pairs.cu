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
  return for_key_bits(key_bits, [&](auto key) {
    return sort_keys_of<decltype(key)>(room, room_bytes, bits, keys, places, n,
                                       s);
  });
}

}  // namespace sy::cuda::cub_library
