#pragma once

#include <cstdint>

#include "backends/cpu/jit/request.h"

namespace sy::cpu::jit {

// The table that libswitchyard_jit.so offers. LLVM is inside, and nothing else
// sees it.
struct CompilerApi {
  static constexpr uint32_t kVersion = 1;
  uint32_t version;
  // A number for all that the code depends on beside the request.
  uint64_t fingerprint;
  // See codegen.h.
  bool (*compile)(std::string_view request, std::string* image,
                  std::string* why);
  bool (*print_code)(std::string_view request, bool assembly,
                     std::string* text);
};

}  // namespace sy::cpu::jit
