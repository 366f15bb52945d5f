// How a kernel of blocks is led over a run of elements.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tiles/driver.cpp"
#include "hwy/foreach_target.h"

#include <cstring>

#include "backends/cpu/tiles/loop.inc"

HWY_BEFORE_NAMESPACE();
#include "backends/cpu/tiles/wide.inc"
namespace sy::cpu::tiles::HWY_NAMESPACE {

namespace {

constexpr int kMaxBlockBytes = 512;

// memcpy of up to 511 bytes without a call: overlapping pieces.
SY_ALWAYS_INLINE void copy_short(char* dst, const char* src, size_t bytes) {
  if (bytes >= 16) {
    size_t i = 0;
    for (; i + 16 < bytes; i += 16) std::memcpy(dst + i, src + i, 16);
    std::memcpy(dst + bytes - 16, src + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(dst, src, 8);
    std::memcpy(dst + bytes - 8, src + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(dst, src, 4);
    std::memcpy(dst + bytes - 4, src + bytes - 4, 4);
  } else {
    for (size_t i = 0; i < bytes; ++i) dst[i] = src[i];
  }
}

template <class T>
HWY_INLINE uint64_t repeated(const void* element) {
  T bits;
  std::memcpy(&bits, element, sizeof bits);
  return bits * (~uint64_t{0} / static_cast<T>(~T{0}));
}

// Writes whole vectors, as they are read at once: a load that spans several
// stores waits until those have left for the cache.
HWY_INLINE void spread(char* block, const void* element, int64_t size,
                       int64_t count) {
  const uint64_t word = size == 1   ? repeated<uint8_t>(element)
                        : size == 2 ? repeated<uint16_t>(element)
                        : size == 4 ? repeated<uint32_t>(element)
                                    : repeated<uint64_t>(element);
  const hn::ScalableTag<uint64_t> d;
  const auto v = hn::Set(d, word);
  for (int64_t i = 0; i < size * count; i += HWY_MAX_BYTES) {
    hn::StoreU(v, d, reinterpret_cast<uint64_t*>(block + i));
  }
}

}  // namespace

void drive(BlockFn fn, BlockLayout layout, void* dst,
           const void* const* operands, uint32_t uniform_mask, int64_t n) {
  alignas(64) char padded[3][kMaxBlockBytes];
  alignas(64) char result[kMaxBlockBytes];
  const int64_t block = layout.block;
  const int64_t n_blocks = n / block;
  const int64_t rest = n - n_blocks * block;
  const void* from[3];
  const void* last[3];
  int64_t steps[3];
  for (int k = 0; k < 3; ++k) {
    const int64_t size = layout.operand[k];
    from[k] = operands[k];
    steps[k] = block;
    if (size == 0) continue;
    const char* at = static_cast<const char*>(operands[k]);
    last[k] = at + (n - block) * size;
    if (uniform_mask >> k & 1) {
      spread(padded[k], at, size, block);
      from[k] = last[k] = padded[k];
      steps[k] = 0;
    } else if (n_blocks == 0) {
      // The padding must be cheap to compute with: the first element again.
      spread(padded[k], at, size, block);
      copy_short(padded[k], at, static_cast<size_t>(rest * size));
      last[k] = padded[k];
    }
  }
  // The last elements end a block that overlaps the one before: computed
  // first, as dst may be an operand.
  if (rest > 0) fn(result, last, steps, 1);
  if (n_blocks > 0) fn(dst, from, steps, n_blocks);
  if (rest > 0) {
    const int64_t size = layout.dst;
    copy_short(static_cast<char*>(dst) + (n - rest) * size,
               n_blocks > 0 ? result + (block - rest) * size : result,
               static_cast<size_t>(rest * size));
  }
}

}  // namespace sy::cpu::tiles::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
