#include "index.cuh"
#include "places.cuh"

// Elements read at indices, and sums of indices: for a number of indices.

#ifndef SY_INDICES
#define SY_INDICES 1
#endif
constexpr int kIndices = SY_INDICES;

SY_KERNEL(read_items, ReadParams<kIndices>, 256) {
  const int64_t stride = index_stride();
  for (int64_t i = first_index(); i < p.walk.numel; i += kAhead * stride) {
    Item items[kAhead];
    int64_t to[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (i + k * stride >= p.walk.numel) break;
      int64_t at[2 + kIndices];
      places(p.walk, i + k * stride, at);
      int64_t from = at[1];
#pragma unroll
      for (int j = 0; j < kIndices; ++j) {
        from += index_at(p.head, p.index[j], at[2 + j], p.argument);
      }
      to[k] = at[0];
      items[k] = *reinterpret_cast<const Item*>(p.from + from);
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (i + k * stride >= p.walk.numel) break;
      *reinterpret_cast<Item*>(p.to + to[k]) = items[k];
    }
  }
}

SY_KERNEL(fold_indices, FoldParams<kIndices>, 256) {
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[2 + kIndices];
    places(p.walk, i, at);
    int64_t sum = p.first + at[1];
#pragma unroll
    for (int k = 0; k < kIndices; ++k) {
      sum += index_at(p.head, p.index[k], at[2 + k], p.argument);
    }
    auto* const to = reinterpret_cast<int64_t*>(p.to + at[0]);
    *to = p.adds != 0 ? *to + sum : sum;
  }
}
