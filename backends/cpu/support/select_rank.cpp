#include "backends/cpu/support/select_rank.h"

#include <algorithm>

namespace sy::cpu {

namespace {

// Fewer than this are compared with each other, up to so many parted by one of
// them, more counted by a digit.
constexpr int64_t kCompare = 16, kPart = 128;

template <class K>
K among_few(const K* keys, int64_t n, int64_t rank) {
  for (int64_t i = 0;; ++i) {
    int64_t less = 0, equal = 0;
    for (int64_t j = 0; j < n; ++j) {
      less += keys[j] < keys[i];
      equal += keys[j] == keys[i];
    }
    if (less <= rank && rank < less + equal) return keys[i];
  }
}

// Parts the keys around one of them until few are left. No branch depends on a
// key.
template <class K>
K by_parting(K* keys, K* room, int64_t n, int64_t rank) {
  while (n > kCompare) {
    const K a = keys[0], b = keys[n / 2], c = keys[n - 1];
    const K pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
    int64_t less = 0;
    for (int64_t i = 0; i < n; ++i) {
      const K key = keys[i];
      room[less] = key;
      keys[i - less] = key;
      less += key < pivot;
    }
    if (rank < less) {
      std::swap(keys, room);
      n = less;
      continue;
    }
    rank -= less;
    n -= less;
    if (less > 0) continue;
    // None is less than the pivot: its equals go.
    int64_t more = 0;
    for (int64_t i = 0; i < n; ++i) {
      const K key = keys[i];
      keys[more] = key;
      more += key != pivot;
    }
    if (rank < n - more) return pivot;
    rank -= n - more;
    n = more;
  }
  return among_few(keys, n, rank);
}

// The most significant digit of the key, then the next among those that share
// it.
template <class K>
K by_digits(const K* keys, K* room, int64_t n, int64_t rank) {
  constexpr int kDigits = 256, kTables = 4;
  int shift = 8 * static_cast<int>(sizeof(K));
  const K* from = keys;
  while (n > kPart && shift > 0) {
    shift -= 8;
    const auto digit = [shift](K key) { return key >> shift & (kDigits - 1); };
    // Neighbours often share a digit: counts in several tables do not wait for
    // each other.
    int64_t counts[kTables][kDigits] = {};
    int64_t i = 0;
    for (; i + kTables <= n; i += kTables) {
      for (int t = 0; t < kTables; ++t) ++counts[t][digit(from[i + t])];
    }
    for (; i < n; ++i) ++counts[0][digit(from[i])];
    K wanted = 0;
    int64_t count = 0;
    for (int d = 0;; ++d) {
      count = 0;
      for (int t = 0; t < kTables; ++t) count += counts[t][d];
      if (rank < count) {
        wanted = static_cast<K>(d);
        break;
      }
      rank -= count;
    }
    if (count == n) continue;
    int64_t kept = 0;
    for (int64_t k = 0; k < n; ++k) {
      const K key = from[k];
      room[kept] = key;
      kept += static_cast<K>(digit(key)) == wanted;
    }
    from = room;
    n = count;
  }
  if (shift == 0) return from[0];
  if (from == keys) std::copy(keys, keys + n, room);
  return by_parting(room, room + n, n, rank);
}

}  // namespace

template <class K>
Ranked<K> find_rank(const K* keys, int64_t n, int64_t rank,
                    ScratchVector<K>* room) {
  // The keys that are left have room beside them to be parted.
  room->resize(static_cast<size_t>(n + kPart));
  const K key = by_digits(keys, room->data(), n, rank);
  int64_t less = 0;
  for (int64_t i = 0; i < n; ++i) less += keys[i] < key;
  return {key, less};
}

template Ranked<uint8_t> find_rank(const uint8_t*, int64_t, int64_t,
                                   ScratchVector<uint8_t>*);
template Ranked<uint16_t> find_rank(const uint16_t*, int64_t, int64_t,
                                    ScratchVector<uint16_t>*);
template Ranked<uint32_t> find_rank(const uint32_t*, int64_t, int64_t,
                                    ScratchVector<uint32_t>*);
template Ranked<uint64_t> find_rank(const uint64_t*, int64_t, int64_t,
                                    ScratchVector<uint64_t>*);

}  // namespace sy::cpu
