#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

// The functions of api.h, each with others of its topic in a file.

namespace sy::cuda::cub_library {

int sort_pairs(void* room, size_t* room_bytes, int key_bits, int bits,
               void* keys[2], void* places[2], int64_t n, void* stream);
int sort_rows(void* room, size_t* room_bytes, int key_bits, void* keys[2],
              void* places[2], int64_t rows, int64_t n, void* stream);
int select_places(void* room, size_t* room_bytes, const uint8_t* flags,
                  int64_t* places, int64_t* count, int64_t n, void* stream);
int sum_before(void* room, size_t* room_bytes, uint64_t* numbers, int64_t n,
               void* stream);
int count_numbers(void* room, size_t* room_bytes, int number_bits,
                  const void* numbers, int64_t n, uint64_t* counts,
                  int64_t bins, void* stream);

// An error of a call is the caller's: the runtime's next call starts anew.
inline int taken(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return e;
}

// sort(a key) for keys of that many bits.
template <class F>
int for_key_bits(int key_bits, const F& sort) {
  switch (key_bits) {
    case 8: return sort(uint8_t{});
    case 16: return sort(uint16_t{});
    case 32: return sort(uint32_t{});
    case 64: return sort(uint64_t{});
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace sy::cuda::cub_library
