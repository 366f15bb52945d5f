#pragma once

#include <optional>

#include "aten/engine/dims.h"
#include "aten/program/op_desc.h"
#include "aten/tensor.h"

// The contract of reductions. aten/engine/pointwise.h is the contract of
// pointwise operators.

namespace sy {

struct ReduceArgs {
  const TensorBase* self;
  // Absent or empty means all dims, as in ATen.
  OptionalIntArrayRef dims = std::nullopt;
  bool keepdim = false;
  // The dtype argument: self is converted to it first.
  std::optional<ScalarType> dtype = std::nullopt;
  const Scalar* scalars = nullptr;  // op.n_scalars of them
};

struct ReducePlan {
  ScalarType compute;                         // of map and of the accumulators
  ScalarType results[ReduceOp::kMaxResults];  // of fresh results
  uint64_t reduced;                           // bit d: dim d is reduced
  Dims sizes;                                 // of each result
  int64_t numel;                              // of each result
  int64_t count;  // elements that make one element of a result
};

// Throws IndexError (dims), TypeError (dtypes), ValueError (an empty reduction
// without identity).
SY_API void plan_reduce(const ReduceOp& op, const ReduceArgs& args,
                        ReducePlan* plan);
SY_API void check_reduce(const ReduceOp& op, const ReduceArgs& args);
// For out=. Checks that its dtype can hold the result and that it does not
// overlap self. It may have to be resized.
SY_API void plan_reduce_out(const ReduceOp& op, const ReduceArgs& args,
                            const TensorBase& out, ReducePlan* plan);
SY_API void check_reduce_out(const ReduceOp& op, const ReduceArgs& args,
                             const TensorBase& out);
// The same for op.n_results results. Several results must have exactly their
// dtypes.
SY_API void plan_reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                             Tensor* const* outs, ReducePlan* plan);
SY_API void check_reduce_outs(const ReduceOp& op, const ReduceArgs& args,
                              Tensor* const* outs);

}  // namespace sy
