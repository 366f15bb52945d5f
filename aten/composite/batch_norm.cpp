#include "aten/contract/batch_norm.h"

#include <tuple>

#include "aten/composite/normalization_scaled.h"
#include "aten/engine/dims.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/batch_norm.h"
#include "aten/ops/batch_norm_kernels.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

using namespace scaling;

using MaybeTensor = std::optional<Tensor>;

Tensor reserve_of(const Tensor& input) {
  return sy::empty({0}, input.options().dtype(kByte));
}

// One element for each channel, to go with `like`.
Tensor along_channels(const Tensor& t, const Tensor& like) {
  Dims sizes;
  for (int64_t d = 0; d < like.dim(); ++d) sizes.push_back(1);
  sizes[1] = t.numel();
  return t.reshape(sizes);
}

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

Tensor sum_channels(const Tensor& t) {
  Dims dims;
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  return sy::sum(t, IntArrayRef(dims));
}

}  // namespace

// With u = (x - mean) s, the gradients are w s P(g), sum(g u) and sum(g), where
// P takes a tensor's parts along 1 and u away in training, and nothing else.
// The derivatives of u and s by x are s P and -s s u / n.
std::tuple<Tensor, Tensor, Tensor> batch_norm_double_backward(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& ggI,
    const MaybeTensor& ggG, const MaybeTensor& ggB, const Tensor& gO,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    bool training, double eps, const MaybeTensor& save_mean,
    const MaybeTensor& save_invstd) {
  const auto given = [](const MaybeTensor& t) { return t && t->defined(); };
  const bool has_weight = given(weight);
  SY_CHECK(given(training ? save_mean : running_mean) &&
               given(training ? save_invstd : running_var),
           Value,
           "[_batch_norm_double_backward] {}: expected the statistics of the "
           "forward pass, got none",
           training ? "save_mean" : "running_mean");
  const Tensor one =
      sy::ones({1}, TensorOptions(input.scalar_type()).device(input.device()));
  const Tensor w = has_weight ? along_channels(*weight, input) : one;
  Tensor mean, s;
  if (training && GradMode::is_enabled() && input.requires_grad()) {
    // The saved statistics are constants, and these change with the input.
    const Tensor x = widened(input);
    const ChannelShape shape(input);
    mean = sy::mean(x, shape.inner, true);
    s = sy::rsqrt(sy::mean(sy::square(x - mean), shape.inner, true) + eps);
  } else if (training) {
    mean = along_channels(*save_mean, input);
    s = along_channels(*save_invstd, input);
  } else {
    mean = along_channels(*running_mean, input);
    s = along_channels(sy::rsqrt(running_var->add(Scalar(eps))), input);
  }
  const Tensor u = input.sub(mean).mul(s);
  const auto sums = [&](const Tensor& t) {
    return along_channels(sum_channels(t), input);
  };
  const double n = input.size(1) == 0 ? 1
                                      : static_cast<double>(input.numel()) /
                                            static_cast<double>(input.size(1));
  const auto share = [&](const Tensor& t) { return t.mul(Scalar(1 / n)); };
  // t less its parts along 1 and u, as the statistics take them away.
  const auto projected = [&](const Tensor& t) {
    return training ? t.sub(share(sums(t).add(u.mul(sums(t.mul(u)))))) : t;
  };

  const auto zeros = [](const Tensor& t) {
    return sy::zeros(t.sizes(), t.options());
  };
  Tensor by_input = zeros(input), by_grad = zeros(gO);
  Tensor by_weight = has_weight ? zeros(*weight) : Tensor();
  const auto add = [](Tensor& to, const Tensor& t) { to = to.add(t); };
  if (given(ggI)) {
    const Tensor v = projected(*ggI), p = projected(gO);
    add(by_grad, v.mul(w).mul(s));
    if (has_weight) add(by_weight, sum_channels(ggI->mul(p).mul(s)));
    if (training) {
      // The gradient of ggI . P(x) gO, where u and s change with x.
      const Tensor gu = sums(gO.mul(u)), vu = sums(ggI->mul(u));
      const Tensor inner = sums(ggI->mul(p));
      const Tensor t = p.mul(vu).add(v.mul(gu)).add(u.mul(inner));
      add(by_input, share(t.mul(w).mul(s).mul(s)).neg());
    }
  }
  if (given(ggG)) {
    const Tensor c = along_channels(*ggG, input);
    add(by_grad, c.mul(u));
    add(by_input, projected(gO).mul(c).mul(s));
  }
  if (given(ggB)) add(by_grad, along_channels(*ggB, input));
  return {by_input, by_weight, by_grad};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(
    const Tensor& grad_out, const Tensor& input, const Tensor& weight,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    const MaybeTensor& save_mean, const MaybeTensor& save_var, bool update,
    double eps, ArrayRef<bool> output_mask, const Tensor&) {
  return sy::native_batch_norm_backward(grad_out, input, weight, running_mean,
                                        running_var, save_mean, save_var,
                                        update, eps, output_mask);
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm_legit(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    Tensor& running_mean, Tensor& running_var, bool training, double momentum,
    double eps) {
  return sy::native_batch_norm(input, weight, bias, running_mean, running_var,
                               training, momentum, eps);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_with_update(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    Tensor& running_mean, Tensor& running_var, double momentum, double eps) {
  auto [out, mean, invstd] = sy::native_batch_norm(
      input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {out, mean, invstd, reserve_of(input)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>
native_batch_norm_legit_functional(const Tensor& input,
                                   const MaybeTensor& weight,
                                   const MaybeTensor& bias,
                                   const Tensor& running_mean,
                                   const Tensor& running_var, bool training,
                                   double momentum, double eps) {
  const Tensor new_mean = running_mean.clone(), new_var = running_var.clone();
  auto [out, mean, invstd] = sy::native_batch_norm(
      input, weight, bias, new_mean, new_var, training, momentum, eps);
  return {out, mean, invstd, new_mean, new_var};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>
batch_norm_with_update_functional(const Tensor& input,
                                  const MaybeTensor& weight,
                                  const MaybeTensor& bias,
                                  const Tensor& running_mean,
                                  const Tensor& running_var, double momentum,
                                  double eps) {
  auto [out, mean, invstd, new_mean, new_var] =
      native_batch_norm_legit_functional(input, weight, bias, running_mean,
                                         running_var, true, momentum, eps);
  return {out, mean, invstd, reserve_of(input), new_mean, new_var};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_no_update(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    double momentum, double eps) {
  auto [out, mean, invstd] = sy::native_batch_norm(
      input, weight, bias, running_mean, running_var, false, momentum, eps);
  return {out, mean, invstd, reserve_of(input)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t> batch_norm_impl_index(
    const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    bool training, double momentum, double eps, bool) {
  auto [out, mean, invstd] = sy::native_batch_norm(
      input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {out, mean, invstd, reserve_of(input), 0};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_impl_index_backward(
    int64_t impl_index, const Tensor& input, const Tensor& grad_output,
    const MaybeTensor& weight, const MaybeTensor& running_mean,
    const MaybeTensor& running_var, const MaybeTensor& save_mean,
    const MaybeTensor& save_var_transform, bool train, double eps,
    ArrayRef<bool> output_mask, const Tensor&) {
  SY_CHECK(impl_index == 0, Value,
           "[_batch_norm_impl_index_backward] impl_index: expected 0, got {}",
           impl_index);
  return sy::native_batch_norm_backward(
      grad_output, input, weight, running_mean, running_var, save_mean,
      save_var_transform, train, eps, output_mask);
}

// Each channel of each element of the batch is a channel of one batch.
Tensor instance_norm(const Tensor& input, const MaybeTensor& weight,
                     const MaybeTensor& bias, const MaybeTensor& running_mean,
                     const MaybeTensor& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled) {
  const auto given = [](const MaybeTensor& t) { return t && t->defined(); };
  SY_CHECK(input.dim() >= 2, Value,
           "[instance_norm] input: expected at least 2 dims, got {}",
           input.sizes());
  SY_CHECK(use_input_stats || (given(running_mean) && given(running_var)),
           Value,
           "[instance_norm] running_mean: expected running statistics, as "
           "use_input_stats is off");
  const int64_t batch = input.size(0), channels = input.size(1);
  const auto repeated = [&](const char* name, const MaybeTensor& t) {
    if (!given(t)) return Tensor();
    SY_CHECK(t->dim() == 1 && t->size(0) == channels, Value,
             "[instance_norm] {}: expected sizes [{}], got {}", name, channels,
             t->sizes());
    return t->repeat({batch});
  };
  Dims sizes(input.sizes());
  sizes[0] = 1;
  sizes[1] = batch * channels;
  Tensor mean = repeated("running_mean", running_mean);
  Tensor var = repeated("running_var", running_var);
  const Tensor out =
      sy::batch_norm(input.contiguous().view(sizes), repeated("weight", weight),
                     repeated("bias", bias), mean, var, use_input_stats,
                     momentum, eps, cudnn_enabled);
  // Running statistics take the mean over the batch.
  if (given(running_mean)) {
    running_mean->detach().copy_(mean.view({batch, channels}).mean({0}));
  }
  if (given(running_var)) {
    running_var->detach().copy_(var.view({batch, channels}).mean({0}));
  }
  return out.view(input.sizes());
}

namespace {

// Channels brought to one scale, made of means, and the gradients: for backends
// that have no kernels of their own for it.

Tensor or_undefined(const Optional& t) { return given(t) ? *t : Tensor(); }

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
