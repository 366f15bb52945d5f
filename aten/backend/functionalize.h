#pragma once

#include <vector>

#include "aten/tensor.h"
#include "c10/thread_state.h"

// Runs programs that have views and writes as calls without views and writes,
// for backends that record and for transforms.
//
// A functional tensor has sizes, strides, dtype and device like any other, but
// no memory, and it has the keys Functionalize and Wrapped. Its storage holds a
// value: an ordinary tensor that is never written. An operator on functional
// tensors computes with their values, and its results are functional again. A
// write computes the new elements with the operator's functional form
// (write_plan.h) and gives the storage a new value. A view is metadata alone:
// its value is computed from the value of its base when someone asks for it. A
// write to a view changes the value of the base (view_inverse.h). So a base and
// its views agree at all times, and kernels below see neither views nor writes.
//
// Autograd is a layer above: a functional tensor may require a gradient.
// Functional tensors are as thread-safe as other tensors.

namespace sy {

// A functional tensor with the value `t`, which it shares: `t` must not be
// written while the functional tensor is in use. Functional and undefined
// tensors are returned as they are. The result requires a gradient, as a leaf,
// if `t` does.
SY_API Tensor functionalize(const Tensor& t);
// The same for a list. Tensors that share memory still share it afterwards.
SY_API std::vector<Tensor> functionalize(TensorList tensors);

SY_API bool is_functional(const TensorBase& t);

// The current value of a functional tensor: an ordinary tensor that must not be
// written. Any other tensor is returned as it is. Autograd does not follow.
SY_API Tensor functional_value(const Tensor& t);

// While it lives, this thread also writes ordinary tensors with pure calls,
// whose results are then copied to the written tensors.
class FunctionalizeGuard : public IncludeDispatchKeyGuard {
 public:
  FunctionalizeGuard() noexcept
      : IncludeDispatchKeyGuard(DispatchKey::Functionalize) {}
};

// Ends a FunctionalizeGuard for its own scope, and allows calls on the values
// of functional tensors.
class NoFunctionalizeGuard : public ExcludeDispatchKeyGuard {
 public:
  NoFunctionalizeGuard() noexcept
      : ExcludeDispatchKeyGuard(DispatchKey::Functionalize) {}
};

}  // namespace sy
