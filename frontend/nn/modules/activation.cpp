#include "frontend/nn/modules/activation.h"

#include "aten/ops/activation.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "frontend/nn/functional/activation.h"

namespace sy::nn {

namespace {

// The text that Python prints after other options, and alone.
const char* and_inplace(bool inplace) {
  return inplace ? ", inplace=True" : "";
}
std::string only_inplace(bool inplace) { return inplace ? "inplace=True" : ""; }
std::string only_dim(int64_t dim) { return str("dim={}", dim); }

}  // namespace

Tensor ELUImpl::forward(Tensor input) {
  return functional::elu(std::move(input), options);
}

std::string ELUImpl::extra_repr() const {
  return str("alpha={}{}", Scalar(options.alpha()),
             and_inplace(options.inplace()));
}

Tensor SELUImpl::forward(Tensor input) {
  return functional::selu(std::move(input), options);
}

std::string SELUImpl::extra_repr() const {
  return only_inplace(options.inplace());
}

CELUImpl::CELUImpl(const CELUOptions& options) : WithOptions(options) {
  reset();
}

void CELUImpl::reset() {
  SY_CHECK(options.alpha() != 0, Value,
           "[CELU] alpha: expected a number other than 0, got 0");
}

Tensor CELUImpl::forward(Tensor input) {
  return functional::celu(std::move(input), options);
}

std::string CELUImpl::extra_repr() const {
  return str("alpha={}{}", Scalar(options.alpha()),
             and_inplace(options.inplace()));
}

Tensor HardshrinkImpl::forward(const Tensor& input) {
  return functional::hardshrink(input, options);
}

std::string HardshrinkImpl::extra_repr() const {
  return to_string(Scalar(options.lambda()));
}

SoftshrinkImpl::SoftshrinkImpl(const SoftshrinkOptions& options)
    : WithOptions(options) {
  reset();
}

void SoftshrinkImpl::reset() {
  SY_CHECK(options.lambda() >= 0, Value,
           "[Softshrink] lambda: expected at least 0, got {}",
           Scalar(options.lambda()));
}

Tensor SoftshrinkImpl::forward(const Tensor& input) {
  return functional::softshrink(input, options);
}

std::string SoftshrinkImpl::extra_repr() const {
  return to_string(Scalar(options.lambda()));
}

HardtanhImpl::HardtanhImpl(const HardtanhOptions& options)
    : WithOptions(options) {
  reset();
}

void HardtanhImpl::reset() {
  SY_CHECK(options.min_val() < options.max_val(), Value,
           "[Hardtanh] max_val: expected more than min_val, {}, got {}",
           Scalar(options.min_val()), Scalar(options.max_val()));
}

Tensor HardtanhImpl::forward(Tensor input) {
  return functional::hardtanh(std::move(input), options);
}

std::string HardtanhImpl::extra_repr() const {
  return str("min_val={}, max_val={}{}", Scalar(options.min_val()),
             Scalar(options.max_val()), and_inplace(options.inplace()));
}

Tensor HardsigmoidImpl::forward(Tensor input) {
  return functional::hardsigmoid(std::move(input), options);
}

Tensor HardswishImpl::forward(Tensor input) {
  return functional::hardswish(std::move(input), options);
}

Tensor LeakyReLUImpl::forward(Tensor input) {
  return functional::leaky_relu(std::move(input), options);
}

std::string LeakyReLUImpl::extra_repr() const {
  return str("negative_slope={}{}", Scalar(options.negative_slope()),
             and_inplace(options.inplace()));
}

Tensor LogSigmoidImpl::forward(const Tensor& input) {
  return functional::logsigmoid(input);
}

Tensor SoftmaxImpl::forward(const Tensor& input) {
  return functional::softmax(input, options.dim());
}

std::string SoftmaxImpl::extra_repr() const { return only_dim(options.dim()); }

Tensor SoftminImpl::forward(const Tensor& input) {
  return functional::softmin(input, options.dim());
}

std::string SoftminImpl::extra_repr() const { return only_dim(options.dim()); }

Tensor LogSoftmaxImpl::forward(const Tensor& input) {
  return functional::log_softmax(input, options.dim());
}

std::string LogSoftmaxImpl::extra_repr() const {
  return only_dim(options.dim());
}

Tensor Softmax2dImpl::forward(const Tensor& input) {
  SY_CHECK(input.dim() == 3 || input.dim() == 4, Value,
           "[Softmax2d] input: expected 4 dims, or 3 without a batch, got {}",
           describe(input));
  return sy::softmax(input, -3);
}

PReLUImpl::PReLUImpl(const PReLUOptions& options) : WithOptions(options) {
  reset();
}

void PReLUImpl::reset() {
  SY_CHECK(options.num_parameters() >= 1, Value,
           "[PReLU] num_parameters: expected at least 1, got {}",
           options.num_parameters());
  weight = set_parameter("weight",
                         sy::full({options.num_parameters()}, options.init(),
                                  TensorOptions().dtype(kFloat)));
}

void PReLUImpl::reset_parameters() {
  const NoGradGuard no_grad;
  weight.fill_(options.init());
}

Tensor PReLUImpl::forward(const Tensor& input) {
  return functional::prelu(input, weight);
}

std::string PReLUImpl::extra_repr() const {
  return str("num_parameters={}", options.num_parameters());
}

Tensor ReLUImpl::forward(Tensor input) {
  return functional::relu(std::move(input), options);
}

std::string ReLUImpl::extra_repr() const {
  return only_inplace(options.inplace());
}

Tensor ReLU6Impl::forward(Tensor input) {
  return functional::relu6(std::move(input), options);
}

std::string ReLU6Impl::extra_repr() const {
  return only_inplace(options.inplace());
}

RReLUImpl::RReLUImpl(const RReLUOptions& options) : WithOptions(options) {
  reset();
}

void RReLUImpl::reset() {
  SY_CHECK(options.lower() <= options.upper(), Value,
           "[RReLU] upper: expected at least lower, {}, got {}",
           Scalar(options.lower()), Scalar(options.upper()));
}

Tensor RReLUImpl::forward(Tensor input) {
  return functional::rrelu(std::move(input), functional::RReLUFuncOptions()
                                                 .lower(options.lower())
                                                 .upper(options.upper())
                                                 .training(is_training())
                                                 .inplace(options.inplace()));
}

std::string RReLUImpl::extra_repr() const {
  return str("lower={}, upper={}{}", Scalar(options.lower()),
             Scalar(options.upper()), and_inplace(options.inplace()));
}

Tensor GLUImpl::forward(const Tensor& input) {
  return functional::glu(input, options);
}

std::string GLUImpl::extra_repr() const { return only_dim(options.dim()); }

GELUImpl::GELUImpl(GELUOptions options) : WithOptions(std::move(options)) {
  reset();
}

void GELUImpl::reset() {
  SY_CHECK(options.approximate() == "none" || options.approximate() == "tanh",
           Value, "[GELU] approximate: expected 'none' or 'tanh', got '{}'",
           options.approximate());
}

Tensor GELUImpl::forward(const Tensor& input) {
  return functional::gelu(input, options);
}

std::string GELUImpl::extra_repr() const {
  return str("approximate='{}'", options.approximate());
}

Tensor SiLUImpl::forward(const Tensor& input) {
  return functional::silu(input);
}

Tensor MishImpl::forward(const Tensor& input) {
  return functional::mish(input);
}

Tensor SigmoidImpl::forward(const Tensor& input) { return sy::sigmoid(input); }

Tensor SoftplusImpl::forward(const Tensor& input) {
  return functional::softplus(input, options);
}

std::string SoftplusImpl::extra_repr() const {
  return str("beta={}, threshold={}", Scalar(options.beta()),
             Scalar(options.threshold()));
}

Tensor SoftsignImpl::forward(const Tensor& input) {
  return functional::softsign(input);
}

Tensor TanhImpl::forward(const Tensor& input) { return sy::tanh(input); }

Tensor TanhshrinkImpl::forward(const Tensor& input) {
  return functional::tanhshrink(input);
}

Tensor ThresholdImpl::forward(Tensor input) {
  return functional::threshold(std::move(input), options);
}

std::string ThresholdImpl::extra_repr() const {
  return str("threshold={}, value={}{}", Scalar(options.threshold()),
             Scalar(options.value()), and_inplace(options.inplace()));
}

}  // namespace sy::nn
