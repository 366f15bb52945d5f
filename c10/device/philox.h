#pragma once

#include <array>
#include <cstdint>

// Philox4x32-10, a counter-based generator: J. Salmon, M. Moraes, R. Dror,
// D. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11. The k-th
// block of four words depends on the key and k alone, so any thread of any
// device can compute its part of a stream without the rest.
//
// Note [Random stream]
// The stream of seed s consists of the blocks for the key (low half of s, high
// half of s) and the counters 0, 1, 2, ... A counter has 128 bits; the high 64
// are 0. A draw that reserved its counters from `offset` takes words in order:
// word i is word i % 4 of block offset + i / 4. A result of 64 bits takes two
// words, the low one first.

namespace sy {

using PhiloxBlock = std::array<uint32_t, 4>;

namespace detail {

// The constants of a round: factors of the words, and steps of the keys.
inline constexpr uint32_t kPhiloxFactors[] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t kPhiloxSteps[] = {0x9E3779B9, 0xBB67AE85};

constexpr PhiloxBlock philox_round(const PhiloxBlock& c, uint32_t k0,
                                   uint32_t k1) {
  const uint64_t p0 = uint64_t{kPhiloxFactors[0]} * c[0];
  const uint64_t p1 = uint64_t{kPhiloxFactors[1]} * c[2];
  return {
      static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
      static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
}

}  // namespace detail

constexpr PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t k0,
                                 uint32_t k1) {
  for (int i = 0; i < 10; ++i) {
    counter = detail::philox_round(counter, k0, k1);
    k0 += detail::kPhiloxSteps[0];
    k1 += detail::kPhiloxSteps[1];
  }
  return counter;
}

// Block `offset` of the stream of `seed`.
constexpr PhiloxBlock philox_block(uint64_t seed, uint64_t offset) {
  return philox4x32({static_cast<uint32_t>(offset),
                     static_cast<uint32_t>(offset >> 32), 0, 0},
                    static_cast<uint32_t>(seed),
                    static_cast<uint32_t>(seed >> 32));
}

// Uniform numbers in [0, 1) from the 24 (float) or 53 (double) highest bits.
constexpr float uniform_float(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}
constexpr double uniform_double(uint32_t low, uint32_t high) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace sy
