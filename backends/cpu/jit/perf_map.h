#pragma once

#include "backends/cpu/jit/kernel.h"

namespace sy::cpu::jit {

// With SWITCHYARD_JIT_PERF=1: a line for the kernel in perf-PID.map, where
// `perf report` looks for the names of code that no file has.
void write_perf_map(const Kernel& kernel, const program::Program& program);

}  // namespace sy::cpu::jit
