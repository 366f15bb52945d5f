#include "backends/cuda/compile/hash.h"

namespace sy::cuda {

std::string hex(const Hash& h) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(32, '0');
  for (size_t i = 0; i < 16; ++i) {
    out[15 - i] = kDigits[h.a >> (4 * i) & 15];
    out[31 - i] = kDigits[h.b >> (4 * i) & 15];
  }
  return out;
}

}  // namespace sy::cuda
