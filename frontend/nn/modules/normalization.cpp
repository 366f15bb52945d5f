#include "frontend/nn/modules/normalization.h"

#include <algorithm>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/normalization.h"
#include "aten/ops/pooling.h"
#include "aten/ops/shape.h"
#include "frontend/nn/functional/if_defined.h"
#include "frontend/nn/functional/normalization.h"
#include "frontend/nn/init.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

using detail::check_at_least;
using detail::if_defined;
using detail::python_bool;
using detail::python_float;
using detail::python_tuple;

namespace {

void check_shape(std::string_view module, const std::vector<int64_t>& shape) {
  SY_CHECK(!shape.empty(), Value,
           "[{}] normalized_shape: expected at least one size, got []", module);
  for (const int64_t size : shape) {
    check_at_least(0, module, "normalized_shape", size);
  }
}

}  // namespace

LayerNormImpl::LayerNormImpl(LayerNormOptions options)
    : options(std::move(options)) {
  reset();
}

void LayerNormImpl::reset() {
  const auto& shape = options.normalized_shape();
  check_shape("LayerNorm", shape);
  const bool affine = options.elementwise_affine();
  set_parameters(affine ? sy::ones(shape) : Tensor(),
                 affine && options.bias() ? sy::zeros(shape) : Tensor());
}

void LayerNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return sy::layer_norm(input, options.normalized_shape(), if_defined(weight),
                        if_defined(bias), options.eps());
}

std::string LayerNormImpl::extra_repr() const {
  return str(
      "{}, eps={}, elementwise_affine={}, bias={}",
      python_tuple(options.normalized_shape()), python_float(options.eps()),
      python_bool(options.elementwise_affine()), python_bool(bias.defined()));
}

RMSNormImpl::RMSNormImpl(RMSNormOptions o) : options(std::move(o)) {
  const auto& shape = options.normalized_shape();
  check_shape("RMSNorm", shape);
  weight = register_parameter(
      "weight", options.elementwise_affine() ? sy::ones(shape) : Tensor());
}

void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}

Tensor RMSNormImpl::forward(const Tensor& input) {
  return sy::rms_norm(input, options.normalized_shape(), if_defined(weight),
                      options.eps());
}

std::string RMSNormImpl::extra_repr() const {
  return str("{}, eps={}, elementwise_affine={}",
             python_tuple(options.normalized_shape()),
             python_float(options.eps()),
             python_bool(options.elementwise_affine()));
}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options)
    : options(options) {
  reset();
}

void GroupNormImpl::reset() {
  const int64_t groups = options.num_groups(), n = options.num_channels();
  check_at_least(1, "GroupNorm", "num_groups", groups);
  check_at_least(0, "GroupNorm", "num_channels", n);
  SY_CHECK(n % groups == 0, Value,
           "[GroupNorm] num_channels: expected a multiple of the {} groups, "
           "got {}",
           groups, n);
  set_parameters(options.affine() ? sy::ones({n}) : Tensor(),
                 options.affine() ? sy::zeros({n}) : Tensor());
}

void GroupNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

Tensor GroupNormImpl::forward(const Tensor& input) {
  return sy::group_norm(input, options.num_groups(), if_defined(weight),
                        if_defined(bias), options.eps());
}

std::string GroupNormImpl::extra_repr() const {
  return str("{}, {}, eps={}, affine={}, bias={}", options.num_groups(),
             options.num_channels(), python_float(options.eps()),
             python_bool(options.affine()), python_bool(bias.defined()));
}

Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return functional::local_response_norm(input, options);
}

std::string LocalResponseNormImpl::extra_repr() const {
  return str("{}, alpha={}, beta={}, k={}", options.size(),
             python_float(options.alpha()), python_float(options.beta()),
             python_float(options.k()));
}

Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  SY_CHECK(input.dim() == 4, Value,
           "[CrossMapLRN2d] input: expected 4 dimensions, got {}", input.dim());
  check_at_least(1, "CrossMapLRN2d", "size", options.size());
  const int64_t channels = input.size(1);
  const int64_t reach = (options.size() - 1) / 2;
  const Tensor squares = input.mul(input);
  // The sum over a window is the pool of one column with a divisor of 1.
  Tensor sums =
      sy::avg_pool2d(squares.reshape({input.size(0), 1, channels, -1}),
                     {2 * reach + 1, 1}, 1, {reach, 0}, false, true, 1)
          .reshape(input.sizes());
  if (channels > reach + 1) {
    const Tensor near = sums.narrow(1, 0, reach + 1);
    const Tensor far = sums.narrow(1, reach + 1, channels - reach - 1);
    sums = sy::cat({near, far + squares.narrow(1, 0, 1)}, 1);
  }
  const double alpha = options.alpha() / static_cast<double>(options.size());
  return input * sums.mul(alpha).add(options.k()).pow(-options.beta());
}

std::string CrossMapLRN2dImpl::extra_repr() const {
  return str("{}, alpha={}, beta={}, k={}", options.size(),
             python_float(options.alpha()), python_float(options.beta()),
             options.k());
}

}  // namespace sy::nn
