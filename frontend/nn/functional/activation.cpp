#include "frontend/nn/functional/activation.h"

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/activation_gated.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/distribution.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"

namespace sy::nn::functional {

Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return options.inplace() ? sy::elu_(input, options.alpha())
                           : sy::elu(input, options.alpha());
}

Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return options.inplace() ? sy::selu_(input) : sy::selu(input);
}

Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return options.inplace() ? sy::celu_(input, options.alpha())
                           : sy::celu(input, options.alpha());
}

Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return sy::hardshrink(input, options.lambda());
}

Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return sy::softshrink(input, options.lambda());
}

Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  const Scalar low = options.min_val(), high = options.max_val();
  return options.inplace() ? sy::hardtanh_(input, low, high)
                           : sy::hardtanh(input, low, high);
}

Tensor hardsigmoid(Tensor input, const HardsigmoidFuncOptions& options) {
  return options.inplace() ? sy::hardsigmoid_(input) : sy::hardsigmoid(input);
}

Tensor hardswish(Tensor input, const HardswishFuncOptions& options) {
  return options.inplace() ? sy::hardswish_(input) : sy::hardswish(input);
}

Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  const Scalar slope = options.negative_slope();
  return options.inplace() ? sy::leaky_relu_(input, slope)
                           : sy::leaky_relu(input, slope);
}

Tensor logsigmoid(const Tensor& input) { return sy::log_sigmoid(input); }

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return sy::softmax(input, options.dim(), options.dtype());
}

Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return sy::softmax(-input, options.dim(), options.dtype());
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return sy::log_softmax(input, options.dim(), options.dtype());
}

Tensor gumbel_softmax(const Tensor& logits,
                      const GumbelSoftmaxFuncOptions& options) {
  SY_CHECK(options.tau() > 0, Value,
           "[gumbel_softmax] tau: expected more than 0, got {}",
           Scalar(options.tau()));
  const int64_t dim = options.dim();
  // -log(u) of uniform u is exponential.
  const Tensor noise = -sy::log(sy::exponential(logits.detach()));
  const Tensor soft =
      sy::softmax((logits + noise) / Scalar(options.tau()), dim);
  if (!options.hard()) return soft;
  const Tensor hard =
      sy::zeros_like(soft).scatter_(dim, soft.argmax(dim, true), Scalar(1.0));
  return hard - soft.detach() + soft;
}

Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  return sy::glu(input, options.dim());
}

Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return sy::gelu(input, options.approximate());
}

Tensor silu(const Tensor& input) { return sy::silu(input); }

Tensor mish(const Tensor& input) { return sy::mish(input); }

Tensor prelu(const Tensor& input, const Tensor& weight) {
  return sy::prelu(input, weight);
}

Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? sy::relu_(input) : sy::relu(input);
}

Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return options.inplace() ? sy::relu6_(input) : sy::relu6(input);
}

Tensor rrelu(Tensor input, const RReLUFuncOptions& options) {
  const Scalar lower = options.lower(), upper = options.upper();
  return options.inplace() ? sy::rrelu_(input, lower, upper, options.training())
                           : sy::rrelu(input, lower, upper, options.training());
}

Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return sy::softplus(input, options.beta(), options.threshold());
}

Tensor softsign(const Tensor& input) {
  return input / (sy::abs(input) + Scalar(1));
}

Tensor tanhshrink(const Tensor& input) { return input - sy::tanh(input); }

Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  const Scalar threshold = options.threshold(), value = options.value();
  return options.inplace() ? sy::threshold_(input, threshold, value)
                           : sy::threshold(input, threshold, value);
}

}  // namespace sy::nn::functional
