// The steps before and after a library's sort of unsigned keys: elements become
// keys, and keys become elements again.

#include "order.cuh"

// The row's place of element i.
__device__ __forceinline__ uint32_t place_in_row(int64_t i, int64_t rows,
                                                 int64_t n) {
  if (rows == 1) return static_cast<uint32_t>(i);
  if (i <= 0xffffffffLL) {
    return static_cast<uint32_t>(i) % static_cast<uint32_t>(n);
  }
  return static_cast<uint32_t>(i % n);
}

SY_KERNEL(make_keys, MakeKeysParams, 256) {
  const Key flip = static_cast<Key>(p.flip);
  const auto* const in = static_cast<const Key*>(p.in);
  auto* const keys = static_cast<Key*>(p.keys);
  auto* const places = static_cast<uint32_t*>(p.places);
  const int64_t total = p.rows * p.n;
  for (int64_t i = first_index(); i < total; i += index_stride()) {
    keys[i] = static_cast<Key>(sort_key(in[i]) ^ flip);
    places[i] = place_in_row(i, p.rows, p.n);
  }
}

// The element that has the key; none if several have.
__device__ __forceinline__ bool element_of(Key key, Key* element) {
#if SY_KEY_KIND == 0
  *element = key;
  return true;
#elif SY_KEY_KIND == 1
  *element = static_cast<Key>(key ^ kSignBit);
  return true;
#else
  *element = static_cast<Key>((key & kSignBit) != 0 ? key ^ kSignBit : ~key);
  return key != kLastKey && key != kSignBit;
#endif
}

SY_KERNEL(write_sorted, WriteSortedParams, 256) {
  const Key flip = static_cast<Key>(p.flip);
  const auto* const in = static_cast<const Key*>(p.in);
  const auto* const keys = static_cast<const Key*>(p.keys);
  const auto* const order = static_cast<const uint32_t*>(p.order);
  auto* const values = static_cast<Key*>(p.values);
  auto* const places = static_cast<int64_t*>(p.places);
  const int64_t total = p.rows * p.n;
  for (int64_t i = first_index(); i < total; i += index_stride()) {
    const uint32_t from = order[i];
    Key element;
    if (!element_of(static_cast<Key>(keys[i] ^ flip), &element)) {
      element = in[i - place_in_row(i, p.rows, p.n) + from];
    }
    values[i] = element;
    places[i] = from;
  }
}
