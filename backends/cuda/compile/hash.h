#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

// Hashes of texts and images: 128 bits, the same on every machine and in every
// version, as they are in files. Against accidents, not against attackers:
// folders and packs that others could write are not read.

namespace sy::cuda {

struct Hash {
  uint64_t a = 0, b = 0;
  friend bool operator==(const Hash&, const Hash&) = default;
  friend auto operator<=>(const Hash&, const Hash&) = default;
};

class Hasher {
 public:
  // The length is part of it: add("a"), add("b") differs from add("ab").
  Hasher& add(std::string_view text) {
    add(uint64_t{text.size()});
    while (text.size() >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data(), 8);
      mix(word);
      text.remove_prefix(8);
    }
    uint64_t rest = 0;
    if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
    mix(rest);
    return *this;
  }
  Hasher& add(uint64_t word) {
    mix(word);
    return *this;
  }
  Hash end() const {
    return {fold(a_ ^ fold(b_, kFirst), kSecond),
            fold(b_ ^ fold(a_, kSecond), kFirst)};
  }

 private:
  static constexpr uint64_t kFirst = 0x9E3779B97F4A7C15u;
  static constexpr uint64_t kSecond = 0xD6E8FEB86659FD93u;

  static uint64_t fold(uint64_t x, uint64_t factor) {
    const auto wide = static_cast<unsigned __int128>(x) * factor;
    return static_cast<uint64_t>(wide) ^ static_cast<uint64_t>(wide >> 64);
  }
  // The states of each lane before and after a word determine the word.
  void mix(uint64_t word) {
    a_ = (a_ ^ word) * kFirst;
    a_ ^= a_ >> 32;
    b_ = (b_ + word) * kSecond;
    b_ ^= b_ >> 29;
  }

  uint64_t a_ = 0x243F6A8885A308D3u, b_ = 0x13198A2E03707344u;
};

inline Hash hash_of(std::string_view text) { return Hasher().add(text).end(); }

// 32 digits.
std::string hex(const Hash& h);

}  // namespace sy::cuda
