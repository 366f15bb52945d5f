#pragma once

#include "block.cuh"
#include "scan_params.cuh"

// The tiles of a long row tell each other their states, so that one pass scans
// it. A tile publishes the state of its own elements. The last tile of each
// kScanGroup publishes the state of the group and, once it knows it, the state
// of the row up to there. So there is one order of combinations, whichever tile
// runs first, and a chain of waits is a group to a step.
//
// Tiles get their numbers in the order in which blocks begin, so that the tiles
// that a tile waits for are running or done.

namespace sy::cuda {

// A state that is written once, into memory that was 0. Each word itself says
// that it is there, so that words may be written in any order.
template <class State>
struct ScanSlot {
  static constexpr int kWords = ShuffledWords<State>::kCount;
  static constexpr unsigned long long kThere = 1ull << 32;

  unsigned long long words[kWords];

  __device__ __forceinline__ void publish(const State& s) {
    ShuffledWords<State> w;
    w.value = s;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      *static_cast<volatile unsigned long long*>(&words[i]) =
          kThere | w.words[i];
    }
  }
  // Whether the state is there; *s is junk if not.
  __device__ __forceinline__ bool peek(State* s) const {
    ShuffledWords<State> w;
    bool there = true;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned long long word =
          *static_cast<const volatile unsigned long long*>(&words[i]);
      there &= (word & kThere) != 0;
      w.words[i] = static_cast<unsigned>(word);
    }
    *s = w.value;
    return there;
  }
};

// The slots of a row of `tiles`.
template <class State>
struct ScanSlots {
  ScanSlot<State>* tiles;   // the state of the tile's elements
  ScanSlot<State>* groups;  // the state of the group's elements
  ScanSlot<State>* so_far;  // the state of all up to the end of the group

  __device__ __forceinline__ ScanSlots(void* room, int64_t row, int64_t n) {
    const int64_t n_groups = (n + kScanGroup - 1) / kScanGroup;
    tiles = reinterpret_cast<ScanSlot<State>*>(static_cast<char*>(room) +
                                               kScanCounterBytes) +
            row * (n + 2 * n_groups);
    groups = tiles + n;
    so_far = groups + n_groups;
  }
};

// The states of `count` lanes, `step` apart, from the first one on.
template <class Op>
__device__ __forceinline__ typename Op::State fold_lanes(
    const Op& op, const typename Op::State& of_lane, int first, int step,
    int count) {
  using State = typename Op::State;
  State sum = shuffle(of_lane, first);
  constexpr int kAtOnce = 4;
  for (int i = 1; i < count; i += kAtOnce) {
    State x[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      x[j] = shuffle(of_lane, (first + (i + j) * step) & (kWarpSize - 1));
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (i + j < count) sum = op.combine(sum, x[j]);
    }
  }
  return sum;
}

// The state of all groups before `group`. There must be one.
template <class Op>
__device__ __forceinline__ typename Op::State before_group(
    const Op& op, const ScanSlots<typename Op::State>& slots, int64_t group) {
  using State = typename Op::State;
  const int lane = static_cast<int>(threadIdx.x) & (kWarpSize - 1);
  const int64_t at = group - 1 - lane;  // lane 0 looks at the nearest
  State state = {};
  bool whole = false, some = false;  // all up to that group, or it alone
  for (;;) {
    if (at >= 0 && !whole) {
      State s;
      if (slots.so_far[at].peek(&s)) {
        whole = some = true;
        state = s;
      } else if (!some && slots.groups[at].peek(&s)) {
        some = true;
        state = s;
      }
    }
    const unsigned wholes = __ballot_sync(0xffffffffu, whole);
    const unsigned there = __ballot_sync(0xffffffffu, some);
    // All states up to the nearest whole one must be there.
    const unsigned upto = wholes & (0u - wholes);
    if (wholes != 0 && ((upto - 1) & ~there) == 0) {
      const int first = __ffs(static_cast<int>(upto)) - 1;
      return fold_lanes(op, state, first, -1, first + 1);
    }
  }
}

// The state of all tiles of the row before `tile`. All threads of a warp call
// it, and know the state of the tile's own elements. `some`: whether there are
// any.
template <class Op>
__device__ __forceinline__ typename Op::State look_back(
    const Op& op, const ScanSlots<typename Op::State>& slots, int64_t tile,
    int64_t tiles, const typename Op::State& own, bool& some) {
  using State = typename Op::State;
  const int lane = static_cast<int>(threadIdx.x) & (kWarpSize - 1);
  const int64_t group = tile / kScanGroup;
  const int place = static_cast<int>(tile % kScanGroup);
  const bool ends_group = place == kScanGroup - 1;
  if (lane == 0 && !ends_group) slots.tiles[tile].publish(own);

  State before = {};  // within the group
  if (place > 0) {
    State state = {};
    bool there = lane >= place;
    do {
      if (!there) there = slots.tiles[tile - place + lane].peek(&state);
    } while (!__all_sync(0xffffffffu, there));
    before = fold_lanes(op, state, 0, 1, place);
  }
  State sum = own;  // the group's state, if the tile is its last one
  const bool tells = ends_group && tile + 1 < tiles;
  if (tells) {
    sum = op.combine(before, own);
    if (lane == 0) {
      slots.groups[group].publish(sum);
      if (group == 0) slots.so_far[group].publish(sum);
    }
  }
  some = tile > 0;
  if (group == 0) return before;
  const State ahead = before_group(op, slots, group);
  if (tells && lane == 0) {
    slots.so_far[group].publish(op.combine(ahead, sum));
  }
  return place > 0 ? op.combine(ahead, before) : ahead;
}

// The same for a block that scans the tiles of a row one after the other.
template <class State>
struct ScanCarry {
  State ahead, within;  // the groups before, the tiles of the group so far

  // `last`: nobody asks what comes after the tile.
  template <class Op>
  __device__ __forceinline__ State next(const Op& op, int64_t tile, bool last,
                                        const State& own, bool& some) {
    const bool begins = tile % kScanGroup == 0, grouped = tile >= kScanGroup;
    const State before = !grouped ? within
                         : begins ? ahead
                                  : op.combine(ahead, within);
    some = tile > 0;
    if (last) return before;
    within = begins ? own : op.combine(within, own);
    if (tile % kScanGroup == kScanGroup - 1) {
      ahead = grouped ? op.combine(ahead, within) : within;
    }
    return before;
  }
};

}  // namespace sy::cuda
