#pragma once

#include "aten/tensor.h"

namespace sy {

// The functions of the autograd library that Tensor's methods call. That
// library is above this one, so it registers them here. The table is its static
// data.
struct AutogradHooks {
  bool (*requires_grad)(const Tensor& t);
  void (*set_requires_grad)(const Tensor& t, bool v);
  void (*detach)(const Tensor& t);  // in place
  bool (*is_leaf)(const Tensor& t);
  const Tensor& (*grad)(const Tensor& t);
  Tensor& (*mutable_grad)(const Tensor& t);
  void (*retain_grad)(const Tensor& t);
  bool (*retains_grad)(const Tensor& t);
  void (*backward)(const Tensor& t, const Tensor& gradient, bool retain_graph,
                   bool create_graph);
};

// The autograd library calls this once, in a static initialiser.
SY_API void set_autograd_hooks(const AutogradHooks* hooks) noexcept;
// Throws NotImplementedError if that library is not linked.
SY_API const AutogradHooks& autograd_hooks();

}  // namespace sy
