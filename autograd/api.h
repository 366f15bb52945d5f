#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aten/tensor.h"
#include "autograd/hooks.h"
#include "autograd/node.h"

// What users call. Tensor::backward, grad, requires_grad_ … are in
// aten/tensor.h; NoGradGuard, AutoGradMode and InferenceMode in
// c10/thread_state.h.

namespace sy::autograd {

// Adds the gradient of the sum over i of (tensors[i] * grad_tensors[i]) to
// .grad of all leaves that require one. No grad_tensors, or an undefined one:
// 1, for tensors of one element. The graph is freed unless retain_graph is set
// (default: as create_graph); create_graph records the gradients themselves.
// Throws ValueError for tensors without a history or gradients of other sizes,
// TypeError for dtypes; Error for a graph that is freed already, or whose saved
// tensors were overwritten. Safe in several threads at once.
SY_API void backward(TensorList tensors, TensorList grad_tensors = {},
                     std::optional<bool> retain_graph = std::nullopt,
                     bool create_graph = false);

// The gradients of the same sum with respect to `inputs`, leaves or not; .grad
// is not touched, and nothing else is computed. Inputs that the outputs do not
// depend on are an error, or with allow_unused give an undefined tensor.
SY_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs,
                                TensorList grad_outputs = {},
                                std::optional<bool> retain_graph = std::nullopt,
                                bool create_graph = false,
                                bool allow_unused = false);

// The name of the operation that made `t`, "mul.Tensor"; "" for leaves.
SY_API std::string grad_fn_name(const Tensor& t);

}  // namespace sy::autograd
