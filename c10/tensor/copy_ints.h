#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "c10/macros.h"

namespace sy::detail {

// memmove that accepts nullptr for an empty list. It reads everything before it
// writes, and makes no call for the usual numbers of dims.
SY_ALWAYS_INLINE void copy_ints(int64_t* to, const int64_t* from, size_t n) {
  int64_t v[4] = {};
  switch (n) {
    case 4: v[3] = from[3]; [[fallthrough]];
    case 3: v[2] = from[2]; [[fallthrough]];
    case 2: v[1] = from[1]; [[fallthrough]];
    case 1: v[0] = from[0]; [[fallthrough]];
    case 0: break;
    default: std::memmove(to, from, n * sizeof(int64_t)); return;
  }
  switch (n) {
    case 4: to[3] = v[3]; [[fallthrough]];
    case 3: to[2] = v[2]; [[fallthrough]];
    case 2: to[1] = v[1]; [[fallthrough]];
    case 1: to[0] = v[0]; [[fallthrough]];
    default: break;
  }
}

}  // namespace sy::detail
