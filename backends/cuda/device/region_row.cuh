#pragma once

#include "op.cuh"
#include "reduce.cuh"
#include "region_row_params.cuh"

// The shell of regions that reduce rows and walk over them again. Rows are read
// from memory once: each thread keeps its own elements in shared memory. The
// bits are those of reductions one after the other (device/region.cuh). An Op
// says what they compute:
//
//   struct Op {
//     const Params& p;
//     struct In;
//     In load(const int64_t (&at)[n]);    // as in device/op.cuh
//     void keep(char* room, int64_t k, In);   // element k of a row
//     In again(const char* room, int64_t k, const int64_t (&at)[n]);
//     struct Stats;                       // results of reductions
//     void reduce(RegionRow&, Stats&);    // row_phase() of each
//     static constexpr bool kWalks;       // whether there is an Out
//     struct Out;
//     Out compute(In, Stats);
//     void store(Out, const int64_t (&at)[n]);
//     void finish_row(In, Stats, const int64_t (&at)[n]);  // outputs of a row
//   };
//
// A phase is a reduction as an Op of device/reduce.cuh, which makes Stats:
//
//   struct Phase { Acc map(In); Acc combine(Acc, Acc); Acc nothing();
//                  void finish(Acc, Stats&); };

namespace sy::cuda {

// The threads of a row.
template <class Op, int kOperands>
struct RegionRow {
  using In = typename Op::In;

  const Op& op;
  int64_t base[kOperands];
  char* room;  // or nullptr
  int lane, lanes;
  bool there;  // else these threads have no row
  bool first;  // nothing is kept yet

  __device__ __forceinline__ void place(int64_t k,
                                        int64_t (&at)[kOperands]) const {
    places(op.p.element_walk, k, at);
#pragma unroll
    for (int o = 0; o < kOperands; ++o) at[o] += base[o];
  }
  __device__ __forceinline__ In get(int64_t k,
                                    const int64_t (&at)[kOperands]) const {
    return first || room == nullptr ? op.load(at) : op.again(room, k, at);
  }
  __device__ __forceinline__ void keep(int64_t k, const In& in) const {
    if (first && room != nullptr) op.keep(room, k, in);
  }

  // f(element, where it is) for those of this thread, in order.
  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    const int64_t n = op.p.length;
    int64_t k = lane;
    for (; k + (kInFlight - 1) * lanes < n; k += kInFlight * lanes) {
      int64_t at[kInFlight][kOperands];
      In in[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        place(k + i * lanes, at[i]);
        in[i] = get(k + i * lanes, at[i]);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        keep(k + i * lanes, in[i]);
        f(in[i], at[i]);
      }
    }
    for (; k < n; k += lanes) {
      int64_t at[kOperands];
      place(k, at);
      const In in = get(k, at);
      keep(k, in);
      f(in, at);
    }
  }
};

// A reduction of the row, for all its threads.
template <class Phase, class Op, int kOperands>
__device__ __forceinline__ void row_phase(RegionRow<Op, kOperands>& row,
                                          typename Op::Stats& stats) {
  __shared__ typename Phase::Acc room[kReduceThreads / kWarpSize];
  const Phase phase{row.op, stats};
  Gathering<Phase> g(phase);
  int64_t valid = 0;
  if (row.there) {
    valid = row.op.p.length < row.lanes ? row.op.p.length : row.lanes;
    row.each([&](const typename Op::In& in, const int64_t(&)[kOperands]) {
      g.add(phase.map(in));
    });
  }
  row.first = false;
  if (!g.any) g.acc = phase.nothing();
  g.acc = reduce_group(g.acc, row.lanes, valid, room, Combine<Phase>{phase});
  if (row.lanes <= kWarpSize) {
    g.acc = shuffle(g.acc, 0, row.lanes);
  } else {
    if (row.lane == 0) room[0] = g.acc;
    __syncthreads();
    g.acc = room[0];
    __syncthreads();
  }
  phase.finish(g.acc, stats);
}

template <class Op, int kOperands>
__device__ __forceinline__ void region_row(const Op& op) {
  const auto& p = op.p;
  const int slot = static_cast<int>(threadIdx.x) / p.lanes;
  const int side = kReduceThreads / p.lanes;
  RegionRow<Op, kOperands> row{op};
  row.lanes = p.lanes;
  row.lane = static_cast<int>(threadIdx.x) & (p.lanes - 1);
  row.room = p.kept == 0 ? nullptr : dynamic_shared() + int64_t{slot} * p.kept;
  const int64_t blocks = (p.rows + side - 1) / side;
  for (int64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    const int64_t at = b * side + slot;
    row.there = at < p.rows;
    row.first = true;
    if (row.there) places(p.row_walk, at, row.base);
    typename Op::Stats stats;
    op.reduce(row, stats);
    if (!row.there) continue;
    if constexpr (Op::kWalks) {
      row.each(
          [&](const typename Op::In& in, const int64_t(&place)[kOperands]) {
            op.store(op.compute(in, stats), place);
          });
    }
    if (row.lane == 0) {
      int64_t first[kOperands];
      row.place(0, first);
      op.finish_row(op.load(first), stats, first);
    }
  }
}

}  // namespace sy::cuda
