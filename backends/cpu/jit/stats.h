#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "c10/macros.h"

// Compiled programs: whether there are any, and how many. docs/jit.md explains
// them. All functions are thread-safe; a program includes <sy/jit.h>.

namespace sy::jit {

enum class Mode : uint8_t {
  kOff,
  kBackground,
  kWait,  // what is asked for first is compiled at once, by the caller
};
// That of SWITCHYARD_JIT: off, background (the default) or wait.
SY_API Mode mode() noexcept;
// For tests.
SY_API void set_mode(Mode mode) noexcept;

struct Stats {
  int64_t kernels = 0;   // in memory
  int64_t bytes = 0;     // of their code
  int64_t compiled = 0;  // by this process
  int64_t loaded = 0;    // from the folder of the cache
  int64_t refused = 0;   // programs that need what is not compiled
  int64_t failed = 0;    // for want of memory
  int64_t evicted = 0;
  int64_t queued = 0;  // that wait for the thread
  int64_t compile_ns = 0;
  int64_t blocked_ns = 0;  // calls waited; 0 but with Mode::kWait
};
SY_API Stats stats() noexcept;
// Waits until what is queued is compiled. For tests and benchmarks.
SY_API void finish() noexcept;
// Forgets all programs and kernels; calls that run one keep it.
SY_API void clear() noexcept;
// How many kernels stay in memory; those that were not used for long go.
SY_API void set_capacity(size_t kernels) noexcept;
// Another folder for compiled code than SWITCHYARD_JIT_CACHE, or
// ~/.cache/switchyard/jit; "" for none.
SY_API void set_folder(std::string folder);
// Why there is no compiler; "" if there is one.
SY_API std::string why_no_compiler();

}  // namespace sy::jit
