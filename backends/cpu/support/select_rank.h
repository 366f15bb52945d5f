#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/support/scratch.h"
#include "backends/cpu/support/sort_key.h"

// Finds the element of a given rank among unordered ones.

namespace sy::cpu {

// The key that has `rank` keys before it in sorted order, and how many keys are
// less. 0 <= rank < n. `room` grows as needed. K is uint8_t to uint64_t.
template <class K>
struct Ranked {
  K key;
  int64_t less;
};
template <class K>
Ranked<K> find_rank(const K* keys, int64_t n, int64_t rank,
                    ScratchVector<K>* room);

// The keys of a row, and room to look for one of them.
template <class T>
struct RankRoom {
  ScratchVector<SortKey<T>> keys, room;

  void load(const T* row, int64_t n) {
    keys.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      keys[static_cast<size_t>(i)] = sort_key(row[i]);
    }
  }
  // The place of the element with that rank. Equal elements rank in the order
  // in which they come.
  int64_t place(int64_t rank) {
    const auto n = static_cast<int64_t>(keys.size());
    const auto found = find_rank(keys.data(), n, rank, &room);
    int64_t at = 0;
    for (int64_t before = rank - found.less;; ++at) {
      if (keys[static_cast<size_t>(at)] == found.key && before-- == 0) break;
    }
    return at;
  }
};

}  // namespace sy::cpu
