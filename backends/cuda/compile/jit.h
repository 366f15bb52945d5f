#pragma once

#include <cstdint>

// How kernels of programs are compiled: program() of module.h.

namespace sy::cuda {

enum class JitMode : uint8_t {
  kBackground,  // by a thread; the interpreter runs them meanwhile
  kWait,        // at the first call
  kOff,         // only what packs and the library have
};
// The mode, at first that of $SWITCHYARD_CUDA_JIT: background, wait or off.
JitMode jit_mode() noexcept;
// Sets the mode from the next call on. For tests and tools.
void set_jit_mode(JitMode mode) noexcept;

}  // namespace sy::cuda
