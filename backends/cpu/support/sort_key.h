#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cpu/support/scratch.h"
#include "c10/tensor/half.h"

// Maps elements to unsigned integers of the same order: NaN is last, and -0 is
// 0. Sorting, selection and search work on these keys.

namespace sy::cpu {

template <class T>
auto sort_key(T v) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<uint8_t>(v);
  } else if constexpr (std::is_unsigned_v<T>) {
    return v;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<U>(static_cast<U>(v) ^ (U{1} << (8 * sizeof(T) - 1)));
  } else {
    using U = std::conditional_t<
        sizeof(T) == 2, uint16_t,
        std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
    constexpr auto kSign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
    if (v != v) return static_cast<U>(~U{0});
    if (v == T(0.0f)) return kSign;
    const U bits = std::bit_cast<U>(v);
    return static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign);
  }
}

template <class T>
using SortKey = decltype(sort_key(T()));

template <class T>
bool is_nan(T v) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return v != v;
  }
}

// A key and the place of its element. A narrow key shares a word with the
// place. The order of whole items keeps equal elements in their order.
struct WideItem {
  uint64_t key;
  uint64_t index;
  friend bool operator<(const WideItem& a, const WideItem& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};
template <class T>
using SortItem =
    std::conditional_t<sizeof(SortKey<T>) <= 4, uint64_t, WideItem>;

inline int64_t index_of(uint64_t item) {
  return static_cast<int64_t>(item & 0xffffffffu);
}
inline int64_t index_of(const WideItem& item) {
  return static_cast<int64_t>(item.index);
}
inline uint64_t key_of(uint64_t item) { return item >> 32; }
inline uint64_t key_of(const WideItem& item) { return item.key; }

template <class T>
SortItem<T> make_item(T v, int64_t index, bool descending) {
  using K = SortKey<T>;
  const auto key = static_cast<K>(descending ? ~sort_key(v) : sort_key(v));
  const auto at = static_cast<uint64_t>(index);
  if constexpr (std::is_same_v<SortItem<T>, uint64_t>) {
    return uint64_t{key} << 32 | at;
  } else {
    return {key, at};
  }
}

// Sorts items that come in the order of their places. Equal elements stay in
// order. `room` grows as needed.
void sort_items(uint64_t* items, int64_t n, int key_bits,
                ScratchVector<uint64_t>* room);
void sort_items(WideItem* items, int64_t n, ScratchVector<WideItem>* room);

// The items of a row, and room to sort them.
template <class T>
struct SortRoom {
  ScratchVector<SortItem<T>> items, room;

  void sort(const T* row, int64_t n, bool descending) {
    items.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      items[static_cast<size_t>(i)] = make_item(row[i], i, descending);
    }
    if constexpr (sizeof(SortKey<T>) <= 4) {
      sort_items(items.data(), n, 8 * static_cast<int>(sizeof(SortKey<T>)),
                 &room);
    } else {
      sort_items(items.data(), n, &room);
    }
  }
};

}  // namespace sy::cpu
