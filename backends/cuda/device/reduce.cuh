#pragma once

#include "block.cuh"
#include "places.cuh"
#include "reduce_params.cuh"

// The shell of reductions: which thread reads which elements, and in which
// order accumulators are combined. An Op says what they compute:
//
//   struct Op {
//     const Params& p;                     // a ReduceHead
//     struct Acc;                          // the accumulators
//     Acc combine(Acc, Acc);               // the left one has the lower lane
//     Acc nothing();                       // of no elements
//     void finish(Acc, int64_t result);    // stores results
//     void keep(Acc, int64_t at);          // stores into planes
//     Acc kept(int64_t at);                // reads from planes
//   };
//
// and a Source where the elements of a result lie:
//
//   struct Source {
//     using Op, Item;
//     static constexpr int kLoads;          // on their way at once
//     Source(const Op&, int64_t result, bool there);  // whether there is one
//     Item load(const Op&, int64_t index);  // an element of the result
//     Acc map(const Op&, Item, int64_t index);
//     // Gathers elements [from, upto), those of this of `lanes` threads.
//     // Returns how many of these have any, if not all.
//     int64_t row(Gathering&, int64_t from, int64_t upto, int lane, int lanes);
//     // Gathers every `step`th element of as many results, which lie together
//     // in vectors. There is none if kMostSide is 1.
//     static constexpr int kMostSide;
//     bool columns(const Op&, Acc (&)[kMostSide], int64_t from, int64_t upto,
//                  int step);
//   };
//
// The order is a function of the sizes, of strides and of the addresses modulo
// 16. Blocks have kReduceThreads threads.

namespace sy::cuda {

// An accumulator that may have no elements yet.
template <class Op>
struct Gathering {
  const Op& op;
  typename Op::Acc acc;
  bool any;

  __device__ __forceinline__ explicit Gathering(const Op& o)
      : op(o), any(false) {}
  __device__ __forceinline__ void add(const typename Op::Acc& x) {
    acc = any ? op.combine(acc, x) : x;
    any = true;
  }
};

template <class Op>
struct Combine {
  const Op& op;
  __device__ __forceinline__ typename Op::Acc operator()(
      const typename Op::Acc& a, const typename Op::Acc& b) const {
    return op.combine(a, b);
  }
};

template <class Op>
__device__ __forceinline__ void put(const Op& op, const typename Op::Acc& acc,
                                    int64_t piece, int64_t result) {
  if (op.p.finish != 0) {
    op.finish(acc, result);
  } else {
    op.keep(acc, piece * op.p.kept + result);
  }
}

__device__ __forceinline__ int64_t offset_in(const Walk<1>& w, int64_t i) {
  int64_t at[1];
  places(w, i, at);
  return at[0];
}

constexpr int kInFlight = 4;

// Elements [from, upto), every `step`th from `from` on; they may lie anywhere.
template <class Source>
__device__ __forceinline__ void gather_apart(Gathering<typename Source::Op>& g,
                                             const Source& s, int64_t from,
                                             int64_t upto, int64_t step) {
  constexpr int kLoads = Source::kLoads;
  int64_t i = from;
#pragma unroll 1  // more would spill
  for (; i + (kLoads - 1) * step < upto; i += kLoads * step) {
    typename Source::Item x[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) x[k] = s.load(g.op, i + k * step);
#pragma unroll
    for (int k = 0; k < kLoads; ++k) g.add(s.map(g.op, x[k], i + k * step));
  }
  for (; i < upto; i += step) g.add(s.map(g.op, s.load(g.op, i), i));
}

// Loads of a thread before it uses them. One where an Op's functions are calls.
template <class Op>
constexpr int kLoadsOf = Op::kMostEach == 1 ? 1 : kInFlight;

// Elements [from, upto) of a row that lies together, of this lane. Returns how
// many lanes have any.
template <class Op>
__device__ __forceinline__ int64_t gather_together(Gathering<Op>& g,
                                                   const char* row,
                                                   int64_t from, int64_t upto,
                                                   int lane, int lanes) {
  using Vector = typename Op::Vector;
  const Op& op = g.op;
  const int size = op.size();
  const int each = 16 / size;
  const char* const first = row + from * size;
  const int64_t n = upto - from;
  const auto apart = reinterpret_cast<uint64_t>(first) & 15;
  int64_t head = apart == 0 ? 0 : static_cast<int64_t>(16 - apart) / size;
  if (head > n) head = n;
  const int64_t vectors = (n - head) / each;
  const int64_t tail = head + vectors * each;
  int64_t most = n - tail;
  if (most < head) most = head;
  if (most < vectors) most = vectors;
  for (int64_t i = lane; i < head; i += lanes) {
    g.add(op.map(op.load(first + i * size), from + i));
  }
  const auto* const body = reinterpret_cast<const Vector*>(first + head * size);
  const auto add_vector = [&](const Vector& v, int64_t at) {
    const int64_t index = from + head + at * each;
    typename Op::Acc sum = op.map(op.item(v, 0), index);
#pragma unroll(Op::kMostEach)
    for (int j = 1; j < each; ++j) {
      sum = op.combine(sum, op.map(op.item(v, j), index + j));
    }
    g.add(sum);
  };
  int64_t i = lane;
#pragma unroll 1  // more would spill
  for (; i + (kLoadsOf<Op> - 1) * lanes < vectors; i += kLoadsOf<Op> * lanes) {
    Vector v[kLoadsOf<Op>];
#pragma unroll
    for (int k = 0; k < kLoadsOf<Op>; ++k) v[k] = body[i + k * lanes];
#pragma unroll
    for (int k = 0; k < kLoadsOf<Op>; ++k) add_vector(v[k], i + k * lanes);
  }
  for (; i < vectors; i += lanes) add_vector(body[i], i);
  for (int64_t k = tail + lane; k < n; k += lanes) {
    g.add(op.map(op.load(first + k * size), from + k));
  }
  return most;
}

// The elements of one tensor, which an Op reads and maps:
//
//   struct Vector; struct Item;            // 16 bytes of elements; an element
//   static constexpr int kMostEach;        // elements of a Vector, at most
//   int size();                            // bytes of an element
//   Item item(const Vector&, int j);
//   Item load(const char*);
//   Acc map(Item, int64_t index);
template <class Op_>
struct TensorSource {
  using Op = Op_;
  using Item = typename Op::Item;
  using Acc = typename Op::Acc;
  static constexpr int kLoads = kLoadsOf<Op>;
  static constexpr int kMostSide = Op::kMostEach;

  const char* first;

  __device__ __forceinline__ TensorSource(const Op& op, int64_t result,
                                          bool there)
      : first(there ? op.p.data + offset_in(op.p.keep, result) : nullptr) {}
  __device__ __forceinline__ Item load(const Op& op, int64_t k) const {
    return op.load(first + offset_in(op.p.reduce, k));
  }
  __device__ __forceinline__ static Acc map(const Op& op, const Item& x,
                                            int64_t k) {
    return op.map(x, k);
  }
  __device__ __forceinline__ int64_t row(Gathering<Op>& g, int64_t from,
                                         int64_t upto, int lane,
                                         int lanes) const {
    if (g.op.p.wide != 0) {
      return gather_together(g, first, from, upto, lane, lanes);
    }
    gather_apart(g, *this, from + lane, upto, lanes);
    return upto - from;
  }
  __device__ __forceinline__ bool columns(const Op& op, Acc (&acc)[kMostSide],
                                          int64_t from, int64_t upto,
                                          int step) const {
    using Vector = typename Op::Vector;
    bool any = false;
    const auto add = [&](const Vector& v, int64_t k) {
#pragma unroll
      for (int j = 0; j < kMostSide; ++j) {
        const Acc m = op.map(op.item(v, j), k);
        acc[j] = any ? op.combine(acc[j], m) : m;
      }
      any = true;
    };
    const auto at = [&](int64_t k) {
      return *reinterpret_cast<const Vector*>(first +
                                              offset_in(op.p.reduce, k));
    };
    int64_t k = from;
    for (; k + (kLoads - 1) * step < upto; k += kLoads * step) {
      Vector v[kLoads];
#pragma unroll
      for (int f = 0; f < kLoads; ++f) v[f] = at(k + f * step);
#pragma unroll
      for (int f = 0; f < kLoads; ++f) add(v[f], k + f * step);
    }
    for (; k < upto; k += step) add(at(k), k);
    return any;
  }
};

// p.lanes threads make a result: where its elements lie closer together than
// results do.
template <class Source>
__device__ __forceinline__ void reduce_rows(const typename Source::Op& op) {
  using Op = typename Source::Op;
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
      valid = Source(op, result, true).row(g, from, upto, lane, lanes);
    }
    if (!g.any) g.acc = op.nothing();
    if (valid > lanes) valid = lanes;
    g.acc = reduce_group(g.acc, lanes, valid, room, Combine<Op>{op});
    if (result < p.kept && lane == 0) put(op, g.acc, piece, result);
    if (lanes > kWarpSize) __syncthreads();
  }
}

// Combines the accumulators of the threads of a column, in the first of them.
// There are p.lanes columns.
template <class Op>
__device__ __forceinline__ void combine_column(const Op& op,
                                               typename Op::Acc& acc,
                                               typename Op::Acc* room,
                                               int64_t valid) {
  const int lanes = op.p.lanes;
  const int t = static_cast<int>(threadIdx.x);
  const int y = t / lanes;
  __syncthreads();
  room[t] = acc;
  __syncthreads();
  for (int d = kReduceThreads / lanes / 2; d > 0; d /= 2) {
    if (y < d && y + d < valid) {
      room[t] = op.combine(room[t], room[t + d * lanes]);
    }
    __syncthreads();
  }
  acc = room[t];
}

// Neighbouring threads make neighbouring results; kReduceThreads / p.lanes
// threads share one.
template <class Source>
__device__ __forceinline__ void reduce_columns(const typename Source::Op& op) {
  using Acc = typename Source::Op::Acc;
  const auto& p = op.p;
  __shared__ Acc room[kReduceThreads];
  const int lanes = p.lanes;
  const int x = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int y = static_cast<int>(threadIdx.x) / lanes;
  const int rows = kReduceThreads / lanes;
  const int side = p.wide != 0 ? Source::kMostSide : 1;
  const int64_t strips = (p.kept + lanes * side - 1) / (lanes * side);
  for (int64_t b = blockIdx.x; b < strips * p.pieces; b += gridDim.x) {
    const int64_t piece = b / strips;
    const int64_t result = (b % strips * lanes + x) * side;
    const int64_t from = piece * p.piece;
    const int64_t upto =
        from + p.piece < p.reduced ? from + p.piece : p.reduced;
    const bool there = result < p.kept;
    const Source source(op, result, there);
    const auto finish = [&](Acc& acc, bool any, int64_t at) {
      if (!any) acc = op.nothing();
      combine_column(op, acc, room, upto - from);
      if (there && y == 0) put(op, acc, piece, at);
    };
    if constexpr (Source::kMostSide > 1) {
      if (p.wide != 0) {
        Acc acc[Source::kMostSide];
        bool any = false;
        if (there) any = source.columns(op, acc, from + y, upto, rows);
#pragma unroll
        for (int j = 0; j < Source::kMostSide; ++j) {
          finish(acc[j], any, result + j);
        }
        continue;
      }
    }
    Gathering<typename Source::Op> g(op);
    if (there) gather_apart(g, source, from + y, upto, rows);
    finish(g.acc, g.any, result);
  }
}

// The second pass combines p.pieces accumulators of each result. Threads as
// above.
template <class Op>
__device__ __forceinline__ void reduce_pieces(const Op& op) {
  using Acc = typename Op::Acc;
  const ReduceHead& p = op.p;
  __shared__ Acc room[kReduceThreads];
  const int lanes = p.lanes;
  const int x = static_cast<int>(threadIdx.x) & (lanes - 1);
  const int y = static_cast<int>(threadIdx.x) / lanes;
  const int rows = kReduceThreads / lanes;
  const int64_t strips = (p.kept + lanes - 1) / lanes;
  for (int64_t b = blockIdx.x; b < strips; b += gridDim.x) {
    const int64_t result = b * lanes + x;
    Gathering<Op> g(op);
    if (result < p.kept) {
      for (int64_t k = y; k < p.pieces; k += rows) {
        g.add(op.kept(k * p.kept + result));
      }
    }
    if (!g.any) g.acc = op.nothing();
    combine_column(op, g.acc, room, p.pieces);
    if (result < p.kept && y == 0) op.finish(g.acc, result);
  }
}

// The elements of an Op that are of one type.
template <class E>
struct TypedElements {
  static constexpr int kMostEach = 16 / sizeof(E);
  using Item = E;
  struct __align__(16) Vector {
    E items[kMostEach];
  };
  __device__ __forceinline__ static constexpr int size() {
    return static_cast<int>(sizeof(E));
  }
  __device__ __forceinline__ static E item(const Vector& v, int j) {
    return v.items[j];
  }
  __device__ __forceinline__ static E load(const char* at) {
    return *reinterpret_cast<const E*>(at);
  }
};

}  // namespace sy::cuda
