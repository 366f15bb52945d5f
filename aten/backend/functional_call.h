#pragma once

#include <vector>

#include "aten/backend/functional_storage.h"
#include "aten/backend/write_plan.h"

// Runs calls with functional tensors on their values. For the sources of
// aten/backend.

namespace sy::functional {

bool has_functional(const Value& v);
// Whether the operator has a kernel for any backend, made of other operators.
bool has_composite(const OperatorEntry& op);
void call(const OperatorEntry& op, std::vector<Value>& args, Value* results,
          size_t n);

// The arguments of a call, with values in place of functional tensors. It also
// maps results back. It must be inside the scope of an OnValues.
class CallOnValues {
 public:
  CallOnValues(const Value* args, size_t n);

  std::vector<Value>& args() { return args_; }
  // Whether the elements of some value are computed later.
  bool recorded() const;
  // Maps a result of the call back. If it is an argument's value, the argument
  // is returned. If it has the memory of an argument's value, a view of that
  // argument is returned. A tensor in the memory of an ordinary argument is
  // returned as it is. Anything else becomes a fresh functional tensor.
  Value result(const Value& v);
  // Whether `t` has the memory of an argument that is not functional.
  bool is_of_plain(const TensorBase& t) const;

 private:
  struct Pair {
    TensorBase outer;
    Tensor value;
  };
  TensorBase to_value(const TensorBase& t);
  Value to_values(const Value& v);
  TensorBase result_tensor(const Tensor& r);

  std::vector<Value> args_;
  std::vector<Pair> pairs_, fresh_;
  std::vector<TensorBase> plain_;
};

// Run a call of an operator that writes, within OnValues. write_functional()
// calls the operator's functional operator, write_copies() the operator itself
// on copies. Written arguments may be ordinary tensors.
void write_functional(const OperatorEntry& op, const WritePlan& plan,
                      Value* args, size_t num_args, Value* results,
                      size_t num_results);
void write_copies(const OperatorEntry& op, const WritePlan& plan, Value* args,
                  size_t num_args, Value* results, size_t num_results);
// Runs a call that changes metadata alone: the kernel changes the functional
// tensor itself.
void write_geometry(const OperatorEntry& op, const WritePlan& plan, Value* args,
                    size_t num_args, Value* results, size_t num_results);

}  // namespace sy::functional
