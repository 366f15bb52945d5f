#pragma once

#include <optional>

#include "aten/program/op_desc.h"
#include "aten/tensor.h"

// The contract of scans. aten/engine/reduce.h is the contract of reductions.
// Results have the sizes of self. A scan that chooses has two results: values
// and int64 indices.

namespace sy {

struct ScanArgs {
  const TensorBase* self;
  int64_t dim = 0;
  // The dtype argument: self is converted to it first.
  std::optional<ScalarType> dtype = std::nullopt;
};

struct ScanPlan {
  int64_t dim;         // from the start
  ScalarType compute;  // of the accumulators
  ScalarType result;   // of a fresh first result
};

inline int result_count(const ScanOp& op) { return op.chooses ? 2 : 1; }

// Throws IndexError (dim), TypeError (dtypes).
SY_API void plan_scan(const ScanOp& op, const ScanArgs& args, ScanPlan* plan);
SY_API void check_scan(const ScanOp& op, const ScanArgs& args);
// For results in tensors that exist; outs[0] is self for the in-place form.
// An operator that promotes computes in the dtype of outs[0] without a dtype
// argument. The tensors must have the dtypes of the results.
SY_API void plan_scan_outs(const ScanOp& op, const ScanArgs& args,
                           Tensor* const* outs, ScanPlan* plan);
SY_API void check_scan_outs(const ScanOp& op, const ScanArgs& args,
                            Tensor* const* outs);

}  // namespace sy
