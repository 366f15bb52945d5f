#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/activation.h"

// Activations as functions. Results have the sizes of the input, but for glu.
// With `inplace` they are the input itself.

namespace sy::nn::functional {

// x above 0, alpha * (exp(x) - 1) below.
SY_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
// elu times a scale, with constants that keep mean 0 and variance 1.
SY_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
// x above 0, alpha * (exp(x / alpha) - 1) below.
SY_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
// x, but 0 in [-lambda, lambda].
SY_API Tensor hardshrink(const Tensor& input,
                         const HardshrinkFuncOptions& options = {});
// x brought lambda nearer to 0, and 0 in [-lambda, lambda].
SY_API Tensor softshrink(const Tensor& input,
                         const SoftshrinkFuncOptions& options = {});
// x within [min_val, max_val], else the nearer bound.
SY_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
// x / 6 + 1 / 2 within [0, 1].
SY_API Tensor hardsigmoid(Tensor input,
                          const HardsigmoidFuncOptions& options = {});
// x * hardsigmoid(x).
SY_API Tensor hardswish(Tensor input, const HardswishFuncOptions& options = {});
// x above 0, negative_slope * x below.
SY_API Tensor leaky_relu(Tensor input,
                         const LeakyReLUFuncOptions& options = {});
// log(1 / (1 + exp(-x))).
SY_API Tensor logsigmoid(const Tensor& input);
// exp(x) over its sum along dim.
SY_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
// softmax(-x).
SY_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
// log(softmax(x)).
SY_API Tensor log_softmax(const Tensor& input,
                          const LogSoftmaxFuncOptions& options);
// softmax((x + g) / tau) with random g, -log(-log(u)) of uniform u: samples of
// the classes with these logits. Throws ValueError for tau of 0 or less.
SY_API Tensor gumbel_softmax(const Tensor& logits,
                             const GumbelSoftmaxFuncOptions& options = {});
// The first half of dim times the sigmoid of the other. Throws ValueError for
// an input without dims.
SY_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
// x times the normal distribution function of x.
SY_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
// x * sigmoid(x).
SY_API Tensor silu(const Tensor& input);
// x * tanh(softplus(x)).
SY_API Tensor mish(const Tensor& input);
// x above 0, weight * x below; one weight, or one for each channel (dim 1).
SY_API Tensor prelu(const Tensor& input, const Tensor& weight);
// x above 0, else 0.
SY_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
// x within [0, 6], else the nearer bound.
SY_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
// x above 0, below a slope times x: in training a random one for each element,
// uniform within the bounds, else their mean.
SY_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});
// log(1 + exp(beta * x)) / beta.
SY_API Tensor softplus(const Tensor& input,
                       const SoftplusFuncOptions& options = {});
// x / (1 + |x|).
SY_API Tensor softsign(const Tensor& input);
// x - tanh(x).
SY_API Tensor tanhshrink(const Tensor& input);
// x above the threshold, else the value.
SY_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);

}  // namespace sy::nn::functional
