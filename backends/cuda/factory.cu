#include "copy.cuh"
#include "places.cuh"

SY_KERNEL(fill_items, FillParams, 256) {
  const Item v = *reinterpret_cast<const Item*>(p.value);
  for (int64_t i = first_index(); i < p.walk.numel; i += index_stride()) {
    int64_t at[1];
    places(p.walk, i, at);
    *reinterpret_cast<Item*>(p.to + at[0]) = v;
  }
}
