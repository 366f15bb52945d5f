#include "frontend/nn/modules/dropout.h"

#include "frontend/nn/functional/dropout.h"

namespace sy::nn {

namespace detail {

DropoutModule::DropoutModule(const char* module, const DropoutOptions& options)
    : WithOptions(options) {
  check(module);
}

void DropoutModule::check(const char* module) const {
  SY_CHECK(options.p() >= 0 && options.p() <= 1, Value,
           "[{}] p: expected a probability in [0, 1], got {}", module,
           Scalar(options.p()));
}

std::string DropoutModule::extra_repr() const {
  return str("p={}, inplace={}", Scalar(options.p()),
             Scalar(options.inplace()));
}

}  // namespace detail

namespace {

functional::DropoutFuncOptions now(const DropoutOptions& options,
                                   bool training) {
  return functional::DropoutFuncOptions()
      .p(options.p())
      .training(training)
      .inplace(options.inplace());
}

functional::AlphaDropoutFuncOptions alpha_now(const DropoutOptions& options,
                                              bool training) {
  return functional::AlphaDropoutFuncOptions()
      .p(options.p())
      .training(training);
}

}  // namespace

Tensor DropoutImpl::forward(Tensor input) {
  return functional::dropout(std::move(input), now(options, is_training()));
}

Tensor Dropout1dImpl::forward(Tensor input) {
  return functional::dropout1d(std::move(input), now(options, is_training()));
}

Tensor Dropout2dImpl::forward(Tensor input) {
  return functional::dropout2d(std::move(input), now(options, is_training()));
}

Tensor Dropout3dImpl::forward(Tensor input) {
  return functional::dropout3d(std::move(input), now(options, is_training()));
}

Tensor AlphaDropoutImpl::forward(const Tensor& input) {
  return functional::alpha_dropout(input, alpha_now(options, is_training()));
}

Tensor FeatureAlphaDropoutImpl::forward(const Tensor& input) {
  return functional::feature_alpha_dropout(input,
                                           alpha_now(options, is_training()));
}

}  // namespace sy::nn
