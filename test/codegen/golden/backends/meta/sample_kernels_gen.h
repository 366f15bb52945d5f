// Generated from test/codegen/testdata/sample.yaml by sygen. Do not edit.
#pragma once

#include "aten/tensor.h"

// Kernels written by hand. Those that end in a `const Tensor& out` fill it; the
// arguments have been checked.
namespace sy::meta {

}  // namespace sy::meta
