#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/jit/request.h"
#include "c10/intrusive_ptr.h"
#include "c10/macros.h"

// Compiled programs. A program that has run for some milliseconds is compiled
// by a thread of low priority; until then, and without LLVM, there is no kernel
// and the interpreter goes on. Nothing here waits, but with
// SWITCHYARD_JIT=wait. All functions are thread-safe.

namespace sy::jit {

// Machine code in memory.
class SY_API Kernel final : public RefCounted {
 public:
  ~Kernel();
  // For a multiple of `unit` elements, at least one.
  void run(char* const* data, const program::Uniform* uniforms,
           int64_t n) const {
    fn_(data, uniforms, n);
  }
  int64_t unit() const { return unit_; }
  size_t bytes() const { return bytes_; }

  // nullptr if the bytes are no image, or the system gives no memory for code.
  static intrusive_ptr<Kernel> load(const std::string& image);

 private:
  Kernel() = default;
  KernelFn fn_ = nullptr;
  int64_t unit_ = 0;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

struct Wanted {
  const program::Program* program;
  program::ComputeType compute;
  const Port* inputs;
  const ScalarType* results;
  Isa isa;
};

// Elements times steps from which on a call may ask for a kernel.
inline constexpr int64_t kLeastWork = 16384;
// The kernel of a program; nullptr if there is none now. `work`: what the call
// will do, in elements times steps.
SY_API intrusive_ptr<Kernel> kernel_for(const Wanted& wanted,
                                        int64_t work) noexcept;

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
