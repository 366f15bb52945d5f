#include "backends/cpu/jit/bitcode.h"

namespace sy::cpu::jit {

namespace {

#include "backends/cpu/jit/bitcode.inc"

template <size_t n>
std::string_view text_of(const unsigned char (&bytes)[n]) {
  return {reinterpret_cast<const char*>(bytes), n};
}

}  // namespace

std::string_view bitcode(Isa isa) {
  return isa == Isa::kAvx512 ? text_of(k_prims_avx512) : text_of(k_prims_avx2);
}

}  // namespace sy::cpu::jit
