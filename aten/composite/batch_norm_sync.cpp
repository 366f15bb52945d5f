#include <tuple>

#include "aten/engine/dims.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/batch_norm_sync_kernels.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/variance.h"

// Batch norm in the steps between which ranks exchange statistics.

namespace sy::composite {

namespace {

using MaybeTensor = std::optional<Tensor>;

bool given(const MaybeTensor& t) { return t && t->defined(); }

// Dim 1 of a checked input has the channels.
struct Channels {
  const char* op;
  int64_t count;
  ScalarType dtype;       // of input
  ScalarType statistics;  // of means, sums and the like
  Dims along;             // sizes of a statistic that goes with the input
  Dims inner;             // the dims of one channel

  Channels(const char* name, const Tensor& input) : op(name) {
    SY_CHECK(is_floating_type(input.scalar_type()), Type,
             "[{}] input: expected a floating dtype, got {}", op,
             input.scalar_type());
    SY_CHECK(input.dim() >= 2, Value,
             "[{}] input: expected at least 2 dims, got {}", op, input.sizes());
    count = input.size(1);
    dtype = input.scalar_type();
    statistics = is_reduced_floating_type(dtype) ? kFloat : dtype;
    for (int64_t d = 0; d < input.dim(); ++d) {
      along.push_back(d == 1 ? count : 1);
      if (d != 1) inner.push_back(d);
    }
  }

  void check_sizes(const char* name, const Tensor& t) const {
    SY_CHECK(t.dim() == 1 && t.size(0) == count, Value,
             "[{}] {}: expected sizes [{}], one for each channel, got {}", op,
             name, count, t.sizes());
  }
  void check_statistics_dtype(const char* name, const Tensor& t) const {
    SY_CHECK(t.scalar_type() == statistics, Type,
             "[{}] {}: expected dtype {}, got {}", op, name, statistics,
             t.scalar_type());
  }
  // A checked statistic that broadcasts.
  Tensor statistic(const char* name, const Tensor& t) const {
    check_sizes(name, t);
    check_statistics_dtype(name, t);
    return t.reshape(along);
  }
  // The same of weight or bias, which may have the dtype of input.
  Tensor parameter(const char* name, const Tensor& t) const {
    check_sizes(name, t);
    if (t.scalar_type() != dtype) check_statistics_dtype(name, t);
    return t.to(statistics).reshape(along);
  }
  void check_running(const char* name, const MaybeTensor& t) const {
    if (!given(t)) return;
    check_sizes(name, *t);
    SY_CHECK(is_floating_type(t->scalar_type()), Type,
             "[{}] {}: expected a floating dtype, got {}", op, name,
             t->scalar_type());
  }
  void check_gradient(const Tensor& grad, const Tensor& input) const {
    SY_CHECK(grad.sizes() == input.sizes(), Value,
             "[{}] grad_out: expected {}, the sizes of input, got {}", op,
             input.sizes(), grad.sizes());
    SY_CHECK(grad.scalar_type() == dtype, Type,
             "[{}] grad_out: expected dtype {}, got {}", op, dtype,
             grad.scalar_type());
  }
};

// (1 - momentum) * running + momentum * now
void follow(const MaybeTensor& running, const Tensor& now, double momentum) {
  if (!given(running)) return;
  const Tensor target = running->detach();
  target.copy_(target.to(now.scalar_type()) * (1 - momentum) +
               now.detach() * momentum);
}

}  // namespace

std::tuple<Tensor, Tensor> batch_norm_stats(const Tensor& input, double eps) {
  const Channels channels("batch_norm_stats", input);
  if (input.numel() == 0) {
    const Tensor none =
        sy::zeros({channels.count}, input.options().dtype(channels.statistics));
    return {none, none.clone()};
  }
  const auto [variance, mean] =
      sy::var_mean(widened(input), channels.inner, Scalar(0));
  return {mean, sy::rsqrt(variance + eps)};
}

std::tuple<Tensor, Tensor> batch_norm_gather_stats_with_counts(
    const Tensor& input, const Tensor& mean, const Tensor& invstd,
    const MaybeTensor& running_mean, const MaybeTensor& running_var,
    double momentum, double eps, const Tensor& counts) {
  const Channels channels("batch_norm_gather_stats_with_counts", input);
  SY_CHECK(mean.dim() == 2 && mean.size(1) == channels.count, Value,
           "[{}] mean: expected sizes [ranks, {}], got {}", channels.op,
           channels.count, mean.sizes());
  channels.check_statistics_dtype("mean", mean);
  SY_CHECK(invstd.sizes() == mean.sizes(), Value,
           "[{}] invstd: expected {}, the sizes of mean, got {}", channels.op,
           mean.sizes(), invstd.sizes());
  channels.check_statistics_dtype("invstd", invstd);
  SY_CHECK(counts.numel() == mean.size(0), Value,
           "[{}] counts: expected {} elements, one for each rank, got sizes {}",
           channels.op, mean.size(0), counts.sizes());
  channels.check_running("running_mean", running_mean);
  channels.check_running("running_var", running_var);

  // A rank without elements has no part in the results, whatever it gives.
  const Tensor n =
      counts.detach().to(channels.statistics).reshape({mean.size(0), 1});
  const Tensor has = n > 0;
  const Tensor total = n.sum();
  const Tensor means = sy::where(has, mean, Scalar(0));
  const Tensor variances =
      sy::reciprocal(sy::square(sy::where(has, invstd, Scalar(1)))) - eps;
  const Tensor all_mean = (means * n).sum({0}) / total;
  const Tensor squares =
      ((variances + sy::square(means - all_mean)) * n).sum({0});
  const Tensor all_invstd = sy::rsqrt(squares / total + eps);
  follow(running_mean, all_mean, momentum);
  follow(running_var, squares / (total - 1), momentum);
  return {all_mean, all_invstd};
}

Tensor batch_norm_elemt(const Tensor& input, const MaybeTensor& weight,
                        const MaybeTensor& bias, const Tensor& mean,
                        const Tensor& invstd, double) {
  const Channels channels("batch_norm_elemt", input);
  // 16 bits less float32 gives float32.
  const Tensor centered = input - channels.statistic("mean", mean);
  Tensor scale = channels.statistic("invstd", invstd);
  if (given(weight)) scale = scale * channels.parameter("weight", *weight);
  const Tensor out =
      given(bias)
          ? sy::addcmul(channels.parameter("bias", *bias), centered, scale)
          : centered * scale;
  return out.to(channels.dtype);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_backward_reduce(
    const Tensor& grad_out, const Tensor& input, const Tensor& mean,
    const Tensor& invstd, const MaybeTensor& weight, bool input_g,
    bool weight_g, bool bias_g) {
  const Channels channels("batch_norm_backward_reduce", input);
  channels.check_gradient(grad_out, input);
  const Tensor means = channels.statistic("mean", mean);
  channels.statistic("invstd", invstd);
  if (given(weight)) channels.parameter("weight", *weight);
  const ScalarType parameter =
      given(weight) ? weight->scalar_type() : channels.statistics;
  Tensor sum_dy, sum_dy_xmu, grad_weight, grad_bias;
  if (input_g || bias_g) {
    sum_dy = sy::sum(grad_out, channels.inner, false, channels.statistics);
  }
  if (input_g || weight_g) {
    sum_dy_xmu = sy::sum((input - means) * grad_out, channels.inner);
  }
  if (weight_g) grad_weight = (sum_dy_xmu * invstd).to(parameter);
  if (bias_g) grad_bias = sum_dy.to(parameter, false, /*copy=*/true);
  if (!input_g) return {Tensor(), Tensor(), grad_weight, grad_bias};
  return {sum_dy, sum_dy_xmu, grad_weight, grad_bias};
}

Tensor batch_norm_backward_elemt(const Tensor& grad_out, const Tensor& input,
                                 const Tensor& mean, const Tensor& invstd,
                                 const MaybeTensor& weight,
                                 const Tensor& sum_dy, const Tensor& sum_dy_xmu,
                                 const Tensor& count) {
  const Channels channels("batch_norm_backward_elemt", input);
  channels.check_gradient(grad_out, input);
  const Tensor scale = channels.statistic("invstd", invstd);
  const Tensor share = sy::reciprocal(count.sum().to(channels.statistics));
  const Tensor mean_dy = channels.statistic("sum_dy", sum_dy) * share;
  const Tensor slope =
      channels.statistic("sum_dy_xmu", sum_dy_xmu) * sy::square(scale) * share;
  const Tensor centered = input - channels.statistic("mean", mean);
  const Tensor by_scaled =
      sy::addcmul(grad_out - mean_dy, centered, slope, Scalar(-1));
  return (given(weight)
              ? by_scaled * (scale * channels.parameter("weight", *weight))
              : by_scaled * scale)
      .to(channels.dtype);
}

}  // namespace sy::composite
