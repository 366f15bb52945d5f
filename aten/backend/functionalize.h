#pragma once

#include <vector>

#include "aten/tensor.h"
#include "c10/thread_state.h"

// Programs with views and writes as calls that do neither, for backends that
// record and for transforms.
//
// A functional tensor has sizes, strides, dtype and device as any other, no
// memory, and the keys Functionalize and Wrapped. Its storage holds a value: an
// ordinary tensor, never written. What is computed of functional tensors is
// computed of their values and is functional again. A write computes the new
// elements by the operator's functional form (write_plan.h) and gives the
// storage another value; views are made of metadata alone and follow: the value
// of a view is computed of its base's when it is asked for, and a write to a
// view goes into the base by view_inverse.h. So a base and its views agree at
// all times, and kernels below see neither.
//
// Autograd stands above: a functional tensor may require a gradient.
// Functional tensors are as safe from several threads as others are.

namespace sy {

// A functional tensor with the value `t`, which it shares: `t` must not be
// written while the functional one is in use. A functional or undefined tensor
// is returned as it is. Requires a gradient if `t` does, as a leaf.
SY_API Tensor functionalize(const Tensor& t);
// The same; those that share memory do so afterwards.
SY_API std::vector<Tensor> functionalize(TensorList tensors);

SY_API bool is_functional(const TensorBase& t);

// The value of a functional tensor now, an ordinary tensor that is not to be
// written; any other tensor is returned as it is. Autograd does not follow.
SY_API Tensor functional_value(const Tensor& t);

// While it lives, writes of this thread to ordinary tensors too are pure calls,
// whose results are then copied to where they belong.
class FunctionalizeGuard : public IncludeDispatchKeyGuard {
 public:
  FunctionalizeGuard() noexcept
      : IncludeDispatchKeyGuard(DispatchKey::Functionalize) {}
};

// Ends one for its own scope, and lets functional tensors' values be worked on.
class NoFunctionalizeGuard : public ExcludeDispatchKeyGuard {
 public:
  NoFunctionalizeGuard() noexcept
      : ExcludeDispatchKeyGuard(DispatchKey::Functionalize) {}
};

}  // namespace sy
