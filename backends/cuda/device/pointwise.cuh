#pragma once

#include "op.cuh"
#include "places.cuh"
#include "pointwise_params.cuh"

// The shells of pointwise kernels (print/pointwise.h), one for each class of
// places. They take an Op of device/op.cuh.

namespace sy::cuda {

// Element i is at these bytes of each operand.
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

template <int kOperands>
__device__ __forceinline__ void find(const WideStrides<kOperands>& s, int64_t i,
                                     int64_t (&at)[kOperands]) {
  const int last = static_cast<int>(s.dims) - 1;
#pragma unroll
  for (int k = 0; k < kOperands; ++k) at[k] = 0;
#pragma unroll 1
  for (int d = 0; d <= last; ++d) {
    int64_t column = i;
    if (d < last) {
      const int64_t rest = i / s.sizes[d];
      column = i - rest * s.sizes[d];
      i = rest;
    }
#pragma unroll
    for (int k = 0; k < kOperands; ++k) at[k] += column * s.strides[k][d];
  }
}

// The first element of the block's square, and where it is in each operand.
template <int kOperands>
struct SquarePlace {
  int64_t column, row;
  int64_t at[kOperands];
};
template <int kOperands>
__device__ __forceinline__ SquarePlace<kOperands> find_square(
    const Squares<kOperands>& s) {
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
  SquarePlace<kOperands> place;
  place.column = int64_t{index[0]} * kSquare;
  place.row = int64_t{index[1]} * kSquare;
#pragma unroll
  for (int k = 0; k < kOperands; ++k) {
    place.at[k] = place.column * s.strides[k][0] + place.row * s.strides[k][1];
#pragma unroll
    for (int d = 2; d < kSquareDims; ++d) {
      place.at[k] += index[d] * s.strides[k][d];
    }
  }
  return place;
}

// The places of a column and row of the square.
template <int kOperands>
struct InSquare {
  const Squares<kOperands>& squares;
  const SquarePlace<kOperands>& first;
  int column, row;

  __device__ __forceinline__ bool exists() const {
    return first.column + column < squares.columns &&
           first.row + row < squares.rows;
  }
  __device__ __forceinline__ int64_t operator[](int k) const {
    return first.at[k] + column * squares.strides[k][0] +
           row * squares.strides[k][1];
  }
};

// A block takes a tile of kUnroll packs for each thread, or what is there of it
// one by one.
template <class Op, int kWidth, int kUnroll>
__device__ __forceinline__ void pointwise_linear(const Op& op) {
  using Way = InPacks<Op, kWidth>;
  const auto& p = op.p;
  const int64_t tile = int64_t{blockDim.x} * (kWidth * kUnroll);
  const int64_t begin = blockIdx.x * tile - p.where.before;
  if (p.where.vectors != 0 && begin >= 0 && begin + tile <= p.n) {
    const int64_t first = begin + threadIdx.x * kWidth;
    const int64_t step = int64_t{blockDim.x} * kWidth;
    typename Way::In in[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      in[k] = Way::load(op, Index{first + k * step});
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      Way::finish(op, in[k], Index{first + k * step});
    }
  } else {
    const int64_t end = begin + tile < p.n ? begin + tile : p.n;
    int64_t at = (begin < 0 ? 0 : begin) + threadIdx.x;
#pragma unroll 1
    for (; at < end; at += blockDim.x) compute_at(op, Index{at});
  }
}

template <class Way, int kOperands, int kUnroll, class Op>
__device__ __forceinline__ void compute_strided(const Op& op) {
  const auto& p = op.p;
  const unsigned tile = blockDim.x * kUnroll;
  const unsigned n = static_cast<unsigned>(p.n);
  const unsigned first = blockIdx.x * tile + threadIdx.x;
  if ((blockIdx.x + 1) * tile <= n) {
    int64_t at[kUnroll][kOperands];
    typename Way::In in[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      find(p.where, first + k * blockDim.x, at[k]);
      in[k] = Way::load(op, at[k]);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) Way::finish(op, in[k], at[k]);
  } else {
#pragma unroll 1
    for (unsigned i = first; i < n; i += blockDim.x) {
      int64_t at[kOperands];
      find(p.where, i, at);
      Way::finish(op, Way::load(op, at), at);
    }
  }
}
template <class Op, int kOperands, int kUnroll>
__device__ __forceinline__ void pointwise_strided(const Op& op) {
  compute_strided<OneByOne<Op>, kOperands, kUnroll>(op);
}
template <class Op, int kOperands, int kWidth, int kUnroll>
__device__ __forceinline__ void pointwise_strided_packs(const Op& op) {
  compute_strided<InPacks<Op, kWidth>, kOperands, kUnroll>(op);
}

// Op reads the inputs that are contiguous along dim 1 apart from load(), into
// shared memory and from there:
//
//   struct Kept { E v1[kSquare][kSquare + 1]; … };
//   void keep(Kept&, int x, int z, at);  // [x][z]
//   void take(In&, const Kept&, int z, int x);
template <class Op, int kOperands>
__device__ __forceinline__ void pointwise_transposed(const Op& op) {
  using At = InSquare<kOperands>;
  __shared__ typename Op::Kept kept;
  const auto& s = op.p.where;
  const SquarePlace<kOperands> first = find_square(s);
  constexpr int kEach = kSquare / kSquareRows;
  const int x = threadIdx.x, y = threadIdx.y;
  typename Op::In in[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int z = y + k * kSquareRows;
    const At across{s, first, z, x}, along{s, first, x, z};
    if (across.exists()) op.keep(kept, x, z, across);
    if (along.exists()) in[k] = op.load(along);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int z = y + k * kSquareRows;
    const At at{s, first, x, z};
    if (at.exists()) {
      op.take(in[k], kept, z, x);
      op.store(op.compute(in[k]), at);
    }
  }
}

template <class Op, int kOperands>
__device__ __forceinline__ void pointwise_wide(const Op& op) {
  const auto& p = op.p;
#pragma unroll 1
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    int64_t at[kOperands];
    find(p.where, i, at);
    compute_at(op, at);
  }
}

}  // namespace sy::cuda
