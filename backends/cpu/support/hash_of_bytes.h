#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

// Keys of hash tables that are compared as bytes. Such a Key consists of 64-bit
// words and is set to 0 before its members are set.

namespace sy::cpu {

template <class Key>
struct HashOfBytes {
  static_assert(std::is_trivially_copyable_v<Key> &&
                sizeof(Key) % sizeof(uint64_t) == 0);
  size_t operator()(const Key& key) const {
    uint64_t words[sizeof(Key) / sizeof(uint64_t)];
    std::memcpy(words, &key, sizeof words);
    uint64_t h = 0;
    for (const uint64_t w : words) {
      h = (h ^ w) * 0x9E3779B97F4A7C15u;
      h ^= h >> 32;
    }
    return h;
  }
};

template <class Key>
struct EqualBytes {
  bool operator()(const Key& a, const Key& b) const {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

}  // namespace sy::cpu
