// Layers that bring rows, groups or channels to one scale, made of means, and
// their gradients: for backends that have no kernels of their own for them, and
// where gradients are differentiated again. Narrow floats are computed in
// float32.

#include <limits>
#include <tuple>

#include "aten/contract/batch_norm.h"
#include "aten/engine/index_functions.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/batch_norm_kernels.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/normalization.h"
#include "aten/ops/normalization_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;
using Optional = std::optional<Tensor>;

bool given(const Optional& t) { return t && t->defined(); }

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

// times weight plus bias, as far as they are there, brought to `sizes`.
Tensor affine(Tensor rows, const Optional& weight, const Optional& bias,
              IntArrayRef sizes) {
  if (given(weight)) {
    rows = rows * widened(*weight).to(rows.scalar_type()).reshape(sizes);
  }
  if (given(bias)) {
    rows = rows + widened(*bias).to(rows.scalar_type()).reshape(sizes);
  }
  return rows;
}

ScalarType statistics_dtype(const Tensor& input, const Optional& weight) {
  return given(weight) ? weight->scalar_type() : input.scalar_type();
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

// Of gradients: rows are the `inner` dims, statistics broadcast.
struct Standardized {
  Tensor scaled, rstd;  // scaled: (x - mean) * rstd
  Dims inner;
  bool centered;

  Standardized(const Tensor& input, const Optional& mean, const Tensor& r,
               const Dims& statistics, const Dims& inner_dims)
      : rstd(widened(r).reshape(statistics)),
        inner(inner_dims),
        centered(given(mean)) {
    const Tensor x = widened(input);
    scaled = (centered ? x - widened(*mean).reshape(statistics) : x) * rstd;
  }

  // The gradient of what was scaled to that of x.
  Tensor input_grad(const Tensor& g, const Optional& grad_mean,
                    const Optional& grad_rstd) const {
    Tensor d = g - scaled * sy::mean(g * scaled, inner, true);
    if (centered) d = d - sy::mean(g, inner, true);
    d = d * rstd;
    double count = 1;
    for (const int64_t dim : inner) {
      count *= static_cast<double>(scaled.size(dim));
    }
    if (given(grad_mean)) {
      d = d + widened(*grad_mean).reshape(rstd.sizes()) / Scalar(count);
    }
    if (given(grad_rstd)) {
      d = d - widened(*grad_rstd).reshape(rstd.sizes()) * rstd * rstd * scaled /
                  Scalar(count);
    }
    return d;
  }
};

Tensor sum_over(const Tensor& t, const Dims& dims) {
  return dims.empty() ? t.clone() : sy::sum(t, dims);
}

// Those of input, weight and bias, as far as `mask` asks for them.
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
    dx = s.input_grad(g, grad_mean, grad_rstd).to(input.scalar_type());
  }
  if (mask[1]) dw = sum_over(dy * s.scaled, rows.outer).to(parameter);
  if (mask[2]) db = sum_over(dy, rows.outer).to(parameter);
  return {dx, dw, db};
}

Tensor or_undefined(const Optional& t) { return given(t) ? *t : Tensor(); }

// Dim 1 of a batch; the other dims are a channel's own.
struct ChannelShape {
  Dims statistics, inner;
  double count = 1;  // of elements of one channel

  explicit ChannelShape(const Tensor& input) {
    for (int64_t d = 0; d < input.dim(); ++d) {
      statistics.push_back(d == 1 ? input.size(d) : 1);
      if (d == 1) continue;
      inner.push_back(d);
      count *= static_cast<double>(input.size(d));
    }
  }
};

// (1 - momentum) * running + momentum * now
Tensor followed(const Tensor& running, const Tensor& now, double momentum) {
  return widened(running) * (1 - momentum) + now * momentum;
}

// The mean and the variance of each channel. The running ones follow, the
// variance by the unbiased one: last, as a call that falls back is made again,
// and without a new version, as gradients may have saved them.
std::tuple<Tensor, Tensor> channel_statistics(const Tensor& x,
                                              const ChannelShape& shape,
                                              const Tensor& running_mean,
                                              const Tensor& running_var,
                                              double momentum) {
  const Tensor mean = sy::mean(x, shape.inner, true);
  const Tensor squares = sy::sum(sy::square(x - mean), shape.inner);
  const Tensor flat = mean.reshape(squares.sizes());
  Tensor next_mean, next_var;
  if (running_mean.defined()) {
    next_mean = followed(running_mean, flat, momentum);
  }
  if (running_var.defined()) {
    next_var =
        followed(running_var, squares / Scalar(shape.count - 1), momentum);
  }
  if (next_mean.defined()) sy::_copy_from(next_mean, running_mean);
  if (next_var.defined()) sy::_copy_from(next_var, running_var);
  return {flat, squares / Scalar(shape.count)};
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
      shapes::prod(shapes::slice(input.sizes(), 2, INT64_MAX));
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

Three batch_norm_by_mean(const Tensor& input, const Optional& weight,
                         const Optional& bias, const Optional& running_mean,
                         const Optional& running_var, bool training,
                         double momentum, double eps) {
  const BatchNormArgs args{input,
                           or_undefined(weight),
                           or_undefined(bias),
                           or_undefined(running_mean),
                           or_undefined(running_var),
                           training};
  const ScalarType dtype = check_batch_norm("native_batch_norm", args);
  const ChannelShape shape(input);
  const Tensor x = widened(input);
  Tensor mean, variance;
  if (training) {
    std::tie(mean, variance) = channel_statistics(x, shape, args.running_mean,
                                                  args.running_var, momentum);
  } else {
    mean = widened(args.running_mean);
    variance = widened(args.running_var);
  }
  const Tensor invstd = sy::rsqrt(variance + eps);
  const Tensor rows =
      (x - mean.reshape(shape.statistics)) * invstd.reshape(shape.statistics);
  const Tensor none = sy::empty({0}, input.options().dtype(dtype));
  return {affine(rows, weight, bias, shape.statistics).to(input.scalar_type()),
          training ? mean.to(dtype) : none,
          training ? invstd.to(dtype) : none.clone()};
}

Three batch_norm_backward_by_mean(const Tensor& grad_out, const Tensor& input,
                                  const Optional& weight,
                                  const Optional& running_mean,
                                  const Optional& running_var,
                                  const Optional& save_mean,
                                  const Optional& save_invstd, bool train,
                                  double eps, ArrayRef<bool> output_mask) {
  const BatchNormArgs args{input,
                           or_undefined(weight),
                           Tensor(),
                           or_undefined(running_mean),
                           or_undefined(running_var),
                           train};
  check_batch_norm_grad("native_batch_norm_backward", grad_out, args,
                        or_undefined(save_mean), or_undefined(save_invstd));
  const ChannelShape shape(input);
  const Standardized s(
      input, train ? save_mean : running_mean,
      train ? *save_invstd : sy::rsqrt(widened(*running_var) + eps),
      shape.statistics, shape.inner);
  const ScalarType parameter = statistics_dtype(input, weight);
  const Tensor dy = widened(grad_out);
  Tensor dx, dw, db;
  if (output_mask[0]) {
    const Tensor g = affine(dy, weight, std::nullopt, shape.statistics);
    dx = (train ? s.input_grad(g, std::nullopt, std::nullopt) : g * s.rstd)
             .to(input.scalar_type());
  }
  if (output_mask[1]) dw = sy::sum(dy * s.scaled, shape.inner).to(parameter);
  if (output_mask[2]) db = sy::sum(dy, shape.inner).to(parameter);
  return {dx, dw, db};
}

std::tuple<Tensor, Tensor> batch_norm_update_stats_by_mean(
    const Tensor& input, const Optional& running_mean,
    const Optional& running_var, double momentum) {
  const BatchNormArgs args{input,
                           Tensor(),
                           Tensor(),
                           or_undefined(running_mean),
                           or_undefined(running_var),
                           true};
  const ScalarType dtype = check_batch_norm("batch_norm_update_stats", args);
  const auto [mean, variance] =
      channel_statistics(widened(input), ChannelShape(input), args.running_mean,
                         args.running_var, momentum);
  return {mean.to(dtype), variance.to(dtype)};
}

}  // namespace sy::composite
