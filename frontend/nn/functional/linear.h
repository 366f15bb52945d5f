#pragma once

#include "aten/tensor.h"

namespace sy::nn::functional {

// input * weight^T + bias. An undefined bias stands for none.
SY_API Tensor linear(const Tensor& input, const Tensor& weight,
                     const Tensor& bias = {});
// y[..., k] = sum over i, j of input1[..., i] * weight[k, i, j] *
// input2[..., j], plus bias[k].
SY_API Tensor bilinear(const Tensor& input1, const Tensor& input2,
                       const Tensor& weight, const Tensor& bias = {});

}  // namespace sy::nn::functional
