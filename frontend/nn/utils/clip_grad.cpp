#include "frontend/nn/utils/clip_grad.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/foreach.h"
#include "aten/ops/foreach_arithmetic.h"
#include "aten/ops/norm.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"

namespace sy::nn::utils {

namespace {

// Tensors of one device and dtype, which one call of a foreach operator takes.
using Groups =
    std::map<std::pair<std::string, ScalarType>, std::vector<Tensor>>;

Groups grouped(TensorList tensors) {
  Groups groups;
  for (const Tensor& t : tensors) {
    groups[{t.device().str(), t.scalar_type()}].push_back(t);
  }
  return groups;
}

std::vector<Tensor> gradients_of(TensorList parameters) {
  std::vector<Tensor> grads;
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) grads.push_back(p.grad());
  }
  return grads;
}

}  // namespace

Tensor get_total_norm(TensorList tensors, double norm_type,
                      bool error_if_nonfinite) {
  if (tensors.empty()) return zeros({});
  const NoGradGuard no_grad;
  const Device device = tensors[0].device();
  const ScalarType dtype = tensors[0].scalar_type();
  // Tensors without elements change no norm, and have no largest one.
  std::vector<Tensor> full;
  for (const Tensor& t : tensors) {
    if (t.numel() != 0) full.push_back(t);
  }
  if (full.empty()) return zeros({}, TensorOptions(dtype).device(device));
  std::vector<Tensor> norms;
  for (const auto& [key, group] : grouped(full)) {
    for (const Tensor& n : _foreach_norm(group, norm_type)) {
      norms.push_back(n.to(device, dtype));
    }
  }
  Tensor total = linalg_vector_norm(stack(norms), norm_type);
  if (error_if_nonfinite) {
    const auto value = total.item().to<double>();
    SY_CHECK(std::isfinite(value), Value,
             "[get_total_norm] the norm of order {} is {}, so nothing can be "
             "clipped by it; error_if_nonfinite = false clips all the same",
             norm_type, value);
  }
  return total;
}

Tensor clip_grad_norm_tensor_(TensorList parameters, double max_norm,
                              double norm_type, bool error_if_nonfinite) {
  const std::vector<Tensor> grads = gradients_of(parameters);
  const Tensor total = get_total_norm(grads, norm_type, error_if_nonfinite);
  const NoGradGuard no_grad;
  const Tensor factor = (max_norm / (total + 1e-6)).clamp_max(1.0);
  for (const auto& [key, group] : grouped(grads)) {
    _foreach_mul_(group, factor.to(group[0].device(), group[0].scalar_type()));
  }
  return total;
}

double clip_grad_norm_(TensorList parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  return clip_grad_norm_tensor_(parameters, max_norm, norm_type,
                                error_if_nonfinite)
      .item()
      .to<double>();
}

double clip_grad_norm_(const Tensor& parameter, double max_norm,
                       double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(TensorList(&parameter, 1), max_norm, norm_type,
                         error_if_nonfinite);
}

void clip_grad_value_(TensorList parameters, double clip_value) {
  SY_CHECK(clip_value >= 0, Value,
           "[clip_grad_value_] clip_value: expected at least 0, got {}",
           clip_value);
  const NoGradGuard no_grad;
  for (const auto& [key, group] : grouped(gradients_of(parameters))) {
    _foreach_clamp_min_(group, -clip_value);
    _foreach_clamp_max_(group, clip_value);
  }
}

void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(TensorList(&parameter, 1), clip_value);
}

}  // namespace sy::nn::utils
