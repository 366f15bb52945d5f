#pragma once

#include <cstdio>
#include <cstdlib>

namespace sy::fuzz {

// Ends the process if a promise is broken.
inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace sy::fuzz
