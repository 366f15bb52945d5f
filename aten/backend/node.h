#pragma once

#include <type_traits>
#include <vector>

#include "aten/engine/pointwise.h"
#include "aten/engine/reduce.h"
#include "aten/engine/scan.h"
#include "c10/dispatch/dispatcher.h"
#include "c10/tensor/value.h"

// Calls as nodes of a graph, for backends that record calls and run them later:
// which results a call will have, and which of its boxed arguments are the
// operands of the operator's element program.

namespace sy {

// nullptr if `op` has no element program.
inline const NodeDesc* node_desc(const OperatorEntry& op) {
  return op.info() == nullptr ? nullptr : op.info()->node;
}

// The results of a call as tensors on Meta, with sizes, strides, dtypes and
// shared memory. A written argument is returned as the copy that stands for it.
// Tensors of `args` may be on any device and need no data. Throws what the call
// would throw for its arguments; NotImplementedError if results depend on data
// or the operator has no shape rule.
SY_API std::vector<Value> infer_results(OperatorHandle op, const Value* args,
                                        size_t n);

// The value as a number; None gives 0. Throws TypeError for a value of another
// type.
SY_API Scalar read_scalar(NodeScalar::Kind kind, const char* text,
                          const Value& v);

// The operands of an element program, read from boxed arguments. Borrows all of
// them. Argument i of the functional form is args[positions[i]]; with positions
// == nullptr it is args[i].
class SY_API PointwiseNode {
 public:
  PointwiseNode(const NodeDesc& node, const Value* args,
                const int* positions = nullptr);
  PointwiseNode(const PointwiseNode&) = delete;
  const PointwiseOp& op() const { return *node_.pointwise; }
  PointwiseArgs args() const { return {inputs_, room_.scalars, absent_}; }

 private:
  static constexpr int kMaxInputs = 32, kMaxScalars = 32;
  // Not initialised: most operators have one or two.
  union Room {
    Room() {}
    Scalar scalars[kMaxScalars];
  };
  static_assert(std::is_trivially_destructible_v<Scalar>);
  const NodeDesc& node_;
  const TensorBase* inputs_[kMaxInputs];
  Room room_;
  uint32_t absent_ = 0;
};

class SY_API ReduceNode {
 public:
  ReduceNode(const NodeDesc& node, const Value* args,
             const int* positions = nullptr);
  ReduceNode(const ReduceNode&) = delete;
  const ReduceOp& op() const { return *node_.reduce; }
  const ReduceArgs& args() const { return args_; }

 private:
  static constexpr int kMaxScalars = 32;
  union Room {
    Room() {}
    Scalar scalars[kMaxScalars];
  };
  const NodeDesc& node_;
  int64_t dim_ = 0;
  Room room_;
  ReduceArgs args_;
};

SY_API ScanArgs scan_node(const NodeDesc& node, const Value* args);

}  // namespace sy
