#include "backends/cpu/sort_key.h"

#include <algorithm>

namespace sy::cpu {

namespace {

constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;
// From how many items on counting is faster than comparing.
constexpr int64_t kRadix = 256;

// Least significant digit first; digits that all items share are skipped.
template <class Item>
void radix_sort(Item* items, int64_t n, int bits, std::vector<Item>* room) {
  const int passes = (bits + kDigitBits - 1) / kDigitBits;
  int64_t counts[64 / kDigitBits][kDigits] = {};
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = key_of(items[i]);
    for (int p = 0; p < passes; ++p) {
      ++counts[p][key >> (p * kDigitBits) & (kDigits - 1)];
    }
  }
  room->resize(static_cast<size_t>(n));
  Item *from = items, *to = room->data();
  for (int p = 0; p < passes; ++p) {
    const int shift = p * kDigitBits;
    int64_t* count = counts[p];
    if (count[key_of(from[0]) >> shift & (kDigits - 1)] == n) continue;
    int64_t at = 0;
    for (int64_t d = 0; d < kDigits; ++d) {
      at += std::exchange(count[d], at);
    }
    for (int64_t i = 0; i < n; ++i) {
      to[count[key_of(from[i]) >> shift & (kDigits - 1)]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

template <class Item>
void sort(Item* items, int64_t n, int bits, std::vector<Item>* room) {
  if (n < kRadix) {
    std::sort(items, items + n);
  } else {
    radix_sort(items, n, bits, room);
  }
}

}  // namespace

void sort_items(uint64_t* items, int64_t n, int bits,
                std::vector<uint64_t>* room) {
  sort(items, n, bits, room);
}

void sort_items(WideItem* items, int64_t n, int bits,
                std::vector<WideItem>* room) {
  sort(items, n, bits, room);
}

}  // namespace sy::cpu
