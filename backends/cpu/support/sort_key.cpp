#include "backends/cpu/support/sort_key.h"

#include <algorithm>

namespace sy::cpu {

namespace {

constexpr int kDigitBits = 8;
constexpr int64_t kDigits = 1 << kDigitBits;
// The fewest items for which counting is faster than comparing.
constexpr int64_t kRadix = 256;

uint64_t word_of(uint64_t item) { return item; }
uint64_t word_of(const WideItem& item) { return item.key; }

// Sorts by the bits [low, low + bits) of the words of items, least significant
// digit first; digits that all items share are skipped.
template <class Item>
void radix_sort(Item* items, int64_t n, int low, int bits,
                ScratchVector<Item>* room) {
  const int passes = (bits + kDigitBits - 1) / kDigitBits;
  const auto digit = [low](const Item& item, int pass) {
    return word_of(item) >> (low + pass * kDigitBits) & (kDigits - 1);
  };
  int64_t counts[64 / kDigitBits][kDigits] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int p = 0; p < passes; ++p) ++counts[p][digit(items[i], p)];
  }
  room->resize(static_cast<size_t>(n));
  Item *from = items, *to = room->data();
  for (int p = 0; p < passes; ++p) {
    int64_t* count = counts[p];
    if (count[digit(from[0], p)] == n) continue;
    int64_t at = 0;
    for (int64_t d = 0; d < kDigits; ++d) {
      at += std::exchange(count[d], at);
    }
    for (int64_t i = 0; i < n; ++i) to[count[digit(from[i], p)]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

}  // namespace

void sort_items(uint64_t* items, int64_t n, int key_bits,
                ScratchVector<uint64_t>* room) {
  if (n < kRadix) {
    std::sort(items, items + n);
  } else {
    radix_sort(items, n, 32, key_bits, room);
  }
}

void sort_items(WideItem* items, int64_t n, ScratchVector<WideItem>* room) {
  if (n < kRadix) {
    std::sort(items, items + n);
    return;
  }
  uint64_t first = items[0].key, last = first;
  for (int64_t i = 1; i < n; ++i) {
    first = std::min(first, items[i].key);
    last = std::max(last, items[i].key);
  }
  const int bits = std::bit_width(last - first);
  const int place_bits = std::bit_width(static_cast<uint64_t>(n - 1));
  if (bits + place_bits > 64) return radix_sort(items, n, 0, 64, room);
  // Keys that lie close together share a word with the place, which halves
  // what is moved.
  ScratchVector<uint64_t> words(static_cast<size_t>(n)), more;
  for (int64_t i = 0; i < n; ++i) {
    words[static_cast<size_t>(i)] =
        (items[i].key - first) << place_bits | static_cast<uint64_t>(i);
  }
  radix_sort(words.data(), n, place_bits, bits, &more);
  const uint64_t places = (uint64_t{1} << place_bits) - 1;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t word = words[static_cast<size_t>(i)];
    items[i] = {(word >> place_bits) + first, word & places};
  }
}

}  // namespace sy::cpu
