#pragma once

#include <vector>

#include "aten/program/op_desc.h"

namespace sy::testing {

// The programs of all derivatives that autograd runs as one kernel, as its
// generated code has them.
const std::vector<const PointwiseOp*>& fused_programs();

}  // namespace sy::testing
