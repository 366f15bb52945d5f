#include "aten/ops/normalization.h"

#include "aten/engine/index_functions.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/normalization_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/result_type.h"
#include "c10/thread_state.h"

namespace sy::composite {

namespace {

using OptionalTensor = std::optional<Tensor>;

bool given(const OptionalTensor& t) { return t && t->defined(); }

// Whether gradients have to be made of operators that record.
template <class... T>
bool recorded(const T&... tensors) {
  const auto wants = [](const Tensor& t) {
    return t.defined() && t.requires_grad();
  };
  return GradMode::is_enabled() && (wants(tensors) || ...);
}
Tensor or_undefined(const OptionalTensor& t) { return t ? *t : Tensor(); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm_grads(
    const Tensor& grad_out, const OptionalTensor& grad_mean,
    const OptionalTensor& grad_rstd, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const OptionalTensor& weight, ArrayRef<bool> output_mask) {
  if (!recorded(grad_out, input, mean, rstd, or_undefined(weight),
                or_undefined(grad_mean), or_undefined(grad_rstd))) {
    return sy::_layer_norm_backward(grad_out, grad_mean, grad_rstd, input,
                                    normalized_shape, mean, rstd, weight,
                                    output_mask);
  }
  contract::_layer_norm_backward(grad_out, grad_mean, grad_rstd, input,
                                 normalized_shape, mean, rstd, weight,
                                 output_mask);
  return layer_norm_backward_by_mean(grad_out, grad_mean, grad_rstd, input,
                                     normalized_shape, mean, rstd, weight,
                                     output_mask);
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(
    const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape,
    const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
    const OptionalTensor&, ArrayRef<bool> output_mask) {
  return layer_norm_grads(grad_out, std::nullopt, std::nullopt, input,
                          normalized_shape, mean, rstd, weight, output_mask);
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                const OptionalTensor& weight, std::optional<double> eps) {
  if (!given(weight) || weight->dtype() == input.dtype()) {
    return std::get<0>(
        sy::_fused_rms_norm(input, normalized_shape, weight, eps));
  }
  SY_CHECK(input.is_floating_point(), Type,
           "[rms_norm] input: expected a floating dtype, got ",
           describe(input));
  const ScalarType wide = result_type({input, *weight});
  return std::get<0>(sy::_fused_rms_norm(input.to(wide), normalized_shape,
                                         weight->to(wide), eps))
      .to(input.dtype());
}

std::tuple<Tensor, Tensor> rms_norm_grads(
    const Tensor& grad_out, const OptionalTensor& grad_rstd,
    const Tensor& input, IntArrayRef normalized_shape, const Tensor& rstd,
    const OptionalTensor& weight, ArrayRef<bool> output_mask) {
  if (!recorded(grad_out, input, rstd, or_undefined(weight),
                or_undefined(grad_rstd))) {
    return sy::_rms_norm_backward(grad_out, grad_rstd, input, normalized_shape,
                                  rstd, weight, output_mask);
  }
  contract::_rms_norm_backward(grad_out, grad_rstd, input, normalized_shape,
                               rstd, weight, output_mask);
  return rms_norm_backward_by_mean(grad_out, grad_rstd, input, normalized_shape,
                                   rstd, weight, output_mask);
}

std::tuple<Tensor, Tensor> fused_rms_norm_backward(const Tensor& grad_out,
                                                   const Tensor& input,
                                                   IntArrayRef normalized_shape,
                                                   const Tensor& rstd,
                                                   const OptionalTensor& weight,
                                                   ArrayRef<bool> output_mask) {
  return rms_norm_grads(grad_out, std::nullopt, input, normalized_shape, rstd,
                        weight, output_mask);
}

std::tuple<Tensor, Tensor, Tensor> group_norm_grads(
    const Tensor& grad_out, const OptionalTensor& grad_mean,
    const OptionalTensor& grad_rstd, const Tensor& input, const Tensor& mean,
    const Tensor& rstd, const OptionalTensor& weight, int64_t group,
    ArrayRef<bool> output_mask) {
  if (!recorded(grad_out, input, mean, rstd, or_undefined(weight),
                or_undefined(grad_mean), or_undefined(grad_rstd))) {
    return sy::_group_norm_backward(grad_out, grad_mean, grad_rstd, input, mean,
                                    rstd, weight, group, output_mask);
  }
  contract::_group_norm_backward(grad_out, grad_mean, grad_rstd, input, mean,
                                 rstd, weight, group, output_mask);
  return group_norm_backward_by_mean(grad_out, grad_mean, grad_rstd, input,
                                     mean, rstd, weight, group, output_mask);
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(
    const Tensor& grad_out, const Tensor& input, const Tensor& mean,
    const Tensor& rstd, const OptionalTensor& weight, int64_t, int64_t, int64_t,
    int64_t group, ArrayRef<bool> output_mask) {
  return group_norm_grads(grad_out, std::nullopt, std::nullopt, input, mean,
                          rstd, weight, group, output_mask);
}

}  // namespace sy::composite
