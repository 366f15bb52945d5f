#pragma once

#include "look_back.cuh"
#include "places.cuh"
#include "scan_strip.cuh"

// The shell of scans. An Op says what they combine:
//
//   struct Op {
//     const ScanHead& p;
//     struct Element, Stored, State;  // as read, as written, what is scanned
//     Element fetch(const char* at);
//     State load(const Element&, int64_t k);  // element k along the dim
//     State combine(State, State);            // the left one comes before
//     Stored stored(const State&);
//     void put(char* at, const Stored&);
//     kInMemory: whether memory holds an Element as it is, and a Stored
//   };
//
// Elements are grouped by the length of rows alone, so that results of floats
// are the same in every run. Results may be written over what is read, element
// by element.

namespace sy::cuda {

// A state: the result so far, and where it was chosen.
template <class T, bool kChooses_>
struct ScanState {
  static constexpr bool kChooses = kChooses_;
  T v;
};
template <class T>
struct ScanState<T, true> {
  static constexpr bool kChooses = true;
  T v;
  int64_t at;
};

// Elements that memory holds as they are.
template <class Element_, class Stored_>
struct ScanElements {
  using Element = Element_;
  using Stored = Stored_;
  static constexpr bool kInMemory = true;

  __device__ static Element fetch(const char* at) {
    return *reinterpret_cast<const Element*>(at);
  }
  __device__ static void put(char* at, const Stored& x) {
    *reinterpret_cast<Stored*>(at) = x;
  }
};

// Threads without elements combine nothing.
template <class Op>
struct Then {
  const Op& op;
  bool there;
  __device__ __forceinline__ typename Op::State operator()(
      const typename Op::State& a, const typename Op::State& b) const {
    return there ? op.combine(a, b) : b;
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
    return op.load(op.fetch(data + k * op.p.step[0]), k);
  }
  __device__ __forceinline__ void store(int64_t k,
                                        const typename Op::State& s) const {
    op.put(values + k * op.p.step[1], op.stored(s));
    if constexpr (Op::State::kChooses) {
      *reinterpret_cast<int64_t*>(places + k * op.p.step[2]) = s.at;
    }
  }
};

// Shared memory of scan_tile. Results lie where elements did if they have the
// same size: a thread reads its own before it writes them.
template <class Op>
struct ScanRoom {
  using State = typename Op::State;
  static constexpr int kWarps = kScanThreads / kWarpSize;
  static constexpr bool kOver =
      sizeof(typename Op::Element) == sizeof(typename Op::Stored);

  __align__(16) char elements[kWarps * ScanStrip<typename Op::Element>::kBytes];
  __align__(
      16) char results[kOver ? 16
                             : kWarps * ScanStrip<typename Op::Stored>::kBytes];
  __align__(
      16) char places[State::kChooses ? kWarps * ScanStrip<int64_t>::kBytes
                                      : 16];
  State warps[kWarps];
  ScanCarry<State> whole;
  State carry;
  int carries;
  unsigned taken;
};

// Scans n elements of the row from element `from` on, by all threads of the
// block. carry(own, some) gives the last warp, which knows the state of the
// elements, the state of all before them.
template <class Op, class Carry>
__device__ __forceinline__ void scan_tile(const Op& op, const ScanRow<Op>& row,
                                          int64_t from, int n,
                                          ScanRoom<Op>& room,
                                          const Carry& carry) {
  using State = typename Op::State;
  using Element = typename Op::Element;
  using Stored = typename Op::Stored;
  using In = ScanStrip<Element>;
  using Out = ScanStrip<Stored>;
  using Places = ScanStrip<int64_t>;
  const int t = static_cast<int>(threadIdx.x);
  const int warp = t / kWarpSize, lane = t & (kWarpSize - 1);
  const int left = n - warp * kScanStrip;
  const int held = left < 0 ? 0 : left < kScanStrip ? left : kScanStrip;
  const int mine = held - lane * kScanItems;
  const int64_t at = from + warp * kScanStrip;
  char* const in = room.elements + warp * In::kBytes;
  char* const out =
      ScanRoom<Op>::kOver ? in : room.results + warp * Out::kBytes;
  char* const chosen = room.places + warp * Places::kBytes;

  __syncwarp();  // the results before are stored
  fill_strip(op, row.data + at * op.p.step[0], op.p.step[0], held, in);
  __syncwarp();

  constexpr int kAtOnce = In::kEach > Out::kEach ? In::kEach : Out::kEach;
  const int64_t k = at + lane * kScanItems;
  const auto* const own =
      reinterpret_cast<const Element*>(in + lane * In::kThreadBytes);
  State sum = {};
#pragma unroll 1
  for (int i = 0; i < kScanItems; i += kAtOnce) {
    const auto x = load_pack<Element, kAtOnce>(own + i);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (i + j >= mine) continue;
      const State s = op.load(x.at[j], k + i + j);
      sum = j == 0 && i == 0 ? s : op.combine(sum, s);
    }
  }
  State before = {};
  scan_block(sum, before, room.warps, Then<Op>{op, mine > 0});
  if (warp == ScanRoom<Op>::kWarps - 1) {
    bool some = false;
    const State own = shuffle(sum, kWarpSize - 1);
    const State ahead = carry(own, some);
    if (lane == 0) {
      room.carry = ahead;
      room.carries = some ? 1 : 0;
    }
  }
  __syncthreads();
  const bool carries = room.carries != 0, some = carries || t > 0;
  if (t == 0) {
    before = room.carry;
  } else if (carries && mine > 0) {
    before = op.combine(room.carry, before);
  }
#pragma unroll 1
  for (int i = 0; i < kScanItems; i += kAtOnce) {
    const auto x = load_pack<Element, kAtOnce>(own + i);
    Pack<Stored, kAtOnce> results = {};
    Pack<int64_t, State::kChooses ? kAtOnce : 2> places = {};
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (i + j >= mine) continue;
      const State s = op.load(x.at[j], k + i + j);
      before = j == 0 && i == 0 && !some ? s : op.combine(before, s);
      results.at[j] = op.stored(before);
      if constexpr (State::kChooses) places.at[j] = before.at;
    }
    keep_pack<Stored, kAtOnce>(
        reinterpret_cast<Stored*>(out + lane * Out::kThreadBytes) + i, results);
    if constexpr (State::kChooses) {
      keep_pack<int64_t, kAtOnce>(
          reinterpret_cast<int64_t*>(chosen + lane * Places::kThreadBytes) + i,
          places);
    }
  }
  __syncwarp();
  empty_strip<Stored, Op::kInMemory>(
      out, held, row.values + at * op.p.step[1], op.p.step[1],
      [&](char* to, const Stored& x) { op.put(to, x); });
  if constexpr (State::kChooses) {
    empty_strip<int64_t, true>(
        chosen, held, row.places + at * op.p.step[2], op.p.step[2],
        [](char* to, int64_t x) { *reinterpret_cast<int64_t*>(to) = x; });
  }
}

// A block for each tile, or for all tiles of a row. There are fewer than 2^32.
template <class Op>
__device__ __forceinline__ void scan_rows(const Op& op) {
  using State = typename Op::State;
  const ScanHead& p = op.p;
  __shared__ ScanRoom<Op> room;
  const bool takes = p.room != nullptr;
  const auto tiles =
      static_cast<unsigned>((p.length + kScanTile - 1) / kScanTile);
  const unsigned tasks = static_cast<unsigned>(p.rows) * tiles;
  unsigned task = blockIdx.x * tiles;
  for (;;) {
    if (takes) {
      if (threadIdx.x == 0) {
        room.taken = atomicAdd(static_cast<unsigned*>(p.room), 1u);
      }
      __syncthreads();
      task = room.taken;
    }
    if (task >= tasks) return;
    const unsigned number = task / tiles, tile = task - number * tiles;
    const bool last = tile + 1 == tiles;
    const int64_t from = static_cast<int64_t>(tile) * kScanTile;
    scan_tile(op, ScanRow<Op>(op, number), from,
              last ? static_cast<int>(p.length - from) : kScanTile, room,
              [&](const State& own, bool& some) {
                if (!takes) {  // one thread: the carry is shared
                  if (threadIdx.x % kWarpSize != 0) return own;
                  return room.whole.next(op, tile, last, own, some);
                }
                const ScanSlots<State> slots(p.room, number, tiles);
                return look_back(op, slots, tile, tiles, own, some);
              });
    task += last ? 1 + (gridDim.x - 1) * tiles : 1;
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
  auto* const totals = static_cast<State*>(p.room);
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
