#include <llvm/Config/llvm-config.h>
#include "backends/cpu/jit/api.h"
#include "backends/cpu/jit/bitcode.h"
#include "backends/cpu/jit/codegen.h"

// The one symbol of libswitchyard_jit.so; see api.h.

namespace {

uint64_t fingerprint() {
  uint64_t h = LLVM_VERSION_MAJOR * 10000 + LLVM_VERSION_MINOR * 100 +
               LLVM_VERSION_PATCH;
  for (const auto isa : {sy::jit::Isa::kAvx2, sy::jit::Isa::kAvx512}) {
    for (const char c : sy::jit::bitcode(isa)) {
      h = (h ^ static_cast<uint8_t>(c)) * 0x9E3779B97F4A7C15u;
      h ^= h >> 29;
    }
  }
  // Counts up when codegen.cpp or emitter.cpp make other code of the same.
  constexpr uint64_t kRevision = 1;
  return h * 31 + kRevision;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const void*
switchyard_jit_api() {
  static const sy::jit::CompilerApi api = {sy::jit::CompilerApi::kVersion,
                                           fingerprint(), &sy::jit::compile,
                                           &sy::jit::print_code};
  return &api;
}
