#pragma once

#include "block.cuh"
#include "element.cuh"
#include "scan_params.cuh"

// The elements that a warp scans go through shared memory, so that memory is
// read and written 16 bytes at a time, though a thread takes neighbours.

namespace sy::cuda {

// The elements of a warp in shared memory: those of a thread side by side, in
// packs of 16 bytes. The odd stride spreads the threads' packs over the banks.
constexpr int kScanStrip = kWarpSize * kScanItems;  // elements of a warp
template <class E>
struct ScanStrip {
  static constexpr int kEach = 16 / static_cast<int>(sizeof(E));
  static constexpr int kPacks = kScanItems / kEach;
  static constexpr int kStride = kPacks | 1;
  static constexpr int kThreadBytes = kStride * 16;
  static constexpr int kBytes = kWarpSize * kThreadBytes;

  __device__ static __forceinline__ int pack(int k) {
    return (k / kPacks * kStride + k % kPacks) * 16;
  }
  __device__ static __forceinline__ int element(int i) {
    return pack(i / kEach) + i % kEach * static_cast<int>(sizeof(E));
  }
};

// Whether memory has a whole strip side by side, in packs.
template <class E>
__device__ __forceinline__ bool has_packs(const char* at, int64_t step, int n) {
  return n == kScanStrip && step == static_cast<int64_t>(sizeof(E)) &&
         reinterpret_cast<size_t>(at) % 16 == 0;
}

// The first n elements of a warp from memory into its strip, and back.
template <class Op>
__device__ __forceinline__ void fill_strip(const Op& op, const char* from,
                                           int64_t step, int n, char* strip) {
  using E = typename Op::Element;
  using Strip = ScanStrip<E>;
  const int lane = static_cast<int>(threadIdx.x) & (kWarpSize - 1);
  if constexpr (Op::kInMemory) {
    if (has_packs<E>(from, step, n)) {
      const auto* const packs = reinterpret_cast<const E*>(from);
      Pack<E, Strip::kEach> x[Strip::kPacks];
#pragma unroll
      for (int i = 0; i < Strip::kPacks; ++i) {
        x[i] = load_pack<E, Strip::kEach>(packs + (i * kWarpSize + lane) *
                                                      Strip::kEach);
      }
#pragma unroll
      for (int i = 0; i < Strip::kPacks; ++i) {
        keep_pack<E, Strip::kEach>(
            reinterpret_cast<E*>(strip + Strip::pack(i * kWarpSize + lane)),
            x[i]);
      }
      return;
    }
  }
  constexpr int kAtOnce = 4;
#pragma unroll 1
  for (int first = lane; first < n; first += kAtOnce * kWarpSize) {
    E x[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = first + j * kWarpSize;
      if (i < n) x[j] = op.fetch(from + i * step);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = first + j * kWarpSize;
      if (i < n) *reinterpret_cast<E*>(strip + Strip::element(i)) = x[j];
    }
  }
}
template <class E, bool kInMemory, class F>
__device__ __forceinline__ void empty_strip(const char* strip, int n, char* to,
                                            int64_t step, const F& put) {
  using Strip = ScanStrip<E>;
  const int lane = static_cast<int>(threadIdx.x) & (kWarpSize - 1);
  if constexpr (kInMemory) {
    if (has_packs<E>(to, step, n)) {
      auto* const packs = reinterpret_cast<E*>(to);
#pragma unroll
      for (int i = 0; i < Strip::kPacks; ++i) {
        const int k = i * kWarpSize + lane;
        store_pack<E, Strip::kEach>(
            packs + k * Strip::kEach,
            load_pack<E, Strip::kEach>(
                reinterpret_cast<const E*>(strip + Strip::pack(k))));
      }
      return;
    }
  }
#pragma unroll 4
  for (int i = lane; i < n; i += kWarpSize) {
    put(to + i * step, *reinterpret_cast<const E*>(strip + Strip::element(i)));
  }
}

}  // namespace sy::cuda
