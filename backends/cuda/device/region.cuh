#pragma once

#include "op.cuh"
#include "reduce.cuh"
#include "region_params.cuh"

// The shells of regions. An Op of device/op.cuh says what walks compute. That
// of a reduction has In and load() alone, and the members of device/reduce.cuh:
// `Acc map(In)` and what follows.

namespace sy::cuda {

template <class Op, int kOperands>
__device__ __forceinline__ void walk_one(const Op& op, int64_t i) {
  int64_t at[kOperands];
  places(op.p.walk, i, at);
  compute_at(op, at);
}

template <class Op, int kOperands>
__device__ __forceinline__ void region_walk(const Op& op) {
  const auto& p = op.p;
  const int64_t step = index_stride();
  int64_t i = first_index();
  for (; i + (kInFlight - 1) * step < p.numel; i += kInFlight * step) {
    int64_t at[kInFlight][kOperands];
    typename Op::In in[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      places(p.walk, i + k * step, at[k]);
      in[k] = op.load(at[k]);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) op.store(op.compute(in[k]), at[k]);
  }
  for (; i < p.numel; i += step) walk_one<Op, kOperands>(op, i);
}

// The elements before and after the packs go one by one.
template <class Op, int kOperands, int kWidth, int kUnroll>
__device__ __forceinline__ void region_walk_packs(const Op& op) {
  using Way = InPacks<Op, kWidth>;
  const auto& p = op.p;
  const int64_t step = index_stride();
  const int64_t first = first_index();
  const int64_t alone = p.numel - p.packs * kWidth;
  for (int64_t i = first; i < alone; i += step) {
    walk_one<Op, kOperands>(op, i < p.skipped ? i : p.numel - alone + i);
  }
#pragma unroll 1
  for (int64_t i = first; i < p.packs; i += kUnroll * step) {
    int64_t at[kUnroll][kOperands];
    typename Way::In in[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (i + k * step >= p.packs) break;
      places(p.walk, p.skipped + (i + k * step) * kWidth, at[k]);
      in[k] = Way::load(op, at[k]);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (i + k * step >= p.packs) break;
      Way::finish(op, in[k], at[k]);
    }
  }
}

// Elements [from, upto) of the reduced dims, every `step`th, of the results at
// `base`.
template <class Op, int kOperands>
__device__ __forceinline__ void gather_region(Gathering<Op>& g,
                                              const int64_t (&base)[kOperands],
                                              int64_t from, int64_t upto,
                                              int64_t step) {
  const Op& op = g.op;
  const auto load = [&](int64_t k) {
    int64_t at[kOperands];
    places(op.p.reduced_walk, k, at);
#pragma unroll
    for (int o = 0; o < kOperands; ++o) at[o] += base[o];
    return op.load(at);
  };
  int64_t i = from;
  for (; i + (kInFlight - 1) * step < upto; i += kInFlight * step) {
    typename Op::In in[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) in[k] = load(i + k * step);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) g.add(op.map(in[k]));
  }
  for (; i < upto; i += step) g.add(op.map(load(i)));
}

// The same as reduce_rows, for regions.
template <class Op, int kOperands>
__device__ __forceinline__ void region_rows(const Op& op) {
  const auto& p = op.p;
  __shared__ typename Op::Acc room[kReduceThreads / kWarpSize];
  const int lanes = p.lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int rows = kReduceThreads / lanes;
  const int64_t blocks = (p.kept + rows - 1) / rows * p.pieces;
  for (int64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    const int64_t piece = b % p.pieces;
    const int64_t result = b / p.pieces * rows + threadIdx.x / lanes;
    Gathering<Op> g(op);
    int64_t valid = 0;
    if (result < p.kept) {
      const int64_t from = piece * p.piece;
      const int64_t upto =
          from + p.piece < p.reduced ? from + p.piece : p.reduced;
      valid = upto - from < lanes ? upto - from : lanes;
      int64_t base[kOperands];
      places(p.kept_walk, result, base);
      gather_region(g, base, from + lane, upto, lanes);
    }
    if (!g.any) g.acc = op.nothing();
    g.acc = reduce_group(g.acc, lanes, valid, room, Combine<Op>{op});
    if (result < p.kept && lane == 0) put(op, g.acc, piece, result);
    if (lanes > kWarpSize) __syncthreads();
  }
}

// The same as reduce_columns, for regions.
template <class Op, int kOperands>
__device__ __forceinline__ void region_columns(const Op& op) {
  const auto& p = op.p;
  __shared__ typename Op::Acc room[kReduceThreads];
  const int lanes = p.lanes;
  const int x = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int y = static_cast<int>(threadIdx.x) / lanes;
  const int rows = kReduceThreads / lanes;
  const int64_t strips = (p.kept + lanes - 1) / lanes;
  for (int64_t b = blockIdx.x; b < strips * p.pieces; b += gridDim.x) {
    const int64_t piece = b / strips;
    const int64_t result = b % strips * lanes + x;
    const int64_t from = piece * p.piece;
    const int64_t upto =
        from + p.piece < p.reduced ? from + p.piece : p.reduced;
    Gathering<Op> g(op);
    if (result < p.kept) {
      int64_t base[kOperands];
      places(p.kept_walk, result, base);
      gather_region(g, base, from + y, upto, rows);
    }
    if (!g.any) g.acc = op.nothing();
    combine_column(op, g.acc, room, upto - from);
    if (result < p.kept && y == 0) put(op, g.acc, piece, result);
  }
}

}  // namespace sy::cuda
