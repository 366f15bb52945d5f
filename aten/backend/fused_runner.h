#pragma once

#include "aten/engine/pointwise.h"

namespace sy {

// Runs a pointwise program that is no operator: what autograd made of a
// derivative. Same contract as the backend's pointwise kernels.
using FusedRunner = Tensor (*)(const PointwiseOp& op,
                               const PointwiseArgs& args);

// By backends that have one; nullptr takes it back. Thread-safe.
SY_API void register_fused_runner(DeviceType device,
                                  FusedRunner runner) noexcept;

// The result of `op`, or an undefined tensor if it has to be computed by
// operators: while gradients are being recorded, if inputs lie on several
// devices or have keys beyond their backend's, or without a runner.
SY_API Tensor fused_pointwise(const PointwiseOp& op, const PointwiseArgs& args);

}  // namespace sy
