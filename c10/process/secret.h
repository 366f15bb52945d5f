#pragma once

#include <cstddef>
#include <string_view>

namespace sy {

// Whether two secrets, or proofs of one, are the same. Takes as long wherever
// they differ: a stranger may try.
inline bool is_same_secret(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  volatile unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  }
  return differs == 0;
}

}  // namespace sy
