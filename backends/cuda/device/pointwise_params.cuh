#pragma once

#include "launch_head.cuh"
#include "number.cuh"
#include "walk.cuh"

// The argument of pointwise kernels (device/pointwise.cuh), for the host and
// for kernels: where operands lie, in a struct for each class of places.

namespace sy::cuda {

constexpr int kPointwiseThreads = 256;  // a block, at most

// Runs of contiguous elements. `vectors`: whether there are packs. The grid
// begins `before` elements before the first, so that operands are aligned where
// packs begin.
struct Runs {
  int vectors = 0, before = 0;
};

// Element i of at most 2^31 - 1. Dim 0 is the fastest. Strides are in bytes.
template <int kRank, int kOperands>
struct Strides {
  Divisor divisors[kRank];
  long long strides[kOperands][kRank];
};

// Strides for any number of elements and up to kWideDims dims.
constexpr int kWideDims = 16;
template <int kOperands>
struct WideStrides {
  long long dims;
  long long sizes[kWideDims];
  long long strides[kOperands][kWideDims];
};

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

// `n` elements, or packs. `data`: the first elements of inputs, then of
// results; null for inputs that are numbers. `numbers`: uniforms, then the
// inputs that are numbers.
template <class Where, int kOperands, int kNumbers>
struct PointwiseParams {
  LaunchHead head;
  long long n;
  char* data[kOperands];
  Where where;
  Number numbers[kNumbers];
};

}  // namespace sy::cuda
