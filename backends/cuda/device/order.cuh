#pragma once

// The order of elements, for kernels that sort and select. An element is its
// bits, of type Key; sort_key() maps them to unsigned integers of the same
// order: NaN is last, and -0 is 0. The unit that includes this defines
//   SY_KEY_BITS   8, 16, 32 or 64
//   SY_KEY_KIND   0: unsigned, 1: signed, 2: floating
//   SY_KEY_INF    the bits of infinity, of a floating dtype

#include "kernel.cuh"
#include "sort_params.cuh"

namespace sy::cuda {

#if SY_KEY_BITS == 8
using Key = uint8_t;
#elif SY_KEY_BITS == 16
using Key = uint16_t;
#elif SY_KEY_BITS == 32
using Key = uint32_t;
#else
using Key = uint64_t;
#endif

constexpr Key kSignBit = static_cast<Key>(Key{1} << (SY_KEY_BITS - 1));
constexpr Key kLastKey = static_cast<Key>(~Key{0});

__device__ __forceinline__ Key sort_key(Key bits) {
#if SY_KEY_KIND == 0
  return bits;
#elif SY_KEY_KIND == 1
  return static_cast<Key>(bits ^ kSignBit);
#else
  const Key magnitude = static_cast<Key>(bits & ~kSignBit);
  if (magnitude > static_cast<Key>(SY_KEY_INF)) return kLastKey;
  if (magnitude == 0) return kSignBit;
  return static_cast<Key>((bits & kSignBit) != 0 ? ~bits : bits | kSignBit);
#endif
}

// Whether a key stands for NaN, which equals nothing.
__device__ __forceinline__ bool is_nan_key(Key key) {
  return SY_KEY_KIND == 2 && key == kLastKey;
}

// A key and the place of its element in the row. A narrow key shares a word
// with the place. The order of whole items keeps equal elements in their order.
#if SY_KEY_BITS <= 32
struct Item {
  uint64_t word;
};
__device__ __forceinline__ Item make_item(Key key, uint32_t place) {
  return {static_cast<uint64_t>(key) << 32 | place};
}
__device__ __forceinline__ Item last_item() { return {~uint64_t{0}}; }
__device__ __forceinline__ Key key_of(Item a) {
  return static_cast<Key>(a.word >> 32);
}
__device__ __forceinline__ uint32_t place_of(Item a) {
  return static_cast<uint32_t>(a.word);
}
__device__ __forceinline__ bool before(Item a, Item b) {
  return a.word < b.word;
}
#else
struct Item {
  uint64_t key, place;
};
__device__ __forceinline__ Item make_item(Key key, uint32_t place) {
  return {key, place};
}
__device__ __forceinline__ Item last_item() {
  return {~uint64_t{0}, ~uint64_t{0}};
}
__device__ __forceinline__ Key key_of(Item a) { return a.key; }
__device__ __forceinline__ uint32_t place_of(Item a) {
  return static_cast<uint32_t>(a.place);
}
__device__ __forceinline__ bool before(Item a, Item b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}
#endif

constexpr int kBlockItems = block_items(SY_KEY_BITS);

// Sorts each run of `width` items, a power of two, of the first `n` in shared
// memory, n a multiple of it. All threads of the block call it.
__device__ inline void sort_shared(Item* items, int n, int width) {
  for (int size = 2; size <= width; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int t = static_cast<int>(threadIdx.x); t < n / 2;
           t += static_cast<int>(blockDim.x)) {
        const int i = 2 * t - (t & (stride - 1)), j = i + stride;
        const Item a = items[i], b = items[j];
        const bool up = (i & size & (width - 1)) == 0;
        if (before(b, a) == up) {
          items[i] = b;
          items[j] = a;
        }
      }
    }
  }
  __syncthreads();
}

}  // namespace sy::cuda
