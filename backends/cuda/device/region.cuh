#pragma once

#include "op.cuh"
#include "reduce.cuh"
#include "region_params.cuh"

// The shells of regions. An Op of device/op.cuh says what walks compute. That
// of a reduction has In and load() alone, `Acc map(In)`, and the members of
// device/reduce.cuh.

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

// The elements of the operands of a reduction (device/reduce.cuh).
template <class Op_, int kOperands>
struct RegionSource {
  using Op = Op_;
  using Item = typename Op::In;
  using Acc = typename Op::Acc;
  static constexpr int kLoads = kInFlight;
  static constexpr int kMostSide = 1;

  int64_t base[kOperands];

  __device__ __forceinline__ RegionSource(const Op& op, int64_t result, bool) {
    places(op.p.kept_walk, result, base);
  }
  __device__ __forceinline__ Item load(const Op& op, int64_t k) const {
    int64_t at[kOperands];
    places(op.p.reduced_walk, k, at);
#pragma unroll
    for (int o = 0; o < kOperands; ++o) at[o] += base[o];
    return op.load(at);
  }
  __device__ __forceinline__ static Acc map(const Op& op, const Item& x,
                                            int64_t) {
    return op.map(x);
  }
  __device__ __forceinline__ int64_t row(Gathering<Op>& g, int64_t from,
                                         int64_t upto, int lane,
                                         int lanes) const {
    gather_apart(g, *this, from + lane, upto, lanes);
    return upto - from;
  }
};

}  // namespace sy::cuda
