#include <llvm/Config/llvm-config.h>

#include <functional>

#include "backends/cpu/jit/api.h"
#include "backends/cpu/jit/bitcode.h"
#include "backends/cpu/jit/codegen.h"

// The one symbol of libswitchyard_jit.so; see api.h.

namespace {

// Counts up when emitter.cpp or codegen.cpp make other code of the same.
constexpr uint64_t kRevision = 3;

uint64_t fingerprint() {
  const std::hash<std::string_view> hash;
  uint64_t h = kRevision * 1000000 + LLVM_VERSION_MAJOR * 10000 +
               LLVM_VERSION_MINOR * 100 + LLVM_VERSION_PATCH;
  for (const auto isa :
       {sy::cpu::jit::Isa::kAvx2, sy::cpu::jit::Isa::kAvx512}) {
    h = h * 31 + hash(sy::cpu::jit::bitcode(isa));
  }
  return h;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const void*
switchyard_jit_api() {
  static const sy::cpu::jit::CompilerApi api = {
      sy::cpu::jit::CompilerApi::kVersion, fingerprint(),
      &sy::cpu::jit::compile, &sy::cpu::jit::print_code};
  return &api;
}
