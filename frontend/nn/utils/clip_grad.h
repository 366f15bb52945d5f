#pragma once

#include "aten/tensor.h"

namespace sy::nn::utils {

// The norm of all elements of all tensors, as PyTorch takes it: the norm of the
// tensors' norms, so that 0 counts the tensors that are not all 0. `norm_type`
// is that of linalg_vector_norm: infinity is the largest absolute value. 0
// without elements. Tensors may be on different devices: the result is on the
// first's. Throws ValueError, with `error_if_nonfinite`, for a norm that is
// infinite or NaN.
SY_API Tensor get_total_norm(TensorList tensors, double norm_type = 2.0,
                             bool error_if_nonfinite = false);

// Multiplies all gradients by max_norm / (norm + 1e-6) if the norm of all of
// them is above max_norm. Parameters without a gradient do not count. Returns
// the norm before: a tensor, so that nothing waits for it; it converts to a
// double. Nothing changes if it throws ValueError, as get_total_norm() does.
SY_API Tensor clip_grad_norm_tensor_(TensorList parameters, double max_norm,
                                     double norm_type = 2.0,
                                     bool error_if_nonfinite = false);
SY_API double clip_grad_norm_(TensorList parameters, double max_norm,
                              double norm_type = 2.0,
                              bool error_if_nonfinite = false);
SY_API double clip_grad_norm_(const Tensor& parameter, double max_norm,
                              double norm_type = 2.0,
                              bool error_if_nonfinite = false);

// Brings all elements of all gradients into [-clip_value, clip_value]. Throws
// ValueError for a negative one.
SY_API void clip_grad_value_(TensorList parameters, double clip_value);
SY_API void clip_grad_value_(const Tensor& parameter, double clip_value);

}  // namespace sy::nn::utils
