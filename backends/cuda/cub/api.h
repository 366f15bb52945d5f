#pragma once

#include <stddef.h>
#include <stdint.h>

// The functions of libswitchyard_cuda_cub.so: sorts, selection, sums and counts
// of NVIDIA's CUB. nvcc compiles it where the build has one (BUILD.bazel of the
// root); cub/library.h opens it. Plain C, so that both sides and the double of
// the tests need no header of CUDA's.
//
// A function puts its work into `stream`, a cudaStream_t of the device whose
// context is the thread's, and returns 0 or a cudaError_t. It needs a workspace
// of the device. With `room` null it does nothing but say in *room_bytes how
// large that must be; the call with the same sizes then has it. Nothing is
// allocated, and nothing waits. Pointers are the device's but where they say
// host. Results are the same bits in each run: there are no sums of floats.

#ifdef __cplusplus
extern "C" {
#endif

enum { SWITCHYARD_CUDA_CUB_VERSION = 1 };

struct SwitchyardCub {
  int version;  // SWITCHYARD_CUDA_CUB_VERSION
  int cuda;     // of the runtime inside: 13000 for 13.0
  int cub;      // 300001 for 3.0.1

  // The text of an error, which lives for ever. host
  const char* (*error_text)(int error);

  // Sorts n unsigned keys of key_bits (8, 16, 32 or 64) upwards by their
  // lowest `bits` bits, and numbers of 32 bits with them. Equal keys keep their
  // order. keys[0] and places[0] hold what is sorted, [1] is room; what is
  // sorted lies in [0] afterwards: the pointers (host) may have been swapped.
  int (*sort_pairs)(void* room, size_t* room_bytes, int key_bits, int bits,
                    void* keys[2], void* places[2], int64_t n, void* stream);
  // The same of `rows` rows of n, each by itself; n below 2^31.
  int (*sort_rows)(void* room, size_t* room_bytes, int key_bits, void* keys[2],
                   void* places[2], int64_t rows, int64_t n, void* stream);
  // Writes the places where the n bytes of `flags` are not 0, and their number
  // to *count.
  int (*select_places)(void* room, size_t* room_bytes, const uint8_t* flags,
                       int64_t* places, int64_t* count, int64_t n,
                       void* stream);
  // Each of the n numbers becomes the sum of those before it.
  int (*sum_before)(void* room, size_t* room_bytes, uint64_t* numbers,
                    int64_t n, void* stream);
  // How often each number of [0, bins) is among n numbers of number_bits (32
  // or 64, with a sign); others are not counted. bins below 2^31 - 1.
  int (*count_numbers)(void* room, size_t* room_bytes, int number_bits,
                       const void* numbers, int64_t n, uint64_t* counts,
                       int64_t bins, void* stream);
};

// The one symbol of the library: const struct SwitchyardCub*
// switchyard_cuda_cub(void).
typedef const struct SwitchyardCub* (*SwitchyardCubEntry)(void);

#ifdef __cplusplus
}
#endif
