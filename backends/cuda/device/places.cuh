#pragma once

#include "kernel.cuh"
#include "walk.cuh"

namespace sy::cuda {

__device__ __forceinline__ unsigned divide(const Divisor& d, unsigned n) {
  const auto high = static_cast<unsigned>(
      (static_cast<unsigned long long>(n) * d.multiplier) >> 32);
  return (high + n) >> d.shift;
}

// The places of element i of the walk in each tensor, in bytes from the first
// element.
template <int kOperands>
__device__ __forceinline__ void places(const Walk<kOperands>& w, int64_t i,
                                       int64_t (&at)[kOperands]) {
#pragma unroll
  for (int k = 0; k < kOperands; ++k) at[k] = 0;
  const int last = w.dims - 1;
  if (w.wide != 0) {
#pragma unroll 1
    for (int d = 0; d < last; ++d) {
      const int64_t rest = i / w.sizes[d];
      const int64_t column = i - rest * w.sizes[d];
#pragma unroll
      for (int k = 0; k < kOperands; ++k) at[k] += column * w.strides[k][d];
      i = rest;
    }
#pragma unroll
    for (int k = 0; k < kOperands; ++k) at[k] += i * w.strides[k][last];
    return;
  }
  auto n = static_cast<unsigned>(i);
#pragma unroll 1
  for (int d = 0; d < last; ++d) {
    const unsigned rest = divide(w.divisors[d], n);
    const unsigned column = n - rest * w.divisors[d].divisor;
#pragma unroll
    for (int k = 0; k < kOperands; ++k) {
      at[k] += static_cast<int64_t>(column) * w.strides[k][d];
    }
    n = rest;
  }
#pragma unroll
  for (int k = 0; k < kOperands; ++k) {
    at[k] += static_cast<int64_t>(n) * w.strides[k][last];
  }
}

// Elements that a thread has on their way at once.
constexpr int kAhead = 4;

// Elements that are moved as they are, by their size.
struct __align__(16) Bytes16 {
  uint64_t half[2];
};
template <int kSize>
struct ItemOf;
template <>
struct ItemOf<1> {
  using type = uint8_t;
};
template <>
struct ItemOf<2> {
  using type = uint16_t;
};
template <>
struct ItemOf<4> {
  using type = uint32_t;
};
template <>
struct ItemOf<8> {
  using type = uint64_t;
};
template <>
struct ItemOf<16> {
  using type = Bytes16;
};

}  // namespace sy::cuda

// Sources of kernels that move elements are compiled for one size of these.
#ifndef SY_ITEM
#define SY_ITEM 4
#endif
using Item = typename ItemOf<SY_ITEM>::type;
