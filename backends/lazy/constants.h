#pragma once

#include "backends/lazy/value.h"
#include "c10/tensor/scalar.h"

// Values of one number. They are programs without operands, so regions that
// read them have the number and no memory.

namespace sy::lazy {

// A node, not yet among those to run, whose elements are all `value`.
intrusive_ptr<LazyNode> constant(const Scalar& value, ScalarType dtype,
                                 IntArrayRef sizes, IntArrayRef strides);
// Whether it is such a node.
bool is_constant(const LazyNode& n);
// The constant that a pointwise call of constants is; nullptr for other calls.
intrusive_ptr<LazyNode> folded(const LazyNode& call);

}  // namespace sy::lazy
