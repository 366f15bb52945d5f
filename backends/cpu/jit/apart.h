#pragma once

#include <string>

#include "backends/cpu/jit/api.h"

// LLVM ends the process on an error of its own. A compilation apart runs in a
// child, so that only the child ends.

namespace sy::cpu::jit {

enum class Apart : uint8_t {
  kCompiled,
  kRefused,  // as CompilerApi::compile says, with the reason
  kDied,     // of a signal, or after a minute; `why` says which
};
Apart compile_apart(const CompilerApi& compiler, const std::string& request,
                    std::string* image, std::string* why);

}  // namespace sy::cpu::jit
