#pragma once

#include "block.cuh"
#include "places.cuh"
#include "scan_params.cuh"

// The shell of scans. What is combined is an Op:
//
//   struct Op {
//     const ScanHead& p;
//     struct State;                              // what is scanned
//     State load(const char* at, int64_t k);     // element k along the dim
//     State combine(State, State);               // the left one comes before
//     void store(State, char* value, char* place);
//   };
//
// Elements are grouped by the sizes alone, so that results of floats are the
// same in every run. Results may be written over what is read, element by
// element.

namespace sy::cuda {

// A state: the result so far, and where it was chosen.
template <class T, bool kChooses>
struct ScanState {
  T v;
};
template <class T>
struct ScanState<T, true> {
  T v;
  int64_t at;
};

template <class Op>
struct Then {
  const Op& op;
  __device__ __forceinline__ typename Op::State operator()(
      const typename Op::State& a, const typename Op::State& b) const {
    return op.combine(a, b);
  }
};

// The elements of a row, as what a scan reads and writes.
template <class Op>
struct ScanRow {
  const Op& op;
  const char* data;
  char* values;
  char* places;

  __device__ __forceinline__ ScanRow(const Op& o, int64_t row) : op(o) {
    int64_t at[3];
    sy::cuda::places(o.p.walk, row, at);
    data = o.p.data + at[0];
    values = o.p.values + at[1];
    places = o.p.places + at[2];
  }
  __device__ __forceinline__ typename Op::State load(int64_t k) const {
    return op.load(data + k * op.p.step[0], k);
  }
  __device__ __forceinline__ void store(int64_t k,
                                        const typename Op::State& s) const {
    op.store(s, values + k * op.p.step[1], places + k * op.p.step[2]);
  }
};
// The totals of the pieces of a row.
template <class Op>
struct ScanTotals {
  typename Op::State* at;

  __device__ __forceinline__ typename Op::State load(int64_t k) const {
    return at[k];
  }
  __device__ __forceinline__ void store(int64_t k,
                                        const typename Op::State& s) const {
    at[k] = s;
  }
};

// The room of scan_tiles; padded, as threads read kScanItems side by side.
template <class State>
struct ScanRoom {
  State items[kScanTile + kScanTile / kScanItems];
  State warps[kScanThreads / kWarpSize];
  State last;
  __device__ __forceinline__ State& item(int i) {
    return items[i + i / kScanItems];
  }
};

// Scans elements [from, upto) after `carry`, if there is one, by all threads of
// the block; `carry` becomes the last result.
template <bool kStores, class Op, class Source>
__device__ __forceinline__ void scan_tiles(const Op& op, const Source& source,
                                           int64_t from, int64_t upto,
                                           typename Op::State& carry,
                                           bool carries,
                                           ScanRoom<typename Op::State>& room) {
  using State = typename Op::State;
  const int t = static_cast<int>(threadIdx.x);
  for (; from < upto; from += kScanTile) {
    const int n =
        static_cast<int>(upto - from < kScanTile ? upto - from : kScanTile);
    State x[kScanItems] = {};
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      const int k = i * kScanThreads + t;
      if (k < n) x[i] = source.load(from + k);
    }
    __syncthreads();  // the tile before is stored
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      room.item(i * kScanThreads + t) = x[i];
    }
    __syncthreads();
    const int mine = n - t * kScanItems;  // all of the first threads have some
    x[0] = room.item(t * kScanItems);
    State sum = x[0];
#pragma unroll
    for (int i = 1; i < kScanItems; ++i) {
      x[i] = room.item(t * kScanItems + i);
      if (i < mine) {
        x[i] = op.combine(x[i - 1], x[i]);
        sum = x[i];
      }
    }
    State before = {};
    scan_block(sum, before, room.warps, Then<Op>{op});
    if (t == 0) {
      before = carry;
    } else if (carries) {
      before = op.combine(carry, before);
    }
    if (t > 0 || carries) {
#pragma unroll
      for (int i = 0; i < kScanItems; ++i) {
        if (i < mine) x[i] = op.combine(before, x[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      if (kStores) room.item(t * kScanItems + i) = x[i];
      if (t * kScanItems + i == n - 1) room.last = x[i];
    }
    __syncthreads();
    carry = room.last;
    carries = true;
    if (!kStores) continue;
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      const int k = i * kScanThreads + t;
      if (k < n) source.store(from + k, room.item(k));
    }
  }
}

// A block for each piece of a row.
template <class Op>
__device__ __forceinline__ void scan_rows(const Op& op) {
  using State = typename Op::State;
  const ScanHead& p = op.p;
  __shared__ ScanRoom<State> room;
  auto* const totals = static_cast<State*>(p.totals);
  const int64_t tasks = p.pass == 2 ? p.rows : p.rows * p.pieces;
  for (int64_t b = blockIdx.x; b < tasks; b += gridDim.x) {
    State carry = {};
    if (p.pass == 2) {
      const ScanTotals<Op> source{totals + b * p.pieces};
      scan_tiles<true>(op, source, 0, p.pieces, carry, false, room);
      continue;
    }
    const int64_t row = b / p.pieces, piece = b % p.pieces;
    const ScanRow<Op> source(op, row);
    const int64_t from = piece * p.piece;
    const int64_t upto = from + p.piece < p.length ? from + p.piece : p.length;
    if (p.pass == 1) {
      scan_tiles<false>(op, source, from, upto, carry, false, room);
      if (threadIdx.x == 0) totals[b] = carry;
      continue;
    }
    const bool carries = p.pass == 3 && piece > 0;
    if (carries) carry = totals[b - 1];
    scan_tiles<true>(op, source, from, upto, carry, carries, room);
  }
}

// p.lanes threads of a warp for each row.
template <class Op>
__device__ __forceinline__ void scan_short_rows(const Op& op) {
  using State = typename Op::State;
  const ScanHead& p = op.p;
  const int lanes = p.lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int rows = kScanThreads / lanes;
  const int64_t blocks = (p.rows + rows - 1) / rows;
  for (int64_t b = blockIdx.x; b < blocks; b += gridDim.x) {
    const int64_t row = b * rows + threadIdx.x / lanes;
    const bool there = row < p.rows;
    const ScanRow<Op> source(op, there ? row : 0);
    State carry = {};
    for (int64_t from = 0; from < p.length; from += lanes) {
      const bool mine = there && from + lane < p.length;
      State x = {};
      if (mine) x = source.load(from + lane);
      for (int d = 1; d < lanes; d *= 2) {
        const State other = shuffle_up(x, d, lanes);
        if (lane >= d) x = op.combine(other, x);
      }
      if (from > 0) x = op.combine(carry, x);
      if (mine) source.store(from + lane, x);
      carry = shuffle(x, lanes - 1, lanes);
    }
  }
}

// A thread for each piece of a row, neighbours for neighbouring rows.
template <class Op>
__device__ __forceinline__ void scan_columns(const Op& op) {
  using State = typename Op::State;
  const ScanHead& p = op.p;
  auto* const totals = static_cast<State*>(p.totals);
  const int64_t strips = (p.rows + kScanThreads - 1) / kScanThreads;
  const int64_t tasks = strips * (p.pass == 2 ? 1 : p.pieces);
  for (int64_t b = blockIdx.x; b < tasks; b += gridDim.x) {
    const int64_t row = b % strips * kScanThreads + threadIdx.x;
    if (row >= p.rows) continue;
    if (p.pass == 2) {
      State sum = totals[row];
      for (int64_t k = 1; k < p.pieces; ++k) {
        sum = op.combine(sum, totals[k * p.rows + row]);
        totals[k * p.rows + row] = sum;
      }
      continue;
    }
    const int64_t piece = b / strips;
    const ScanRow<Op> source(op, row);
    int64_t k = piece * p.piece;
    const int64_t upto = k + p.piece < p.length ? k + p.piece : p.length;
    State sum = source.load(k);
    if (p.pass == 3 && piece > 0) {
      sum = op.combine(totals[(piece - 1) * p.rows + row], sum);
    }
    if (p.pass != 1) source.store(k, sum);
    ++k;
    constexpr int kAtOnce = 4;
    for (; k + kAtOnce <= upto; k += kAtOnce) {
      State x[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) x[i] = source.load(k + i);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        sum = op.combine(sum, x[i]);
        if (p.pass != 1) source.store(k + i, sum);
      }
    }
    for (; k < upto; ++k) {
      sum = op.combine(sum, source.load(k));
      if (p.pass != 1) source.store(k, sum);
    }
    if (p.pass == 1) totals[piece * p.rows + row] = sum;
  }
}

}  // namespace sy::cuda
