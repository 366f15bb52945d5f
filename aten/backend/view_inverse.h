#pragma once

#include <vector>

#include "aten/tensor.h"
#include "c10/autograd_meta.h"
#include "c10/value.h"

// Views as functions, for backends whose tensors have no strides: such a
// backend computes a view, and a write to a view gives the base a new value.

namespace sy {

class OperatorEntry;

// The operator's arguments that the view was made with. `self`, the first
// tensor, is None.
SY_API std::vector<Value> view_arguments(const ViewMeta& meta);

// The view that `op` makes of `base` with `args`, which has all arguments of
// the operator. The argument for self is ignored. `output` says which of
// several results is wanted.
SY_API Tensor apply_view(const OperatorEntry& op, const Tensor& base,
                         std::vector<Value> args, int output);

// The value of `base` after `value` is written to the view that `op` makes of
// it with `args`. `value` has the sizes of the view. This is slice_scatter for
// slice, the inverse permutation for permute. No argument is written. It works
// for any operator whose result is a view of its first tensor: if no operator
// computes the inverse, it writes to the view of a copy of base.
SY_API Tensor view_inverse(const OperatorEntry& op, const Tensor& base,
                           const Tensor& value, std::vector<Value> args,
                           int output);

}  // namespace sy
