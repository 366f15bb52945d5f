#include "block.cuh"
#include "group.cuh"
#include "kernel.cuh"

// A stable sort of few keys, by counting digits, and sums of the numbers before
// each.

namespace {

struct Plus {
  template <class T>
  __device__ __forceinline__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

struct Tile {
  uint64_t keys[kGroupMost];
  uint16_t order[kGroupMost];
  // How many of each digit each thread has; then where its first one goes.
  uint16_t counts[kGroupDigits * kGroupThreads];
  unsigned room[kGroupThreads / kWarpSize];
};

// Sorts the first n of the tile by one digit.
__device__ __forceinline__ void sort_tile(Tile& t, int n, int shift) {
  const int me = static_cast<int>(threadIdx.x);
  const int begin = me * kGroupItems;
  uint64_t keys[kGroupItems];
  uint16_t order[kGroupItems];
  for (int d = 0; d < kGroupDigits; ++d) t.counts[d * kGroupThreads + me] = 0;
#pragma unroll
  for (int i = 0; i < kGroupItems; ++i) {
    if (begin + i < n) {
      keys[i] = t.keys[begin + i];
      order[i] = t.order[begin + i];
      const auto digit =
          static_cast<int>(keys[i] >> shift) & (kGroupDigits - 1);
      ++t.counts[digit * kGroupThreads + me];
    }
  }
  __syncthreads();
  // Each thread takes neighbours of the counts, which are in the order of
  // digits, then of threads.
  unsigned sum = 0;
  for (int i = 0; i < kGroupDigits; ++i) sum += t.counts[me * kGroupDigits + i];
  unsigned before = 0;
  scan_block(sum, before, t.room, Plus());
  if (me == 0) before = 0;
  for (int i = 0; i < kGroupDigits; ++i) {
    const int at = me * kGroupDigits + i;
    const unsigned count = t.counts[at];
    t.counts[at] = static_cast<uint16_t>(before);
    before += count;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kGroupItems; ++i) {
    if (begin + i < n) {
      const auto digit =
          static_cast<int>(keys[i] >> shift) & (kGroupDigits - 1);
      const unsigned to = t.counts[digit * kGroupThreads + me]++;
      t.keys[to] = keys[i];
      t.order[to] = order[i];
    }
  }
  __syncthreads();
}

}  // namespace

SY_KERNEL(group_small, GroupParams, kGroupThreads) {
  __shared__ Tile t;
  for (int i = static_cast<int>(threadIdx.x); i < p.n; i += kGroupThreads) {
    t.keys[i] = p.keys[i];
    t.order[i] = static_cast<uint16_t>(i);
  }
  __syncthreads();
  for (int shift = 0; shift < p.bits; shift += kGroupDigitBits) {
    sort_tile(t, p.n, shift);
  }
  for (int i = static_cast<int>(threadIdx.x); i < p.n; i += kGroupThreads) {
    p.keys_out[i] = t.keys[i];
    p.order_out[i] = t.order[i];
  }
}

// One block runs it.
SY_KERNEL(sum_before, SumBeforeParams, 1024) {
  __shared__ unsigned long long room[1024 / kWarpSize];
  __shared__ unsigned long long last;
  constexpr int kEach = 4;
  const int threads = static_cast<int>(blockDim.x);
  const int me = static_cast<int>(threadIdx.x);
  unsigned long long sum_so_far = 0;
  for (int64_t begin = 0; begin < p.n; begin += int64_t{kEach} * threads) {
    const int64_t first = begin + int64_t{kEach} * me;
    unsigned long long own[kEach], sum = 0, before = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      own[i] = first + i < p.n ? p.counts[first + i] : 0;
      sum += own[i];
    }
    scan_block(sum, before, room, Plus());
    if (me == threads - 1) last = sum;
    unsigned long long at = sum_so_far + (me == 0 ? 0 : before);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (first + i < p.n) p.counts[first + i] = at;
      at += own[i];
    }
    __syncthreads();
    sum_so_far += last;
    __syncthreads();
  }
  if (me == 0) p.counts[p.n] = sum_so_far;
}
