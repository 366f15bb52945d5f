#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "aten/tensor.h"
#include "c10/tensor/scalar.h"
#include "frontend/nn/options/enums.h"

// First values of parameters. Each function writes to the tensor, records no
// gradient, and returns the tensor. The fan of a weight [out, in, k…] is in, or
// out, times the product of k; such tensors have at least 2 dims: else
// ValueError.

namespace sy::nn::init {

using NonlinearityType =
    enumtype::OneOf<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D,
                    enumtype::kConv3D, enumtype::kConvTranspose1D,
                    enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                    enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU,
                    enumtype::kLeakyReLU, enumtype::kSELU>;
using FanModeType = enumtype::OneOf<enumtype::kFanIn, enumtype::kFanOut>;

// The gain that keeps the variance of activations: 1 for linear functions and
// sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2 / (1 + param^2)) for
// leaky_relu, 3/4 for selu.
SY_API double calculate_gain(NonlinearityType nonlinearity,
                             double param = 0.01);
// {fan in, fan out} of a weight.
SY_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(
    const Tensor& tensor);

SY_API Tensor constant_(Tensor tensor, const Scalar& value);
SY_API Tensor ones_(Tensor tensor);
SY_API Tensor zeros_(Tensor tensor);
// The identity; a matrix.
SY_API Tensor eye_(Tensor matrix);
// A convolution that gives its input, as far as it has channels for it; 3, 4 or
// 5 dims. Each of the groups does so for its own.
SY_API Tensor dirac_(Tensor tensor, int64_t groups = 1);
SY_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
SY_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
// Normal numbers, those outside of [a, b] drawn again, by the inverse of the
// distribution function.
SY_API Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1,
                            double a = -2, double b = 2);
// Rows, or columns, that are orthonormal, times `gain` (Saxe et al., 2013); at
// least 2 dims, of which those after the first count as one.
SY_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
// Normal numbers, of which a share of `sparsity` in each column is 0 (Martens,
// 2010); a matrix.
SY_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);
// Numbers of variance gain^2 / fan, where the gain is that of the nonlinearity
// with parameter `a` (He et al., 2015).
SY_API Tensor kaiming_normal_(Tensor tensor, double a = 0,
                              FanModeType mode = kFanIn,
                              NonlinearityType nonlinearity = kLeakyReLU);
SY_API Tensor kaiming_uniform_(Tensor tensor, double a = 0,
                               FanModeType mode = kFanIn,
                               NonlinearityType nonlinearity = kLeakyReLU);
// Numbers of variance 2 gain^2 / (fan in + fan out) (Glorot and Bengio, 2010).
SY_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
SY_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);

// Calls a function by the name in Python, "xavier_uniform_" or
// "xavier_uniform": one that needs nothing but the tensor. Throws ValueError,
// which lists the names.
SY_API Tensor by_name(std::string_view name, Tensor tensor);

}  // namespace sy::nn::init
