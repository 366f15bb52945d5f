#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

// The sizes of blocks. Small ones have four classes per power of two, and come
// from spans of one class each. Large ones are multiples of kUnit.

namespace sy::cuda {

inline constexpr size_t kSmallMax = size_t{1} << 20;
inline constexpr size_t kUnit = size_t{256} << 10;
// The least bytes that devices map at a time.
inline constexpr size_t kGranule = size_t{2} << 20;
inline constexpr unsigned kClasses = 44;
// How many free blocks of a class a thread keeps, at most.
inline constexpr unsigned kMostKept = 64;

// 0 < bytes <= kSmallMax.
constexpr unsigned class_of(size_t bytes) {
  const size_t last = bytes - 1;
  if (last < 1024) return static_cast<unsigned>(last >> 8);
  const int log = std::bit_width(last) - 1;
  return 4 * static_cast<unsigned>(log - 10) +
         static_cast<unsigned>(last >> (log - 2));
}

// A multiple of 256.
constexpr size_t class_bytes(unsigned c) {
  if (c < 4) return size_t{256} * (c + 1);
  return size_t{c % 4 + 5} << (c / 4 + 7);
}

// How many blocks move between a thread and the device at once.
constexpr unsigned batch_of(unsigned c) {
  return static_cast<unsigned>(
      std::clamp<size_t>((size_t{128} << 10) / class_bytes(c), 2, 32));
}
constexpr unsigned kept_of(unsigned c) { return 2 * batch_of(c); }

// At least eight blocks where that fits into a granule.
constexpr size_t span_bytes(unsigned c) {
  return class_bytes(c) <= kUnit / 8 ? kUnit : kGranule;
}

constexpr size_t round_up(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

static_assert(class_of(1) == 0 && class_of(1024) == 3 && class_of(1025) == 4);
static_assert(class_of(kSmallMax) == kClasses - 1);
static_assert(class_bytes(kClasses - 1) == kSmallMax);
static_assert(class_bytes(class_of(1025)) == 1280);
static_assert(kept_of(0) == kMostKept);

}  // namespace sy::cuda
