#pragma once

#include <optional>

#include "aten/tensor.h"

// Checks of batch norms, shared by all backends.

namespace sy {

class OperatorEntry;

// Arguments of native_batch_norm; undefined tensors are absent.
struct BatchNormArgs {
  Tensor input, weight, bias, running_mean, running_var;
  bool training;  // with statistics of the batch
};

// Returns the dtype of parameters and statistics: the dtype of input, or
// float32 if input is Half or BFloat16 and one of them is float32. Throws
// ValueError, TypeError "[op] argument: expected X, got Y".
SY_API ScalarType check_batch_norm(const char* op, const BatchNormArgs& args);

// Also checks that grad_out has the sizes and dtype of input and, in training,
// that the saved statistics have one element for each channel.
SY_API void check_batch_norm_grad(const char* op, const Tensor& grad_out,
                                  const BatchNormArgs& args,
                                  const Tensor& save_mean,
                                  const Tensor& save_invstd);

// Says that `op` writes running statistics; undefined tensors are absent.
// Gradients that have saved them, and need them, find it out.
SY_API void note_running_write(const OperatorEntry& op, const Tensor& running);

}  // namespace sy
