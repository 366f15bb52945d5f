#include "backends/cpu/support/cpu_features.h"

#include <cpuid.h>

#include "backends/cpu/tiles/kernels.h"

namespace sy::cpu {

namespace {

bool is_widest() { return tiles::active_isa() == tiles::Isa::avx512; }

// Bits of leaf 7 that __builtin_cpu_supports of gcc 12 does not know.
bool has_in_leaf_7(unsigned edx_bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (d >> edx_bit & 1) != 0;
}

}  // namespace

bool has_bf16_products() noexcept {
  static const bool has = __builtin_cpu_supports("avx512bf16") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512dq");
  return has && is_widest();
}

bool has_bf16_tiles() noexcept {
  static const bool has = has_in_leaf_7(22);
  return has && is_widest();
}

bool has_f16_products() noexcept {
  static const bool has = has_in_leaf_7(23);
  return has && is_widest();
}

}  // namespace sy::cpu
