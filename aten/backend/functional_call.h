#pragma once

#include <vector>

#include "aten/backend/functional_storage.h"
#include "aten/backend/write_plan.h"

// How calls with functional tensors are made on their values; for the sources
// of aten/backend.

namespace sy::functional {

bool has_functional(const Value& v);
// Whether the operator has a kernel that is made of others, for any backend.
bool has_composite(const OperatorEntry& op);
void call(const OperatorEntry& op, std::vector<Value>& args, Value* results,
          size_t n);

// A call's arguments with values in place of functional tensors, and the way
// back for its results. Lives OnValues.
class CallOnValues {
 public:
  CallOnValues(const Value* args, size_t n);

  std::vector<Value>& args() { return args_; }
  // Whether some value is computed later.
  bool recorded() const;
  // Of what the call gave: a value that was an argument is that argument,
  // memory of one is a view of it (of an ordinary one an ordinary one),
  // anything else is a fresh functional tensor.
  Value result(const Value& v);
  // Whether it has the memory of an argument that is not functional.
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

// A call of an operator that writes, as a call of its functional operator, or
// of itself on copies, OnValues. Written arguments may be ordinary tensors.
void write_functional(const OperatorEntry& op, const WritePlan& plan,
                      Value* args, size_t num_args, Value* results,
                      size_t num_results);
void write_copies(const OperatorEntry& op, const WritePlan& plan, Value* args,
                  size_t num_args, Value* results, size_t num_results);
// Metadata alone: the kernel changes the functional tensor itself.
void write_geometry(const OperatorEntry& op, const WritePlan& plan, Value* args,
                    size_t num_args, Value* results, size_t num_results);

}  // namespace sy::functional
