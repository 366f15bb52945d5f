#include "frontend/nn/modules/adaptive.h"

#include <cmath>

#include "aten/operators.h"
#include "aten/ops/activation.h"
#include "aten/ops/shape.h"
#include "frontend/nn/container/sequential.h"

namespace sy::nn {

namespace {

constexpr const char* kName = "AdaptiveLogSoftmaxWithLoss";

void check(const AdaptiveLogSoftmaxWithLossOptions& o) {
  detail::check_at_least(1, kName, "in_features", o.in_features());
  SY_CHECK(o.div_value() > 0, Value,
           "[{}] div_value: expected a positive number, got {}", kName,
           o.div_value());
  SY_CHECK(!o.cutoffs().empty(), Value,
           "[{}] cutoffs: expected at least one, got []", kName);
  int64_t before = 0;
  for (const int64_t c : o.cutoffs()) {
    SY_CHECK(c > before && c < o.n_classes(), Value,
             "[{}] cutoffs: expected numbers that rise within [1, {}], got {}",
             kName, o.n_classes() - 1, IntArrayRef(o.cutoffs()));
    before = c;
  }
}

}  // namespace

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    AdaptiveLogSoftmaxWithLossOptions options)
    : options(std::move(options)) {
  reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  check(options);
  cutoffs = options.cutoffs();
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;

  const int64_t width = options.in_features();
  ModuleList clusters;
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const auto inner = static_cast<int64_t>(
        static_cast<double>(width) /
        std::pow(options.div_value(), static_cast<double>(i + 1)));
    const int64_t classes = cutoffs[i + 1] - cutoffs[i];
    clusters->push_back(
        Sequential(Linear(LinearOptions(width, inner).bias(false)),
                   Linear(LinearOptions(inner, classes).bias(false))));
  }
  if (!head.is_empty()) {
    unregister_module("head");
    unregister_module("tail");
  }
  head = register_module(
      "head",
      Linear(LinearOptions(width, head_size).bias(options.head_bias())));
  tail = register_module("tail", std::move(clusters));
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i) {
    auto& cluster = tail->at<SequentialImpl>(i);
    cluster.at<LinearImpl>(0).reset_parameters();
    cluster.at<LinearImpl>(1).reset_parameters();
  }
}

Tensor AdaptiveLogSoftmaxWithLossImpl::cluster_log_prob(int64_t cluster,
                                                        const Tensor& input) {
  auto& module = tail->at<SequentialImpl>(static_cast<size_t>(cluster));
  return sy::log_softmax(call_module(module, input), 1);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input_,
                                                  const Tensor& target_) {
  const bool batched = target_.dim() == 1;
  SY_CHECK(batched || target_.dim() == 0, Value,
           "[{}] target: expected a vector, or no dims without a batch, got {}",
           kName, describe(target_));
  SY_CHECK(input_.dim() == target_.dim() + 1 &&
               input_.size(-1) == options.in_features() &&
               (!batched || input_.size(0) == target_.size(0)),
           Value,
           "[{}] input: expected the sizes of target, {}, and {} features, got "
           "{}",
           kName, target_.sizes(), options.in_features(), describe(input_));
  const Tensor input = batched ? input_ : input_.unsqueeze(0);
  const Tensor target = batched ? target_ : target_.unsqueeze(0);

  // Targets in terms of the head, and what clusters add to their logarithms.
  Tensor head_target = target, output = input.new_zeros({target.size(0)});
  int64_t found = (target < shortlist_size)
                      .logical_and(target >= 0)
                      .count_nonzero()
                      .item<int64_t>();
  for (int64_t i = 0; i < n_clusters; ++i) {
    const int64_t low = cutoffs[static_cast<size_t>(i)];
    const int64_t high = cutoffs[static_cast<size_t>(i) + 1];
    const Tensor rows =
        (target >= low).logical_and(target < high).nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    found += rows.numel();
    const Tensor inner = target.index_select(0, rows) - low;
    const Tensor all = cluster_log_prob(i, input.index_select(0, rows));
    output = output.index_copy(0, rows,
                               all.gather(1, inner.unsqueeze(1)).squeeze(1));
    head_target = head_target.index_fill(0, rows, shortlist_size + i);
  }
  SY_CHECK(found == target.size(0), Value,
           "[{}] target: expected classes within [0, {}], got {} to {}", kName,
           options.n_classes() - 1, target.min().item<int64_t>(),
           target.max().item<int64_t>());

  output = output + sy::log_softmax(head(input), 1)
                        .gather(1, head_target.unsqueeze(1))
                        .squeeze(1);
  const Tensor loss = -output.mean();
  return {batched ? output : output.squeeze(0), loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(
    const Tensor& input, const Tensor& head_output) {
  const Tensor first = sy::log_softmax(head_output, 1);
  std::vector<Tensor> parts{first.narrow(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    parts.push_back(cluster_log_prob(i, input) +
                    first.narrow(1, shortlist_size + i, 1));
  }
  return sy::cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  return _get_full_log_prob(input, head(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor head_output = head(input);
  const Tensor output = head_output.argmax(1);
  const Tensor rows = (output >= shortlist_size).nonzero().squeeze(1);
  if (rows.numel() == 0) return output;
  const Tensor all = _get_full_log_prob(input.index_select(0, rows),
                                        head_output.index_select(0, rows));
  return output.index_copy(0, rows, all.argmax(1));
}

}  // namespace sy::nn
