#pragma once

#include "kernel.cuh"

// The generator of c10/device/philox.h, for kernels.

namespace sy::cuda {

struct PhiloxBlock {
  uint32_t word[4];
};

__device__ __forceinline__ PhiloxBlock philox(PhiloxBlock c, uint32_t k0,
                                              uint32_t k1) {
#pragma unroll
  for (int i = 0; i < 10; ++i) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c.word[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c.word[2];
    c = {{static_cast<uint32_t>(p1 >> 32) ^ c.word[1] ^ k0,
          static_cast<uint32_t>(p1),
          static_cast<uint32_t>(p0 >> 32) ^ c.word[3] ^ k1,
          static_cast<uint32_t>(p0)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// Block `at` of the stream of a seed; `inner` counts those that belong to it
// alone.
__device__ __forceinline__ PhiloxBlock philox_block(uint64_t seed, uint64_t at,
                                                    uint32_t inner = 0) {
  return philox(
      {{static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), inner, 0}},
      static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

__device__ __forceinline__ uint64_t joined(const uint32_t* words) {
  return static_cast<uint64_t>(words[1]) << 32 | words[0];
}
__device__ __forceinline__ double even_double(const uint32_t* words) {
  return static_cast<double>(joined(words) >> 11) * 0x1p-53;
}

// A number below n, made of 64 random bits; n = 0 stands for 2^64.
__device__ __forceinline__ uint64_t below(uint64_t bits, uint64_t n) {
  return n == 0 ? bits : __umul64hi(bits, n);
}

}  // namespace sy::cuda
