#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aten/backend/jit.h"
#include "backends/cpu/jit/kernel.h"
#include "c10/macros.h"

// Compiled programs. A program that has run for some milliseconds is compiled
// by a thread of low priority; until then, and without LLVM, there is no kernel
// and the interpreter goes on. Nothing here waits, but with
// SWITCHYARD_JIT=wait. All functions are thread-safe.

namespace sy::cpu::jit {

struct Wanted {
  const program::Program* program;
  program::ComputeType compute;
  const Port* inputs;
  const ScalarType* results;
  Isa isa;
};

// The kernel of a program; nullptr if there is none now. `work`: what the call
// will do, in elements times steps.
SY_API intrusive_ptr<Kernel> kernel_for(const Wanted& wanted,
                                        int64_t work) noexcept;

// The types and functions behind aten/backend/jit.h.
using sy::jit::Counters;
using sy::jit::Mode;
SY_API Mode mode() noexcept;
SY_API void set_mode(Mode mode) noexcept;
SY_API Counters counters() noexcept;
SY_API void finish() noexcept;
SY_API void clear() noexcept;
SY_API void set_capacity(size_t kernels) noexcept;

// A program that was seen.
struct Seen {
  std::string request;
  int64_t work = 0;   // in elements times steps, interpreted and compiled
  int64_t runs = 0;   // compiled
  int64_t bytes = 0;  // of its code; 0: there is none in memory
  int64_t compile_ns = 0;
  bool is_queued = false;
  std::string refusal;  // why it is never compiled
};
// The programs that were seen, by their work, the most first.
SY_API std::vector<Seen> programs();
// The LLVM code or the machine code of a request, for people; the reason if
// there is none.
SY_API std::string code_text(const std::string& request, bool assembly);
// Why there is no compiler; "" if there is one.
SY_API std::string why_no_compiler();

}  // namespace sy::cpu::jit
