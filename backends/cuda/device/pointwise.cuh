#pragma once

#include "op.cuh"
#include "places.cuh"

// The common part of printed pointwise kernels (print/pointwise.h): where
// operands lie.

namespace sy::cuda {

// Element i of at most 2^31 - 1 is at these bytes of each operand. Dim 0 is the
// fastest.
template <int kRank, int kOperands>
struct Strides {
  Divisor divisors[kRank];
  long long strides[kOperands][kRank];
};
template <int kRank, int kOperands>
__device__ __forceinline__ void find(const Strides<kRank, kOperands>& s,
                                     unsigned i, int64_t (&at)[kOperands]) {
#pragma unroll
  for (int k = 0; k < kOperands; ++k) at[k] = 0;
#pragma unroll
  for (int d = 0; d < kRank; ++d) {
    unsigned column = i;
    if (d < kRank - 1) {
      const unsigned rest = divide(s.divisors[d], i);
      column = i - rest * s.divisors[d].divisor;
      i = rest;
    }
#pragma unroll
    for (int k = 0; k < kOperands; ++k) at[k] += column * s.strides[k][d];
  }
}

// Strides for any number of elements and up to kWideDims dims.
constexpr int kWideDims = 16;
template <int kOperands>
struct WideStrides {
  long long sizes[kWideDims];
  long long strides[kOperands][kWideDims];
};
template <int kOperands>
__device__ __forceinline__ void find(const WideStrides<kOperands>& s, int dims,
                                     int64_t i, int64_t (&at)[kOperands]) {
#pragma unroll
  for (int k = 0; k < kOperands; ++k) at[k] = 0;
#pragma unroll 1
  for (int d = 0; d < dims; ++d) {
    int64_t column = i;
    if (d < dims - 1) {
      const int64_t rest = i / s.sizes[d];
      column = i - rest * s.sizes[d];
      i = rest;
    }
#pragma unroll
    for (int k = 0; k < kOperands; ++k) at[k] += column * s.strides[k][d];
  }
}

// Squares of dims 0 and 1 for blocks of 32 x 8 threads; dims from 2 on are
// those of a batch.
constexpr int kSquare = 32, kSquareRows = 8, kSquareDims = 5;
template <int kOperands>
struct Squares {
  // Divide by the numbers of squares along dims 0 and 1, then by the sizes.
  Divisor divisors[kSquareDims];
  long long columns, rows;
  long long strides[kOperands][kSquareDims];
};
struct SquarePlace {
  int64_t column, row;  // of the square's first element
};
template <int kOperands>
__device__ __forceinline__ SquarePlace find_square(const Squares<kOperands>& s,
                                                   int64_t (&at)[kOperands]) {
  unsigned i = blockIdx.x;
  unsigned index[kSquareDims];
#pragma unroll
  for (int d = 0; d < kSquareDims; ++d) {
    index[d] = i;
    if (d < kSquareDims - 1) {
      const unsigned rest = divide(s.divisors[d], i);
      index[d] = i - rest * s.divisors[d].divisor;
      i = rest;
    }
  }
  const SquarePlace place{int64_t{index[0]} * kSquare,
                          int64_t{index[1]} * kSquare};
#pragma unroll
  for (int k = 0; k < kOperands; ++k) {
    at[k] = place.column * s.strides[k][0] + place.row * s.strides[k][1];
#pragma unroll
    for (int d = 2; d < kSquareDims; ++d) at[k] += index[d] * s.strides[k][d];
  }
  return place;
}

// Whether the square has an element at this column and row; and its places.
template <int kOperands>
__device__ __forceinline__ bool is_inside(const Squares<kOperands>& s,
                                          const SquarePlace& place, int column,
                                          int row) {
  return place.column + column < s.columns && place.row + row < s.rows;
}
template <int kOperand, int kOperands>
__device__ __forceinline__ int64_t in_square(const Squares<kOperands>& s,
                                             const int64_t (&at)[kOperands],
                                             int column, int row) {
  return at[kOperand] + column * s.strides[kOperand][0] +
         row * s.strides[kOperand][1];
}

}  // namespace sy::cuda
