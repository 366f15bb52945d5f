#pragma once

#include <cstdint>
#include <string>

#include "c10/macros.h"

// Programs that run often are compiled. docs/jit.md explains it. Nothing here
// is needed for that: these functions look, and turn it on and off.
//
//   sy::jit::set_mode(sy::jit::Mode::kWait);
//   ...
//   fmt::print("{}", sy::jit::counters_text());
//
// Any thread may call them. They throw NotImplementedError in a program without
// the CPU backend, which is the one that compiles.

namespace sy::jit {

// The modes of SWITCHYARD_JIT, which says what a process begins with.
enum class Mode : uint8_t {
  kOff,         // all is interpreted
  kBackground,  // nobody waits
  kWait,        // the thread that asks first for a program compiles it
  kProcess,     // as kBackground, each in a process of its own: LLVM ends its
                // process on an error of its own
};

// Counts since the process started.
struct Counters {
  int64_t kernels = 0;   // compiled programs, in memory now
  int64_t bytes = 0;     // of their code
  int64_t runs = 0;      // of compiled programs
  int64_t compiled = 0;  // by this process
  int64_t loaded = 0;    // from the folder of the cache
  int64_t refused = 0;   // programs that need what is not compiled
  int64_t failed = 0;    // for want of memory
  int64_t evicted = 0;
  int64_t queued = 0;  // wait for the thread now
  int64_t compile_ns = 0;
  int64_t blocked_ns = 0;  // calls waited; 0 but with Mode::kWait
};

SY_API Counters counters();
// The counters, one per line.
SY_API std::string counters_text();
// Every program that was seen, by the work that it did, the most first: what
// became of it, its dtypes and its steps.
SY_API std::string programs_text();
// The same, with LLVM code and machine code of those that are compiled.
SY_API std::string code_text();

SY_API Mode mode();
SY_API void set_mode(Mode mode);
// How many compiled programs stay in memory; 4,096 by default. The least
// recently used goes first.
SY_API void set_max_kernels(int64_t n);
// Waits until what is queued is compiled.
SY_API void finish();
// Forgets all programs and compiled code in memory; calls that run keep theirs.
SY_API void clear();

// The interface of a backend that compiles; it registers an object as
// BackendService::kCompiler. All functions are thread-safe.
class SY_API Compiler {
 public:
  virtual ~Compiler();
  virtual Counters counters() const = 0;
  virtual std::string programs_text(bool with_code) const = 0;
  virtual Mode mode() const = 0;
  virtual void set_mode(Mode mode) = 0;
  virtual void set_max_kernels(int64_t n) = 0;
  virtual void finish() = 0;
  virtual void clear() = 0;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
  virtual void* reserved2() { return nullptr; }
  virtual void* reserved3() { return nullptr; }
};

}  // namespace sy::jit
