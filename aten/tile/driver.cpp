#include <cstring>

#include "aten/tile/table.h"

namespace sy::tiles {

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

void spread(char* block, const void* element, int64_t size, int64_t count) {
  uint64_t word = 0;
  std::memcpy(&word, element, static_cast<size_t>(size));
  if (size == 1) word *= 0x0101010101010101u;
  if (size == 2) word *= 0x0001000100010001u;
  if (size == 4) word |= word << 32;
  for (int64_t i = 0; i < size * count; i += 8)
    std::memcpy(block + i, &word, 8);
}

}  // namespace

void drive(BlockFn fn, Layout layout, void* dst, const void* const* operands,
           uint32_t uniform_mask, int64_t n) {
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
      // What pads must be cheap to compute with: the first element again.
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

}  // namespace sy::tiles
