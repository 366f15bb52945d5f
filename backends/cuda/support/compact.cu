#include "block.cuh"
#include "compact.cuh"
#include "places.cuh"

// Elements where a mask is true, and their places. A warp takes some elements
// in a row, so that each thread knows from the others how many come before its
// own.

namespace {

constexpr int kWarps = kCompactThreads / kWarpSize;

template <class T>
__device__ __forceinline__ bool has_bits(const T& v,
                                         const unsigned long long* bits) {
  if constexpr (sizeof(T) == 16) {
    return ((v.half[0] & bits[0]) | (v.half[1] & bits[1])) != 0;
  } else {
    return (v & bits[0]) != 0;
  }
}

// f(i) is whether element i is true;
// g(i, rank) is called for those that are: `rank` of them come before in the
// tile. All threads of the block call this.
template <class F, class G>
__device__ __forceinline__ void each_true(int64_t tile, int64_t n, const F& f,
                                          const G& g) {
  __shared__ unsigned sums[kWarps], found[kWarps][kCompactRounds];
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int64_t first =
      tile * kCompactTile + warp * (kCompactRounds * kWarpSize) + lane;
  unsigned sum = 0;
#pragma unroll 1
  for (int r = 0; r < kCompactRounds; ++r) {
    const int64_t i = first + r * kWarpSize;
    const bool yes = i < n && f(i);
    const unsigned all = __ballot_sync(0xffffffffu, yes ? 1 : 0);
    if (lane == 0) found[warp][r] = all;
    sum += static_cast<unsigned>(__popc(all));
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  unsigned rank = 0;
  for (int w = 0; w < warp; ++w) rank += sums[w];
  const unsigned below = (1u << lane) - 1u;
#pragma unroll 1
  for (int r = 0; r < kCompactRounds; ++r) {
    const unsigned all = found[warp][r];
    if ((all >> lane & 1u) != 0) {
      g(first + r * kWarpSize,
        rank + static_cast<unsigned>(__popc(all & below)));
    }
    rank += static_cast<unsigned>(__popc(all));
  }
}

}  // namespace

SY_KERNEL(count_true, CountTrueParams, kCompactThreads) {
  __shared__ unsigned sum;
  const int64_t tile = blockIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  unsigned own = 0;
  for (int r = 0; r < kCompactRounds; ++r) {
    const int64_t i = tile * kCompactTile + r * kCompactThreads +
                      static_cast<int64_t>(threadIdx.x);
    if (i >= p.walk.numel) break;
    int64_t at[1];
    places(p.walk, i, at);
    own += has_bits(*reinterpret_cast<const Item*>(p.mask + at[0]), p.bits);
  }
  if (own != 0) atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) p.counts[tile] = sum;
}

SY_KERNEL(write_places, WritePlacesParams, kCompactThreads) {
  const int64_t tile = blockIdx.x;
  const auto before = static_cast<int64_t>(p.before[tile]);
  each_true(
      tile, p.walk.numel,
      [&](int64_t i) {
        int64_t at[1];
        places(p.walk, i, at);
        return has_bits(*reinterpret_cast<const Item*>(p.mask + at[0]), p.bits);
      },
      [&](int64_t i, unsigned rank) {
        const int64_t row = before + rank;
        if (row >= p.limit) return;
        for (int d = p.dims - 1; d > 0; --d) {
          const int64_t rest = i / p.sizes[d];
          p.to[row * p.dims + d] = i - rest * p.sizes[d];
          i = rest;
        }
        if (p.dims > 0) p.to[row * p.dims] = i;
      });
}

namespace {

// move(spread, row) for each true element.
template <class M>
__device__ __forceinline__ void each_pair(const CompactParams& p,
                                          const M& move) {
  const int64_t tile = blockIdx.x;
  const auto before = static_cast<int64_t>(p.before[tile]);
  each_true(
      tile, p.walk.numel,
      [&](int64_t i) {
        int64_t at[2];
        places(p.walk, i, at);
        return p.mask[at[0]] != 0;
      },
      [&](int64_t i, unsigned rank) {
        int64_t at[2];
        places(p.walk, i, at);
        move(reinterpret_cast<Item*>(p.spread + at[1]),
             reinterpret_cast<Item*>(p.row) + before + rank);
      });
}

}  // namespace

SY_KERNEL(select_true, CompactParams, kCompactThreads) {
  each_pair(p, [](const Item* spread, Item* row) { *row = *spread; });
}

SY_KERNEL(spread_true, CompactParams, kCompactThreads) {
  each_pair(p, [](Item* spread, const Item* row) { *spread = *row; });
}
