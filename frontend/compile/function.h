#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aten/tensor.h"

// The implementation of a compiled callable (frontend/compile/compile.h).

namespace sy {

struct CompileOptions {
  // The name in explain() and in errors.
  std::string name = "function";
  // A callable that cannot be replayed as a whole is an error: ValueError.
  bool fullgraph = false;
  // How many graphs are kept. The least recently used goes first.
  int max_variants = 8;
  // The engine that runs the graphs: "jit" (fused loops, those that are hot
  // compiled), "interpret" (fused, nothing compiled), "debug" (each call by
  // itself), the name of a library that adds an engine ("pjrt:PLUGIN"), or of
  // an engine that the program adds (aten/backend/graph.h). Another name is a
  // ValueError of the first call. "" is SWITCHYARD_COMPILE_BACKEND, or else
  // "jit".
  std::string backend{};
};

// The counts since the callable was compiled.
struct CompileCounters {
  int64_t calls = 0;
  int64_t captures = 0;   // calls that ran the callable's code and recorded
  int64_t sizes = 0;      // calls that were recorded for tensors of a third
                          // size or more, and gave the calls of a known graph
  int64_t replays = 0;    // calls that ran a graph instead
  int64_t checked = 0;    // calls that a graph fits, but that were recorded
                          // once more to see whether the code does the same
  int64_t untold = 0;     // those of them that recorded something else
  int64_t plain = 0;      // calls of the code as it is: within another capture,
                          // on a device that is not captured, or because what
                          // it looks at differs each time
  int64_t backwards = 0;  // runs of compiled backward graphs
  int64_t breaks = 0;     // places where a piece had to end, in all captures
  int64_t variants = 0;   // graphs that are kept now
  int64_t evicted = 0;    // graphs that went
};

namespace compiling {

// The arguments of a call: tensors, and a word for everything else that the
// callable may depend on.
struct Arguments {
  std::vector<Tensor> tensors;
  std::vector<uint64_t> words;
  // The callable itself, with what it has captured.
  const void* closure = nullptr;
  size_t closure_bytes = 0;
  // The memory that takes the callable's own result.
  const void* result = nullptr;
  size_t result_bytes = 0;
};

// The tensors that a callable returns, and the lengths of its lists.
struct Outputs {
  std::vector<Tensor> tensors;
  std::vector<int64_t> lengths;
};

// The call itself: fills `out`, and keeps what it returned.
using Body = void (*)(void* context, Outputs* out);

class FunctionState;

// Thread-safe.
class SY_API Function {
 public:
  explicit Function(CompileOptions options);
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  // Returns false if the body has run and its own result counts. Otherwise
  // `out` is the result, and what the body returned, if it ran, must go.
  // Throws what the body throws, and what sy::compile says.
  bool call(const Arguments& arguments, Body body, void* context, Outputs* out);

  CompileCounters counters() const;
  std::string explain() const;
  std::string graph_text() const;
  void reset();

 private:
  std::unique_ptr<FunctionState> state_;
};

// Whether each call is recorded and compared, and a difference that no guard
// has told is an error. SWITCHYARD_CHECK=capture says what a process begins
// with.
SY_API void set_check(bool on);

}  // namespace compiling

}  // namespace sy
