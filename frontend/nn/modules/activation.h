#pragma once

#include "frontend/nn/modules/with_options.h"
#include "frontend/nn/options/activation.h"

// Activations as modules. functional/activation.h has their formulas, and the
// bounds on their inputs.

namespace sy::nn {

// x above 0, alpha * (exp(x) - 1) below.
class SY_API ELUImpl : public detail::WithOptions<ELUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(ELU);

// elu times a scale, with constants that keep mean 0 and variance 1.
class SY_API SELUImpl : public detail::WithOptions<SELUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(SELU);

// x above 0, alpha * (exp(x / alpha) - 1) below. Throws ValueError for an alpha
// of 0.
class SY_API CELUImpl : public detail::WithOptions<CELUOptions> {
 public:
  explicit CELUImpl(const CELUOptions& options = {});
  void reset();
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(CELU);

// x, but 0 in [-lambda, lambda].
class SY_API HardshrinkImpl : public detail::WithOptions<HardshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(Hardshrink);

// x brought lambda nearer to 0, and 0 in [-lambda, lambda]. Throws ValueError
// for a lambda below 0.
class SY_API SoftshrinkImpl : public detail::WithOptions<SoftshrinkOptions> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& options = {});
  void reset();
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(Softshrink);

// x within [min_val, max_val], else the nearer bound. Throws ValueError unless
// min_val < max_val.
class SY_API HardtanhImpl : public detail::WithOptions<HardtanhOptions> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options = {});
  void reset();
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(Hardtanh);

// x / 6 + 1 / 2 within [0, 1]. Only Python has this one.
class SY_API HardsigmoidImpl : public detail::WithOptions<HardsigmoidOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
};
SY_MODULE(Hardsigmoid);

// x * hardsigmoid(x). Only Python has this one.
class SY_API HardswishImpl : public detail::WithOptions<HardswishOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
};
SY_MODULE(Hardswish);

// x above 0, negative_slope * x below.
class SY_API LeakyReLUImpl : public detail::WithOptions<LeakyReLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(LeakyReLU);

// log(1 / (1 + exp(-x))).
class SY_API LogSigmoidImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(LogSigmoid);

// exp(x) over its sum along dim.
class SY_API SoftmaxImpl : public detail::WithOptions<SoftmaxOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(Softmax);

// softmax(-x) along dim.
class SY_API SoftminImpl : public detail::WithOptions<SoftminOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(Softmin);

// log(softmax(x)) along dim.
class SY_API LogSoftmaxImpl : public detail::WithOptions<LogSoftmaxOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(LogSoftmax);

// softmax along the channels of (N, C, H, W) or (C, H, W). Throws ValueError
// for other numbers of dims.
class SY_API Softmax2dImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(Softmax2d);

// x above 0, weight * x below; one weight, or one for each channel (dim 1). The
// weight starts at `init`. Throws ValueError for less than 1 parameter.
class SY_API PReLUImpl : public detail::WithOptions<PReLUOptions> {
 public:
  explicit PReLUImpl(const PReLUOptions& options = {});
  // Makes a new weight by the options.
  void reset();
  void reset_parameters();
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;

  Parameter weight;
};
SY_MODULE(PReLU);

// x above 0, else 0.
class SY_API ReLUImpl : public detail::WithOptions<ReLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(ReLU);

// x within [0, 6], else the nearer bound.
class SY_API ReLU6Impl : public detail::WithOptions<ReLU6Options> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(ReLU6);

// x above 0, below a slope times x: in training a random one for each element,
// uniform within the bounds, else their mean. Throws ValueError for bounds in
// the wrong order.
class SY_API RReLUImpl : public detail::WithOptions<RReLUOptions> {
 public:
  explicit RReLUImpl(const RReLUOptions& options = {});
  void reset();
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(RReLU);

// The first half of dim times the sigmoid of the other.
class SY_API GLUImpl : public detail::WithOptions<GLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(GLU);

// x times the normal distribution function of x. Throws ValueError for an
// `approximate` other than "none" and "tanh".
class SY_API GELUImpl : public detail::WithOptions<GELUOptions> {
 public:
  explicit GELUImpl(GELUOptions options = {});
  void reset();
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(GELU);

// x * sigmoid(x).
class SY_API SiLUImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(SiLU);

// x * tanh(softplus(x)).
class SY_API MishImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(Mish);

// 1 / (1 + exp(-x)).
class SY_API SigmoidImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(Sigmoid);

// log(1 + exp(beta * x)) / beta.
class SY_API SoftplusImpl : public detail::WithOptions<SoftplusOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
  std::string extra_repr() const override;
};
SY_MODULE(Softplus);

// x / (1 + |x|).
class SY_API SoftsignImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(Softsign);

// The hyperbolic tangent.
class SY_API TanhImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(Tanh);

// x - tanh(x).
class SY_API TanhshrinkImpl : public Module {
 public:
  void reset() {}
  Tensor forward(const Tensor& input);
};
SY_MODULE(Tanhshrink);

// x above the threshold, else the value.
class SY_API ThresholdImpl : public detail::WithOptions<ThresholdOptions> {
 public:
  using WithOptions::WithOptions;
  ThresholdImpl(double threshold, double value)
      : WithOptions(ThresholdOptions(threshold, value)) {}
  Tensor forward(Tensor input);
  std::string extra_repr() const override;
};
SY_MODULE(Threshold);

}  // namespace sy::nn
