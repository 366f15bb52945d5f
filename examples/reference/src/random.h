#pragma once

#include <optional>

#include "c10/device/generator.h"
#include "c10/device/philox.h"
#include "elements.h"

namespace reference {

// The words that one call draws from the stream of a seed: see
// Note [Random stream] in c10/device/philox.h.
class Stream {
 public:
  Stream(const std::optional<sy::Generator>& given, sy::Device device,
         int64_t words) {
    const sy::Generator& g =
        given && *given ? *given : sy::default_generator(device);
    range_ = g->reserve((static_cast<uint64_t>(words) + 3) / 4);
  }
  uint32_t word(int64_t i) const {
    const auto at = static_cast<uint64_t>(i);
    return sy::philox_block(range_.seed, range_.offset + at / 4)[at % 4];
  }
  // Words i and i + 1.
  uint64_t bits(int64_t i) const {
    return uint64_t{word(i + 1)} << 32 | word(i);
  }
  double even(int64_t i) const {
    return sy::uniform_double(word(i), word(i + 1));
  }
  const sy::GeneratorImpl::Range& range() const { return range_; }

 private:
  sy::GeneratorImpl::Range range_;
};

// Makes of 64 random bits a number below `n`; n = 0 stands for 2^64.
inline uint64_t below(uint64_t bits, uint64_t n) {
  if (n == 0) return bits;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * n >> 64);
}

}  // namespace reference
