#pragma once

#include "backends/cpu/jit/kernel.h"

namespace sy::cpu::jit {

// Writes a line for the kernel to perf-PID.map, with SWITCHYARD_JIT_PERF=1:
// `perf report` looks there for the names of code that no file has.
void write_perf_map(const Kernel& kernel, const program::Program& program);

}  // namespace sy::cpu::jit
