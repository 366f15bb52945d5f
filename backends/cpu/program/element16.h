#pragma once

#include <cstdint>

namespace sy::tiles {

// An element of 16 bytes, at any address that 8 bytes may have, for what moves
// elements by their size alone.
struct Element16 {
  uint64_t words[2];
};
static_assert(sizeof(Element16) == 16);

}  // namespace sy::tiles
