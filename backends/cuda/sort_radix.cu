// Long rows: a stable sort by digits of eight bits, the lowest first. One pass
// over the keys counts all digits; then each digit takes one pass, in which
// the tiles of a row tell each other how many of each digit come before.

#include "order.cuh"

#ifndef SY_PLACE
#define SY_PLACE uint32_t
#endif

using Place = SY_PLACE;

constexpr int kThreads = kSelectThreads;
constexpr int kWarps = kThreads / 32;
constexpr int kDigits = 256;
constexpr int kTile = tile_items(sizeof(Key), sizeof(Place));
constexpr int kEach = kTile / kThreads;
constexpr int kMostPasses = SY_KEY_BITS / 8;

SY_KERNEL(clear_words, ClearParams, 256) {
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    static_cast<uint64_t*>(p.words)[i] = 0;
  }
}

__device__ __forceinline__ int digit_of(Key bits, Key flip, int shift) {
  return static_cast<int>((sort_key(bits) ^ flip) >> shift & (kDigits - 1));
}

SY_KERNEL(count_digits, CountParams, kThreads) {
  __shared__ uint32_t found[kMostPasses * kDigits];
  const int thread = static_cast<int>(threadIdx.x);
  const Key flip = static_cast<Key>(p.flip);
  const int cells = p.passes * kDigits;
  const auto* const in = static_cast<const Key*>(p.in);
  auto* const counts = static_cast<unsigned long long*>(p.counts);
  for (int64_t at = blockIdx.x; at < p.rows * p.chunks; at += gridDim.x) {
    for (int i = thread; i < cells; i += kThreads) found[i] = 0;
    __syncthreads();
    const int64_t row = at / p.chunks, first = at % p.chunks * p.chunk;
    const int64_t last = first + p.chunk < p.n ? first + p.chunk : p.n;
    for (int64_t i = first + thread; i < last; i += kThreads) {
      const Key bits = in[row * p.n + i];
      for (int k = 0; k < p.passes; ++k) {
        atomicAdd(&found[k * kDigits + digit_of(bits, flip, 8 * k)], 1u);
      }
    }
    __syncthreads();
    for (int i = thread; i < cells; i += kThreads) {
      if (found[i] == 0) continue;
      atomicAdd(counts + row * cells + i,
                static_cast<unsigned long long>(found[i]));
    }
    __syncthreads();
  }
}

// The sum of what the threads 0 … d give; kDigits threads call it together. They
// do not wait for each other after the last word is in `sums`.
template <class T>
__device__ __forceinline__ T sum_up_to(int d, T own, T* sums) {
  T sum = own;
  sums[d] = sum;
  for (int step = 1; step < kDigits; step *= 2) {
    __syncthreads();
    const T more = d >= step ? sums[d - step] : T{0};
    __syncthreads();
    sum += more;
    sums[d] = sum;
  }
  return sum;
}

SY_KERNEL(start_digits, StartsParams, kThreads) {
  __shared__ uint64_t sums[kDigits];
  const int d = static_cast<int>(threadIdx.x);
  auto* const counts = static_cast<uint64_t*>(p.counts);
  for (int64_t g = blockIdx.x; g < p.groups; g += gridDim.x) {
    const uint64_t own = counts[g * kDigits + d];
    counts[g * kDigits + d] = sum_up_to(d, own, sums) - own;
    __syncthreads();
  }
}

constexpr int kStateShift = 56;
constexpr uint64_t kCount = (uint64_t{1} << kStateShift) - 1;

__device__ __forceinline__ void publish(uint64_t* state, uint64_t tag,
                                        uint64_t count) {
  *static_cast<volatile uint64_t*>(state) = tag << kStateShift | count;
}

// How many keys of digit d the tiles of the row before this one have.
__device__ inline uint64_t count_before(const PassParams& p, int64_t tile,
                                        int64_t first_tile, int d,
                                        uint64_t own) {
  const uint64_t partial = static_cast<uint64_t>(2 * p.pass + 1);
  uint64_t* const states = static_cast<uint64_t*>(p.states) + d;
  uint64_t sum = 0;
  if (tile > first_tile) {
    publish(states + tile * kDigits, partial, own);
    for (int64_t from = tile - 1;; --from) {
      const volatile uint64_t* const state = states + from * kDigits;
      uint64_t word = *state;
      while (word >> kStateShift < partial) word = *state;
      sum += word & kCount;
      if (word >> kStateShift > partial) break;
    }
  }
  publish(states + tile * kDigits, partial + 1, sum + own);
  return sum;
}

SY_KERNEL(sort_pass, PassParams, kThreads) {
  __shared__ uint32_t found[kWarps][kDigits];
  __shared__ uint32_t begins[kDigits];  // where digits begin in the sorted tile
  __shared__ int64_t offsets[kDigits];  // from there to their places in the row
  __shared__ Key keys[kTile];
  __shared__ Place places[kTile];
  __shared__ unsigned int taken;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const Key flip = static_cast<Key>(p.flip);
  const auto* const in = static_cast<const Key*>(p.in);
  auto* const out = static_cast<Key*>(p.out);
  const auto* const places_in = static_cast<const Place*>(p.places_in);
  const auto* const starts = static_cast<const uint64_t*>(p.starts);
  const int shift = 8 * p.pass;
  const bool first = p.pass == 0, last = p.pass + 1 == p.passes;
  for (;;) {
    // Blocks take tiles in their order, so that the tiles before this one have
    // begun.
    if (thread == 0) taken = atomicAdd(p.next_tile, 1u);
    for (int w = 0; w < kWarps; ++w) found[w][thread] = 0;
    __syncthreads();
    const int64_t tile = taken;
    if (tile >= p.rows * p.tiles) break;
    const int64_t row = tile / p.tiles, begin = tile % p.tiles * kTile;
    const int64_t from = row * p.n + begin;
    const int held =
        static_cast<int>(p.n - begin < kTile ? p.n - begin : kTile);

    // Each key's rank among those of its warp with the same digit.
    Key mine[kEach];
    Place at[kEach];
    uint32_t rank[kEach];
    for (int k = 0; k < kEach; ++k) {
      const int i = warp * 32 * kEach + k * 32 + lane;
      const bool there = i < held;
      mine[k] = there ? in[from + i] : Key{0};
      at[k] = !there  ? Place{0}
              : first ? static_cast<Place>(begin + i)
                      : places_in[from + i];
      const int digit = digit_of(mine[k], flip, shift);
      unsigned int same = __ballot_sync(0xffffffffu, there);
      for (int bit = 0; bit < 8; ++bit) {
        const bool set = (digit >> bit & 1) != 0;
        const unsigned int vote = __ballot_sync(0xffffffffu, set);
        same &= set ? vote : ~vote;
      }
      const unsigned int lower = same & ((1u << lane) - 1u);
      const uint32_t sofar = found[warp][digit];
      __syncwarp();
      if (there && lower == 0) {
        found[warp][digit] = sofar + static_cast<uint32_t>(__popc(same));
      }
      __syncwarp();
      rank[k] = sofar + static_cast<uint32_t>(__popc(lower));
    }
    __syncthreads();

    // A thread for each digit: the warps' counts become where they begin.
    uint32_t total = 0;
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t c = found[w][thread];
      found[w][thread] = total;
      total += c;
    }
    const uint64_t ahead = count_before(p, tile, row * p.tiles, thread, total);
    const uint32_t sum = sum_up_to(thread, total, begins);
    __syncthreads();
    begins[thread] = sum - total;
    offsets[thread] = static_cast<int64_t>(
        starts[(row * p.passes + p.pass) * kDigits + thread] + ahead -
        (sum - total));
    __syncthreads();

    for (int k = 0; k < kEach; ++k) {
      if (warp * 32 * kEach + k * 32 + lane >= held) continue;
      const int digit = digit_of(mine[k], flip, shift);
      const uint32_t to = begins[digit] + found[warp][digit] + rank[k];
      keys[to] = mine[k];
      places[to] = at[k];
    }
    __syncthreads();
    for (int i = thread; i < held; i += kThreads) {
      const Key bits = keys[i];
      const int64_t to = row * p.n + offsets[digit_of(bits, flip, shift)] + i;
      out[to] = bits;
      if (last) {
        static_cast<int64_t*>(p.places)[to] = static_cast<int64_t>(places[i]);
      } else {
        static_cast<Place*>(p.places_out)[to] = places[i];
      }
    }
    __syncthreads();
  }
}
