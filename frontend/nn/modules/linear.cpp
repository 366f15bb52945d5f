#include "frontend/nn/modules/linear.h"

#include <cmath>

#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_products.h"
#include "aten/ops/shape.h"
#include "frontend/nn/functional/if_defined.h"
#include "frontend/nn/init.h"
#include "frontend/nn/python_text.h"

namespace sy::nn {

using detail::check_at_least;
using detail::if_defined;
using detail::python_bool;
using detail::python_tuple;

LinearImpl::LinearImpl(const LinearOptions& options) : options(options) {
  reset();
}

void LinearImpl::reset() {
  check_at_least(0, "Linear", "in_features", options.in_features());
  check_at_least(0, "Linear", "out_features", options.out_features());
  set_parameters(
      sy::empty({options.out_features(), options.in_features()}),
      options.bias() ? sy::empty({options.out_features()}) : Tensor());
  reset_parameters();
}

Tensor LinearImpl::forward(const Tensor& input) {
  return sy::linear(input, weight, if_defined(bias));
}

std::string LinearImpl::extra_repr() const {
  return str("in_features={}, out_features={}, bias={}", options.in_features(),
             options.out_features(), python_bool(bias.defined()));
}

BilinearImpl::BilinearImpl(const BilinearOptions& options) : options(options) {
  reset();
}

void BilinearImpl::reset() {
  check_at_least(1, "Bilinear", "in1_features", options.in1_features());
  check_at_least(0, "Bilinear", "in2_features", options.in2_features());
  check_at_least(0, "Bilinear", "out_features", options.out_features());
  set_parameters(
      sy::empty({options.out_features(), options.in1_features(),
                 options.in2_features()}),
      options.bias() ? sy::empty({options.out_features()}) : Tensor());
  reset_parameters();
}

void BilinearImpl::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return sy::bilinear(input1, input2, weight, if_defined(bias));
}

std::string BilinearImpl::extra_repr() const {
  return str("in1_features={}, in2_features={}, out_features={}, bias={}",
             options.in1_features(), options.in2_features(),
             options.out_features(), python_bool(bias.defined()));
}

Tensor FlattenImpl::forward(const Tensor& input) {
  return sy::flatten(input, options.start_dim(), options.end_dim());
}

std::string FlattenImpl::extra_repr() const {
  return str("start_dim={}, end_dim={}", options.start_dim(),
             options.end_dim());
}

Tensor UnflattenImpl::forward(const Tensor& input) {
  return sy::unflatten(input, options.dim(), options.sizes());
}

std::string UnflattenImpl::extra_repr() const {
  return str("dim={}, unflattened_size={}", options.dim(),
             python_tuple(options.sizes()));
}

}  // namespace sy::nn
