#pragma once

#include <cstdint>

namespace sy::cpu::tiles {

// An element of 16 bytes with the alignment of 8 bytes, for code that moves
// elements by their size alone.
struct Element16 {
  uint64_t words[2];
};
static_assert(sizeof(Element16) == 16);

}  // namespace sy::cpu::tiles
