#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/jit/request.h"
#include "backends/cpu/jit/stats.h"
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

}  // namespace sy::jit
