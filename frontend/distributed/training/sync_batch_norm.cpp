#include "frontend/distributed/training/sync_batch_norm.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aten/from_blob.h"
#include "aten/ops/batch_norm_sync.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "autograd/function.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/distributed/context.h"
#include "frontend/nn/functional/batchnorm.h"

namespace sy::nn {

namespace {

using autograd::AutogradContext;
using autograd::variable_list;
using distributed::ProcessGroup;
using MaybeTensor = std::optional<Tensor>;

MaybeTensor if_defined(const Tensor& t) {
  return t.defined() ? MaybeTensor(t) : std::nullopt;
}

// The state that backward needs besides tensors.
struct Exchange {
  std::shared_ptr<ProcessGroup> group;
  std::string label;
};

// Keeps an Exchange as long as the graph, which keeps tensors alone.
Tensor tensor_over(const Exchange& exchange) {
  auto copy = std::make_unique<Exchange>(exchange);
  const Tensor t = from_blob(
      copy.get(), {static_cast<int64_t>(sizeof(Exchange))},
      [](void* p) { delete static_cast<Exchange*>(p); }, kByte);
  copy.release();  // NOLINT(bugprone-unused-return-value): now the tensor's
  return t;
}
const Exchange& exchange_in(const Tensor& t) {
  return *static_cast<const Exchange*>(t.data_ptr());
}

// The running statistics. forward() writes to them, which it may not to tensors
// that are its arguments.
struct Running {
  Tensor mean, var;
  double momentum;
};

int64_t values_per_channel(const Tensor& input) {
  int64_t n = 1;
  for (int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) n *= input.size(d);
  }
  return n;
}

// The values that every rank tells the others: means, invstds, how many values
// there are in a channel, and whether the input wants a gradient.
struct Gathered {
  Tensor mean, invstd, counts;
  bool backward_exchanges;

  Gathered(const Tensor& input, double eps, bool wants_gradient,
           const Exchange& exchange) {
    const int64_t channels = input.size(1), count = values_per_channel(input);
    const auto [own_mean, own_invstd] = sy::batch_norm_stats(input, eps);
    const TensorOptions options = own_mean.options();
    const Tensor own =
        sy::cat({own_mean, own_invstd, sy::full({1}, count, options),
                 sy::full({1}, wants_gradient ? 1 : 0, options)});
    const int64_t ranks = exchange.group->size();
    const Tensor all = sy::empty({ranks * own.numel()}, options);
    {
      const distributed::CallLabel label(exchange.label);
      exchange.group->allgather_into_tensor(all, own);
    }
    const Tensor rows = all.view({ranks, own.numel()});
    mean = rows.narrow(1, 0, channels);
    invstd = rows.narrow(1, channels, channels);
    counts = rows.select(1, 2 * channels);
    // All ranks do the same next: the values that they gathered decide it.
    check_total(input, count);
    backward_exchanges =
        wants_gradient ||
        rows.select(1, 2 * channels + 1).sum().item<double>() > 0;
  }

 private:
  void check_total(const Tensor& input, int64_t own) const {
    if (own >= 2) return;
    const auto total = counts.sum().item<double>();
    SY_CHECK(total >= 2, Value,
             "[batch_norm] input: expected more than one value per channel "
             "over all ranks in training, got sizes {} here and {} in all",
             input.sizes(), static_cast<int64_t>(total));
  }
};

struct SyncBatchNormFunction : autograd::Function<SyncBatchNormFunction> {
  // Collectives of backward are not recorded.
  static constexpr bool once_differentiable = true;

  static Tensor forward(AutogradContext* ctx, const Tensor& input,
                        const MaybeTensor& weight, const MaybeTensor& bias,
                        const Running& running, double eps,
                        const Exchange& exchange) {
    const Gathered all(input, eps, ctx->needs_input_grad(0), exchange);
    const auto [mean, invstd] = sy::batch_norm_gather_stats_with_counts(
        input, all.mean, all.invstd, if_defined(running.mean),
        if_defined(running.var), running.momentum, eps, all.counts);
    ctx->save_for_backward({input, weight.value_or(Tensor()), mean, invstd,
                            all.counts.contiguous()});
    ctx->saved_data["exchange"] = tensor_over(exchange);
    ctx->saved_data["exchanges"] = all.backward_exchanges;
    return sy::batch_norm_elemt(input, weight, bias, mean, invstd, eps);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    const Tensor &input = saved[0], &mean = saved[2], &invstd = saved[3];
    const MaybeTensor weight = if_defined(saved[1]);
    const bool exchanges = ctx->saved_data["exchanges"].to_bool();
    const auto [sum_dy, sum_dy_xmu, by_weight, by_bias] =
        sy::batch_norm_backward_reduce(grads[0], input, mean, invstd, weight,
                                       exchanges, ctx->needs_input_grad(1),
                                       ctx->needs_input_grad(2));
    Tensor by_input;
    if (exchanges) {
      const Exchange& exchange =
          exchange_in(Tensor(ctx->saved_data["exchange"].to_tensor()));
      const Tensor sums = sy::cat({sum_dy, sum_dy_xmu});
      {
        const distributed::CallLabel label(exchange.label);
        exchange.group->allreduce(sums);
      }
      if (ctx->needs_input_grad(0)) {
        const int64_t channels = mean.numel();
        by_input = sy::batch_norm_backward_elemt(
            grads[0], input, mean, invstd, weight, sums.narrow(0, 0, channels),
            sums.narrow(0, channels, channels), saved[4]);
      }
    }
    return {by_input, by_weight, by_bias, Tensor(), Tensor(), Tensor()};
  }
};

// nullptr if there are no ranks to ask.
std::shared_ptr<ProcessGroup> group_or_world(
    const std::shared_ptr<ProcessGroup>& group) {
  if (group != nullptr) return group;
  const distributed::Context* const context = distributed::Context::current();
  return context == nullptr ? nullptr : context->world();
}

std::string label_of(const std::string& path) {
  std::string label = "batch norm";
  if (!path.empty()) label.append(" of ").append(path);
  return label;
}

// The result of a BatchNorm, over `group` in training.
Tensor normalized(NormImplBase<BatchNormOptions>& norm, const Tensor& input,
                  const std::shared_ptr<ProcessGroup>& group,
                  const std::string& path) {
  const bool training = norm.is_training();
  const BatchNormOptions& options = norm.options;
  double momentum = options.momentum().value_or(0);
  if (training && norm.num_batches_tracked.defined()) {
    const NoGradGuard no_grad;
    norm.num_batches_tracked.add_(1);
    if (!options.momentum().has_value()) {
      momentum = 1 / norm.num_batches_tracked.item<double>();
    }
  }
  const bool running = !training || options.track_running_stats();
  const Tensor mean = running ? norm.running_mean : Tensor();
  const Tensor var = running ? norm.running_var : Tensor();
  std::shared_ptr<ProcessGroup> ranks;
  if (training) ranks = group_or_world(group);
  if (ranks == nullptr || ranks->size() == 1) {
    return functional::batch_norm(
        input, mean, var,
        functional::BatchNormFuncOptions()
            .weight(norm.weight)
            .bias(norm.bias)
            .training(training || !norm.running_mean.defined())
            .momentum(momentum)
            .eps(options.eps()));
  }
  return SyncBatchNormFunction::apply(
      input, if_defined(norm.weight), if_defined(norm.bias),
      Running{mean, var, momentum}, options.eps(),
      Exchange{std::move(ranks), label_of(path)});
}

class SynchronizedForward final : public detail::TrainingForward {
 public:
  SynchronizedForward(std::shared_ptr<ProcessGroup> group, std::string path)
      : group_(std::move(group)), path_(std::move(path)) {}
  Tensor forward(NormImplBase<BatchNormOptions>& norm,
                 const Tensor& input) override {
    return normalized(norm, input, group_, path_);
  }

 private:
  const std::shared_ptr<ProcessGroup> group_;
  const std::string path_;
};

template <size_t D>
bool convert(Module& module, const std::shared_ptr<ProcessGroup>& group,
             const std::string& path) {
  auto* const norm = module.as<BatchNormImplBase<D>>();
  if (norm == nullptr) return false;
  norm->training_forward = std::make_shared<SynchronizedForward>(group, path);
  return true;
}

bool convert_sync(Module& module, const std::shared_ptr<ProcessGroup>& group,
                  const std::string& path) {
  auto* const norm = module.as<SyncBatchNormImpl>();
  if (norm == nullptr) return false;
  norm->process_group = group;
  norm->path = path;
  return true;
}

}  // namespace

SyncBatchNormImpl::SyncBatchNormImpl(const SyncBatchNormOptions& options,
                                     std::shared_ptr<ProcessGroup> group)
    : NormImplBase(options), process_group(std::move(group)) {}

Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  SY_CHECK(input.dim() >= 2, Value,
           "[{}] input: expected at least 2 dimensions, got {}", name(),
           input.dim());
  return normalized(*this, input, process_group, path);
}

int64_t convert_sync_batchnorm(Module& module,
                               std::shared_ptr<ProcessGroup> group) {
  int64_t converted = 0;
  module.apply([&](const std::string& path, Module& m) {
    if (convert<1>(m, group, path) || convert<2>(m, group, path) ||
        convert<3>(m, group, path) || convert_sync(m, group, path)) {
      ++converted;
    }
  });
  return converted;
}

}  // namespace sy::nn
