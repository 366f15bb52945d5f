#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aten/program/op_desc.h"
#include "aten/tensor.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/intrusive_ptr.h"
#include "c10/tensor/storage.h"
#include "c10/tensor/value.h"

// Recorded graphs as data, and what compiles them. The lazy device and
// sy::compile run a graph as fused regions; a Compiler that is registered here
// by its name takes whole graphs instead:
//
//   graph::add_compiler("mine", std::make_shared<MyCompiler>());
//   auto f = sy::compile(step, {.backend = "mine"});
//
// and SWITCHYARD_LAZY_ENGINE=mine for the lazy device. docs/compile.md has a
// whole one.

namespace sy::graph {

// The place of elements in memory; strides and offset are in elements.
struct Layout {
  ScalarType dtype = ScalarType::Undefined;
  IntArrayRef sizes, strides;
  int64_t offset = 0;  // of a part, from the value's first element on
};

// An operand of a call: a value, or a part of it.
struct Operand {
  int value = 0;
  bool whole = true;  // `layout` is that of the value
  Layout layout;
};

// Operands of a call keep the order of its arguments.
struct Call {
  enum Kind : uint8_t {
    kEmpty,      // memory that nobody has set
    kPointwise,  // `program`
    kReduce,     // `reduce` over dims of operand 0
    kOperator,   // the kernel of `op`
    kWrite,      // operand 0 with operand 1 in place of its part `window`
  };

  Kind kind = kOperator;
  bool keepdim = false;  // of kReduce
  bool draws = false;    // random numbers: such calls run in their order
  // kPointwise and kReduce convert operands to this dtype first; Half and
  // BFloat16 are computed as Float. Results are rounded to theirs.
  ScalarType compute = ScalarType::Undefined;
  const char* name = "";
  const OperatorEntry* op = nullptr;  // of kEmpty and kWrite none
  ArrayRef<Operand> operands;
  // Its results are the values first_result, first_result + 1, ...
  int first_result = 0, n_results = 0;
  // Operands broadcast to the sizes of the results.
  const program::Program* program = nullptr;
  const ReduceOp* reduce = nullptr;
  uint64_t reduced = 0;  // bit d: dim d of operand 0
  // The numbers of `program`; or those of map, combine and finish.
  ArrayRef<program::Uniform> uniforms;
  // The arguments of kOperator, with None in the places of tensors and of lists
  // of tensors.
  ArrayRef<Value> args;
  // Operands that the kernel writes: their values after the call are the last
  // results, in this order.
  ArrayRef<uint8_t> written;
  Layout window;  // of kWrite
};

// A graph. Values are numbered: first the inputs, then the results of each call
// in order. A value is dense from its first element on and never changes.
class SY_API Graph {
 public:
  virtual ~Graph();
  Device device() const { return device_; }
  int num_inputs() const { return num_inputs_; }
  ArrayRef<Layout> values() const { return {values_.data(), values_.size()}; }
  ArrayRef<Call> calls() const { return {calls_.data(), calls_.size()}; }
  // Values that somebody wants. None is an input.
  ArrayRef<int> outputs() const { return {outputs_.data(), outputs_.size()}; }

  // Computes call i by its kernel, of operands with its layouts; gives each of
  // its results memory, which may be no larger than it needs. Throws what the
  // kernel throws, with the operator's name. Thread-safe.
  virtual void run_call(int i, ArrayRef<Tensor> operands,
                        Storage* results) const = 0;

 protected:
  Device device_;
  int num_inputs_ = 0;
  std::vector<Layout> values_;
  std::vector<Call> calls_;
  std::vector<int> outputs_;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
};

// The elements of a value, or of a part of one, in memory that has the value.
SY_API Tensor tensor_in(const Storage& memory, const Layout& layout);
// How much memory a value needs.
SY_API size_t bytes_of(const Layout& layout);

// A graph, ready to run.
class SY_API Executable : public RefCounted {
 public:
  virtual ~Executable();
  // `graph` is the one that was compiled, or one that differs from it only in
  // uniforms and in who drew random numbers before. inputs[i] begins with the
  // first element of value i, and may be nullptr if no call reads that;
  // outputs[k] gets fresh memory. Runs at once, on the calling thread, below
  // autograd. Throws what kernels throw. Thread-safe.
  virtual void run(const Graph& graph, ArrayRef<Storage> inputs,
                   Storage* outputs) = 0;
  // For people: what was made of the graph.
  virtual std::string text() const;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
};

class SY_API Compiler {
 public:
  virtual ~Compiler();
  // `argument`: what the user wrote behind the name, as in "pjrt:./plugin.so".
  // Throws NotImplementedError, with the reason, if it does not take the graph:
  // then the graph's calls run one by one. Thread-safe.
  virtual intrusive_ptr<Executable> compile(const Graph& graph,
                                            std::string_view argument) = 0;

 private:
  virtual void* reserved0() { return nullptr; }
  virtual void* reserved1() { return nullptr; }
};

// Throws ValueError if the name is taken, or is none: letters, digits, '_' and
// '-'. The executables of a compiler may run until the process ends, so a
// library that adds one must not be unloaded. Thread-safe, as the following
// are.
SY_API void add_compiler(std::string_view name,
                         std::shared_ptr<Compiler> compiler);
// nullptr if there is none.
SY_API std::shared_ptr<Compiler> find_compiler(std::string_view name);
SY_API std::vector<std::string> compiler_names();

}  // namespace sy::graph
