// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"

// Kernels written by hand. A kernel that ends in a `const Tensor& out` fills
// it; its arguments have been checked.
namespace sy::meta {

}  // namespace sy::meta
