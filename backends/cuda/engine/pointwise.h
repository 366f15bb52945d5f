#pragma once

#include "aten/engine/pointwise.h"

namespace sy {
class OperatorEntry;
}

namespace sy::cuda {

// Runs a pointwise operator on tensors of a device: checks the contract, makes
// the result, starts the kernel of the element program in the current stream.
// CPU tensors without dims may be among the inputs.
Tensor pointwise(const PointwiseOp& op, const PointwiseArgs& args);
// Makes all op.n_outputs results.
void pointwise_outputs(const PointwiseOp& op, const PointwiseArgs& args,
                       Tensor* results);

// Writes to `out`, which is resized if need be, or to `self`, which is also an
// input. After the checks the version of the written tensor is bumped with
// `writer`.
void pointwise_out(const PointwiseOp& op, const PointwiseArgs& args,
                   const OperatorEntry& writer, Tensor& out);
void pointwise_inplace(const PointwiseOp& op, const PointwiseArgs& args,
                       const OperatorEntry& writer, Tensor& self);

// to = from, converted: tensors of one device, of the same sizes and with any
// strides, that do not overlap but element by element. Checks nothing.
void copy_elements(const TensorBase& from, const TensorBase& to);

}  // namespace sy::cuda
