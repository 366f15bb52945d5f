#pragma once

#include <cstdint>
#include <string>

// The folder of this process. Thread-safe, and nothing throws.

namespace sy::cpu::jit {

// `fingerprint`: of the compiler.
bool read_image(uint64_t fingerprint, const std::string& request,
                std::string* image);
void keep_image(uint64_t fingerprint, const std::string& request,
                const std::string& image);
// Another folder than SWITCHYARD_JIT_CACHE, or ~/.cache/switchyard/jit; "" for
// none.
void set_store(std::string path);

}  // namespace sy::cpu::jit
