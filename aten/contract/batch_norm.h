#pragma once

#include <optional>

#include "aten/tensor.h"

// What batch norms of every backend check and make.

namespace sy {

// Arguments of native_batch_norm; undefined tensors are absent.
struct BatchNormArgs {
  Tensor input, weight, bias, running_mean, running_var;
  bool training;  // by statistics of the batch
};

// Throws ValueError, TypeError "[op] argument: expected X, got Y". Gives the
// dtype of parameters and statistics: that of input, or float32 beside a
// reduced one.
SY_API ScalarType check_batch_norm(const char* op, const BatchNormArgs& args);

// grad_out goes with input, saved statistics (in training) have one element
// for each channel.
SY_API void check_batch_norm_grad(const char* op, const Tensor& grad_out,
                                  const BatchNormArgs& args,
                                  const Tensor& save_mean,
                                  const Tensor& save_invstd);

}  // namespace sy
