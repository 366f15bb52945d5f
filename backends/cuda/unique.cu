// Groups of equal elements that lie side by side.

#include "order.cuh"
#include "unique_params.cuh"

SY_KERNEL(mark_starts, MarkStartsParams, 256) {
  const auto* const in = static_cast<const Key*>(p.in);
  for (int64_t i = first_index(); i < p.n; i += index_stride()) {
    const Key key = sort_key(in[i]);
    // NaN equals nothing.
    p.starts[i] = i == 0 || is_nan_key(key) || key != sort_key(in[i - 1]);
  }
}

SY_KERNEL(take_groups, TakeGroupsParams, 256) {
  const auto* const in = static_cast<const Key*>(p.in);
  for (int64_t g = first_index(); g < p.groups; g += index_stride()) {
    const int64_t first = p.first[g];
    static_cast<Key*>(p.values)[g] = in[first];
    if (p.counts == nullptr) continue;
    p.counts[g] = (g + 1 < p.groups ? p.first[g + 1] : p.n) - first;
  }
}

// A warp takes some elements in a row, as in support/compact.cu.
SY_KERNEL(number_groups, NumberGroupsParams, kCompactThreads) {
  constexpr int kWarps = kCompactThreads / 32;
  __shared__ unsigned int sums[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int64_t tile = blockIdx.x;
  const int64_t begin = tile * kCompactTile + warp * (kCompactRounds * 32);
  const auto is_start = [&](int r) {
    const int64_t i = begin + r * 32 + lane;
    return i < p.n && p.starts[i] != 0;
  };
  unsigned int sum = 0;
#pragma unroll 1
  for (int r = 0; r < kCompactRounds; ++r) {
    sum += static_cast<unsigned int>(
        __popc(__ballot_sync(0xffffffffu, is_start(r) ? 1 : 0)));
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  int64_t before = static_cast<int64_t>(p.before[tile]);
  for (int w = 0; w < warp; ++w) before += sums[w];
  const unsigned int up_to = 0xffffffffu >> (31 - lane);
#pragma unroll 1
  for (int r = 0; r < kCompactRounds; ++r) {
    const unsigned int all = __ballot_sync(0xffffffffu, is_start(r) ? 1 : 0);
    const int64_t i = begin + r * 32 + lane;
    if (i < p.n) {
      p.groups[p.order == nullptr ? i : p.order[i]] =
          before + __popc(all & up_to) - 1;
    }
    before += __popc(all);
  }
}
