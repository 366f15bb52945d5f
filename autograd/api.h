#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "autograd/hooks.h"
#include "autograd/node.h"

// Functions for users. Tensor::backward, grad, requires_grad_ … are in
// aten/tensor.h; NoGradGuard, AutoGradMode and InferenceMode are in
// c10/dispatch/thread_state.h.

namespace sy::autograd {

// Computes the gradient of the sum over i of (tensors[i] * grad_tensors[i]) and
// adds it to .grad of all leaves that require one. An absent or undefined
// grad_tensor means 1, for a tensor of one element. The graph is freed unless
// retain_graph is set (default: create_graph). With create_graph the gradients
// are recorded themselves. Throws ValueError for tensors without a history or
// gradients of other sizes; TypeError for dtypes; Error for a graph that is
// freed already, or whose saved tensors were overwritten. Thread-safe.
SY_API void backward(TensorList tensors, TensorList grad_tensors = {},
                     std::optional<bool> retain_graph = std::nullopt,
                     bool create_graph = false);

// Returns the gradients of the same sum with respect to `inputs`, leaves or
// not. It leaves .grad alone and computes nothing else. An input that the
// outputs do not depend on is an error; with allow_unused its gradient is an
// undefined tensor.
SY_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                                TensorList grad_outputs = {},
                                std::optional<bool> retain_graph = std::nullopt,
                                bool create_graph = false,
                                bool allow_unused = false);

// The name of the operation that made `t`, "mul.Tensor"; "" for leaves.
SY_API std::string grad_fn_name(const Tensor& t);

}  // namespace sy::autograd
