#pragma once

#include <vector>

#include "aten/tensor.h"
#include "c10/autograd_meta.h"
#include "c10/value.h"

// Views as functions: for backends whose tensors have no strides, where a view
// is computed and a write to one gives its base another value.

namespace sy {

class OperatorEntry;

// The operator's arguments as the view was made with them; `self`, the first
// tensor, is None.
SY_API std::vector<Value> view_arguments(const ViewMeta& meta);

// The view of `base` that `op` makes with `args`, all of the operator's (what
// stands for self is not looked at). `output`: which of several results.
SY_API Tensor apply_view(const OperatorEntry& op, const Tensor& base,
                         std::vector<Value> args, int output);

// The value of `base` once the view that `op` makes with `args` has the
// elements of `value`, of the view's sizes: slice_scatter for slice, the
// inverse permutation for permute. No argument is written. For any operator
// whose result is a view of its first tensor: where no operator computes it, a
// copy of base is written to by the view.
SY_API Tensor view_inverse(const OperatorEntry& op, const Tensor& base,
                           const Tensor& value, std::vector<Value> args,
                           int output);
// Whether view_inverse calls operators without writes only.
SY_API bool has_pure_inverse(const OperatorEntry& op);

}  // namespace sy
