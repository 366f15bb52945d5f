#include "index.cuh"
#include "sorted.cuh"

// Elements written at indices. If several go to one place the last stays.

SY_KERNEL(write_items, WriteParams, 256) {
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[3];
    places(p.walk, i, at);
    const int64_t to = at[0] + index_at(p.head, p.index, at[2], p.argument);
    *reinterpret_cast<Item*>(p.to + to) =
        *reinterpret_cast<const Item*>(p.from + at[1]);
  }
}

SY_KERNEL(write_owned, OwnedParams, 256) {
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[3];
    places(p.walk, i, at);
    for (int64_t k = 0; k < p.length; ++k) {
      const int64_t to = at[0] + index_at(p.head, p.index,
                                          at[2] + k * p.index_step, p.argument);
      *reinterpret_cast<Item*>(p.to + to) =
          *reinterpret_cast<const Item*>(p.from + at[1] + k * p.from_step);
    }
  }
}

SY_KERNEL(write_sorted, SortedParams, 256) {
  const int64_t all = p.n * p.columns.numel;
  for (int64_t i = first_index(); i < all; i += index_stride()) {
    const SortedPlace at = sorted_place(p, i);
    const int64_t key = p.keys[at.source];
    const bool last = at.source + 1 == p.n || p.keys[at.source + 1] != key;
    if (!last) continue;
    *reinterpret_cast<Item*>(p.to + key * p.key_step + at.to) =
        *reinterpret_cast<const Item*>(sorted_source(p, at.source, at.from));
  }
}
