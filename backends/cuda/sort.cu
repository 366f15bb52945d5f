// Rows that fit into shared memory: one block sorts several short ones or a
// long one.

#include "order.cuh"

SY_KERNEL(sort_rows, SortRowsParams, kSortThreads) {
  __shared__ Item items[kBlockItems];
  const int held = p.per_block * p.width;
  const Key flip = static_cast<Key>(p.flip);
  const auto* const in = static_cast<const Key*>(p.in);
  auto* const values = static_cast<Key*>(p.values);
  auto* const places = static_cast<int64_t*>(p.places);
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * p.per_block;
       first < p.rows; first += static_cast<int64_t>(gridDim.x) * p.per_block) {
    for (int t = static_cast<int>(threadIdx.x); t < held;
         t += static_cast<int>(blockDim.x)) {
      const int64_t row = first + t / p.width;
      const int place = t & (p.width - 1);
      const bool there = row < p.rows && place < p.n;
      items[t] =
          there ? make_item(
                      static_cast<Key>(sort_key(in[row * p.n + place]) ^ flip),
                      static_cast<uint32_t>(place))
                : last_item();
    }
    sort_shared(items, held, p.width);
    for (int t = static_cast<int>(threadIdx.x); t < held;
         t += static_cast<int>(blockDim.x)) {
      const int64_t row = first + t / p.width;
      const int place = t & (p.width - 1);
      if (row >= p.rows || place >= p.n) continue;
      const uint32_t from = place_of(items[t]);
      const int64_t to = row * p.n + place;
      values[to] = in[row * p.n + from];
      places[to] = from;
    }
    __syncthreads();
  }
}
