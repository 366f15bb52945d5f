#pragma once

#include "aten/engine/pointwise.h"

namespace sy {
class OperatorEntry;
}

namespace sy::meta {

// The kernels of the Meta device, like those of
// backends/cpu/engine/pointwise.h: contract and result, no data.
SY_API Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args);
SY_API void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                              Tensor* results);
SY_API void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                          const OperatorEntry& writer, Tensor& out);
SY_API void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                              const OperatorEntry& writer, Tensor& self);

}  // namespace sy::meta
