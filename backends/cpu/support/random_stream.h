#pragma once

#include <optional>

#include "backends/cpu/random_kernel/random_kernel.h"
#include "c10/device/generator.h"
#include "c10/device/philox.h"
#include "c10/process/error.h"

namespace sy::cpu {

// The words that one call draws. They are reserved at once, so that any thread
// can compute any of them. See Note [Random stream] in c10/device/philox.h.
class RandomStream {
 public:
  RandomStream(const std::optional<Generator>& generator, uint64_t words) {
    const Generator& g = generator.has_value() && *generator != nullptr
                             ? *generator
                             : default_generator();
    SY_CHECK(g->device().is_cpu(), Value,
             "generator: expected one of the CPU, got one of {}", g->device());
    range_ = g->reserve((words + 3) / 4);
  }
  PhiloxBlock block(uint64_t i) const {
    return philox_block(range_.seed, range_.offset + i);
  }
  // Makes the words of `count` blocks, from word 4 i on. Writes a multiple of
  // kPhiloxLanes blocks.
  void words(uint64_t i, int64_t count, uint32_t* to) const {
    random_kernels().philox_words(range_.seed, range_.offset + i, count, to);
  }
  // For a draw that takes as many words as it needs. Blocks j = 0, 1, ...
  // belong to block i alone; the first is block(i).
  PhiloxBlock block(uint64_t i, uint32_t j) const {
    const uint64_t at = range_.offset + i;
    return philox4x32(
        {static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), j, 0},
        static_cast<uint32_t>(range_.seed),
        static_cast<uint32_t>(range_.seed >> 32));
  }
  // The 64-bit word made of words 2 i and 2 i + 1, which are in block i / 2.
  static uint64_t word64(const PhiloxBlock& b, uint64_t i) {
    return word64(b.data(), i % 2);
  }
  static uint64_t word64(const uint32_t* words, uint64_t i) {
    return (uint64_t{words[2 * i + 1]} << 32) | words[2 * i];
  }

 private:
  GeneratorImpl::Range range_;
};

// A number below `n` from 64 random bits. All numbers are equally likely, up to
// 2^-64 n.
inline uint64_t below(uint64_t bits, uint64_t n) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * n) >>
                               64);
}

}  // namespace sy::cpu
