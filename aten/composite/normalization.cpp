#include "aten/ops/normalization.h"

#include <limits>
#include <tuple>

#include "aten/composite/normalization_scaled.h"
#include "aten/engine/geometry.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/math.h"
#include "aten/ops/normalization_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/result_type.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

using namespace scaling;

using OptionalTensor = std::optional<Tensor>;

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
           "[rms_norm] input: expected a floating dtype, got {}",
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

namespace {

// Layers that bring rows or groups to one scale, made of means, and their
// gradients: for backends that have no kernels of their own for them, and where
// gradients are differentiated again.

struct Scaled {
  Tensor rows, mean, rstd;
};

Scaled scaled(const Tensor& x, IntArrayRef dims, double eps) {
  const Tensor mean = sy::mean(x, dims, true);
  const Tensor centred = x - mean;
  const Tensor rstd =
      sy::rsqrt(sy::mean(sy::square(centred), dims, true) + eps);
  return {centred * rstd, mean, rstd};
}

struct RowShape {
  // Sizes of statistics that broadcast; dims within a row, and of rows.
  Dims statistics, inner, outer;

  RowShape(const Tensor& input, IntArrayRef shape) {
    const int64_t first = input.dim() - static_cast<int64_t>(shape.size());
    for (int64_t d = 0; d < input.dim(); ++d) {
      statistics.push_back(d < first ? input.size(d) : 1);
      (d < first ? outer : inner).push_back(d);
    }
  }
};

Tensor sum_over(const Tensor& t, const Dims& dims) {
  return dims.empty() ? t.clone() : sy::sum(t, dims);
}

// The gradients of input, weight and bias, as far as `mask` asks for them.
Three row_gradients(const Tensor& grad_out, const Optional& grad_mean,
                    const Optional& grad_rstd, const Tensor& input,
                    IntArrayRef shape, const Optional& mean, const Tensor& rstd,
                    const Optional& weight, const bool (&mask)[3]) {
  const RowShape rows(input, shape);
  const Standardized s(input, mean, rstd, rows.statistics, rows.inner);
  const ScalarType parameter = statistics_dtype(input, weight);
  const Tensor dy = widened(grad_out);
  Tensor dx, dw, db;
  if (mask[0]) {
    const Tensor g = given(weight) ? dy * widened(*weight) : dy;
    // Makes it row-major, as kernels do.
    dx = s.input_grad(g, grad_mean, grad_rstd)
             .to(input.scalar_type())
             .contiguous();
  }
  if (mask[1]) dw = sum_over(dy * s.scaled, rows.outer).to(parameter);
  if (mask[2]) db = sum_over(dy, rows.outer).to(parameter);
  return {dx, dw, db};
}

}  // namespace

Three layer_norm_by_mean(const Tensor& input, IntArrayRef normalized_shape,
                         const Optional& weight, const Optional& bias,
                         double eps) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < normalized_shape.size(); ++d) {
    dims.push_back(-1 - static_cast<int64_t>(d));
  }
  const Scaled s = scaled(widened(input), dims, eps);
  const ScalarType dtype = statistics_dtype(input, weight);
  return {
      affine(s.rows, weight, bias, normalized_shape).to(input.scalar_type()),
      s.mean.to(dtype), s.rstd.to(dtype)};
}

Three group_norm_by_mean(const Tensor& input, const Optional& weight,
                         const Optional& bias, int64_t N, int64_t C,
                         int64_t HxW, int64_t group, double eps) {
  const int64_t last[] = {2};
  const Scaled s =
      scaled(widened(input).reshape({N, group, C / group * HxW}), last, eps);
  const ScalarType dtype = statistics_dtype(input, weight);
  std::vector<int64_t> channels(static_cast<size_t>(input.dim()), 1);
  channels[1] = C;
  return {affine(s.rows.reshape(input.sizes()), weight, bias, channels)
              .to(input.scalar_type()),
          s.mean.reshape({N, group}).to(dtype),
          s.rstd.reshape({N, group}).to(dtype)};
}

std::tuple<Tensor, Tensor> rms_norm_by_mean(const Tensor& input,
                                            IntArrayRef normalized_shape,
                                            const Optional& weight,
                                            std::optional<double> eps) {
  const Tensor x = widened(input);
  const RowShape rows(x, normalized_shape);
  const double least = eps.value_or(
      x.scalar_type() == kDouble ? std::numeric_limits<double>::epsilon()
                                 : std::numeric_limits<float>::epsilon());
  const Tensor rstd =
      sy::rsqrt(sy::mean(sy::square(x), rows.inner, true) + least);
  return {affine(x * rstd, weight, std::nullopt, normalized_shape)
              .to(input.scalar_type()),
          rstd};
}

Three layer_norm_backward_by_mean(
    const Tensor& grad_out, const Optional& grad_mean,
    const Optional& grad_rstd, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd,
    const Optional& weight, ArrayRef<bool> output_mask) {
  return row_gradients(grad_out, grad_mean, grad_rstd, input, normalized_shape,
                       mean, rstd, weight,
                       {output_mask[0], output_mask[1], output_mask[2]});
}

std::tuple<Tensor, Tensor> rms_norm_backward_by_mean(
    const Tensor& grad_out, const Optional& grad_rstd, const Tensor& input,
    IntArrayRef normalized_shape, const Tensor& rstd, const Optional& weight,
    ArrayRef<bool> output_mask) {
  const auto [dx, dw, db] = row_gradients(
      grad_out, std::nullopt, grad_rstd, input, normalized_shape, std::nullopt,
      rstd, weight, {output_mask[0], output_mask[1], false});
  return {dx, dw};
}

Three group_norm_backward_by_mean(const Tensor& grad_out,
                                  const Optional& grad_mean,
                                  const Optional& grad_rstd,
                                  const Tensor& input, const Tensor& mean,
                                  const Tensor& rstd, const Optional& weight,
                                  int64_t group, ArrayRef<bool> output_mask) {
  const int64_t n = input.size(0), channels = input.size(1);
  const int64_t places =
      geometry::prod(geometry::slice(input.sizes(), 2, INT64_MAX));
  const Dims by_group(IntArrayRef({n, group, channels / group * places}));
  const Dims by_channel(IntArrayRef({n, channels, places}));
  const Standardized s(input.reshape(by_group), mean, rstd,
                       Dims(IntArrayRef({n, group, 1})), Dims(IntArrayRef(2)));
  const Tensor dy = widened(grad_out).reshape(by_channel);
  const ScalarType parameter = statistics_dtype(input, weight);
  Tensor dx, dw, db;
  if (output_mask[0]) {
    const Tensor g =
        given(weight) ? dy * widened(*weight).reshape({1, channels, 1}) : dy;
    dx = s.input_grad(g.reshape(by_group), grad_mean, grad_rstd)
             .reshape(input.sizes())
             .to(input.scalar_type());
  }
  if (output_mask[1]) {
    dw = sy::sum(dy * s.scaled.reshape(by_channel), {0, 2}).to(parameter);
  }
  if (output_mask[2]) db = sy::sum(dy, {0, 2}).to(parameter);
  return {dx, dw, db};
}

}  // namespace sy::composite
