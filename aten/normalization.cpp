#include "aten/ops/normalization.h"

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/normalization_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/result_type.h"
#include "aten/shapes.h"
#include "c10/thread_state.h"

namespace sy::native {

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

Tensor sum_over(const Tensor& t, const Dims& dims) {
  return dims.empty() ? t : sy::sum(t, dims);
}

// Gradients by operators: rows are `inner` dims of x, statistics broadcast.
struct Standardized {
  Tensor x, rstd, scaled;  // scaled: (x - mean) * rstd
  Dims inner;
  double count;

  Tensor input_grad(const Tensor& g, bool centered,
                    const OptionalTensor& grad_mean,
                    const OptionalTensor& grad_rstd) const {
    Tensor d = g - scaled * sy::mean(g * scaled, inner, true);
    if (centered) d = d - sy::mean(g, inner, true);
    d = d * rstd;
    if (given(grad_mean)) {
      d = d + grad_mean->reshape(rstd.sizes()) / Scalar(count);
    }
    if (given(grad_rstd)) {
      d = d - grad_rstd->reshape(rstd.sizes()) * rstd * rstd * scaled /
                  Scalar(count);
    }
    return d;
  }
};

struct RowShape {
  Dims statistics, inner, outer;
  double count = 1;

  RowShape(const char* op, const Tensor& input, IntArrayRef shape) {
    const int64_t first = input.dim() - static_cast<int64_t>(shape.size());
    SY_CHECK(first >= 0, Value, "[", op,
             "] normalized_shape: expected at most ", input.dim(),
             " dims, got ", shape);
    for (int64_t d = 0; d < input.dim(); ++d) {
      statistics.push_back(d < first ? input.size(d) : 1);
      (d < first ? outer : inner).push_back(d);
      if (d >= first) count *= static_cast<double>(input.size(d));
    }
  }
};

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm_grads(
    const Tensor& grad_out, const OptionalTensor& grad_mean,
    const OptionalTensor& grad_rstd, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const OptionalTensor& weight, ArrayRef<bool> output_mask) {
  constexpr const char* kOp = "native_layer_norm_backward";
  if (!recorded(grad_out, input, mean, rstd, or_undefined(weight),
                or_undefined(grad_mean), or_undefined(grad_rstd))) {
    return sy::_layer_norm_backward(grad_out, grad_mean, grad_rstd, input,
                                    normalized_shape, mean, rstd, weight,
                                    output_mask);
  }
  const RowShape rows(kOp, input, normalized_shape);
  const Tensor r = rstd.reshape(rows.statistics);
  const Standardized s{input, r, (input - mean.reshape(rows.statistics)) * r,
                       rows.inner, rows.count};
  const ScalarType parameter = given(weight) ? weight->dtype() : input.dtype();
  Tensor dx, dw, db;
  if (output_mask[0]) {
    const Tensor g = given(weight) ? grad_out * *weight : grad_out;
    dx = s.input_grad(g, true, grad_mean, grad_rstd).to(input.dtype());
  }
  if (output_mask[1]) {
    dw = sum_over(grad_out * s.scaled, rows.outer).to(parameter);
  }
  if (output_mask[2]) db = sum_over(grad_out, rows.outer).to(parameter);
  return {dx, dw, db};
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
  constexpr const char* kOp = "_fused_rms_norm_backward";
  if (!recorded(grad_out, input, rstd, or_undefined(weight),
                or_undefined(grad_rstd))) {
    return sy::_rms_norm_backward(grad_out, grad_rstd, input, normalized_shape,
                                  rstd, weight, output_mask);
  }
  const RowShape rows(kOp, input, normalized_shape);
  const Tensor r = rstd.reshape(rows.statistics);
  const Standardized s{input, r, input * r, rows.inner, rows.count};
  Tensor dx, dw;
  if (output_mask[0]) {
    const Tensor g = given(weight) ? grad_out * *weight : grad_out;
    dx = s.input_grad(g, false, std::nullopt, grad_rstd).to(input.dtype());
  }
  if (output_mask[1]) {
    dw = sum_over(grad_out * s.scaled, rows.outer)
             .to(given(weight) ? weight->dtype() : input.dtype());
  }
  return {dx, dw};
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
  const int64_t n = input.size(0), channels = input.size(1);
  const int64_t places =
      shapes::prod(shapes::slice(input.sizes(), 2, INT64_MAX));
  const Dims by_group(IntArrayRef({n, group, channels / group * places}));
  const Dims by_channel(IntArrayRef({n, channels, places}));
  const Tensor r = rstd.reshape({n, group, 1});
  const Standardized s{
      input, r, (input.reshape(by_group) - mean.reshape({n, group, 1})) * r,
      Dims(IntArrayRef(2)), static_cast<double>(by_group[2])};
  const Tensor dy = grad_out.reshape(by_channel);
  const ScalarType parameter = given(weight) ? weight->dtype() : input.dtype();
  Tensor dx, dw, db;
  if (output_mask[0]) {
    const Tensor g =
        given(weight) ? dy * weight->reshape({1, channels, 1}) : dy;
    dx = s.input_grad(g.reshape(by_group), true, grad_mean, grad_rstd)
             .reshape(input.sizes())
             .to(input.dtype());
  }
  if (output_mask[1]) {
    dw = sy::sum(dy * s.scaled.reshape(by_channel), {0, 2}).to(parameter);
  }
  if (output_mask[2]) db = sy::sum(dy, {0, 2}).to(parameter);
  return {dx, dw, db};
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(
    const Tensor& grad_out, const Tensor& input, const Tensor& mean,
    const Tensor& rstd, const OptionalTensor& weight, int64_t, int64_t, int64_t,
    int64_t group, ArrayRef<bool> output_mask) {
  return group_norm_grads(grad_out, std::nullopt, std::nullopt, input, mean,
                          rstd, weight, group, output_mask);
}

}  // namespace sy::native
