#pragma once

#include <optional>

#include "aten/program/op_desc.h"
#include "aten/tensor.h"

// The contract of scans, as aten/engine/reduce.h is that of reductions. A scan
// has the sizes of self; the results of one that chooses are values and int64
// indices.

namespace sy {

struct ScanArgs {
  const TensorBase* self;
  int64_t dim = 0;
  // The dtype argument: what self is converted to first.
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
// Into tensors that are there, self among them for the in-place form: without a
// dtype argument that of the first one is computed in. It has to fit.
SY_API void plan_scan_outs(const ScanOp& op, const ScanArgs& args,
                           Tensor* const* outs, ScanPlan* plan);
SY_API void check_scan_outs(const ScanOp& op, const ScanArgs& args,
                            Tensor* const* outs);

}  // namespace sy
