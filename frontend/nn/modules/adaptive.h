#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "frontend/nn/container/module_list.h"
#include "frontend/nn/modules/linear.h"
#include "frontend/nn/options/adaptive.h"

namespace sy::nn {

// The log probability of each target, and the negative of their mean.
struct ASMoutput {
  Tensor output;
  Tensor loss;
};

// Softmax over many classes of falling frequency (Grave et al., 2017): the head
// knows the classes below cutoffs[0], and one entry for each cluster of the
// others; a class of a cluster has the probability of its cluster times that
// among the cluster's. Cluster i is `tail[i]`, two Linears without bias. Throws
// ValueError, which names the option, for cutoffs that do not rise strictly
// within [1, n_classes - 1], or are empty.
class SY_API AdaptiveLogSoftmaxWithLossImpl : public Module {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes,
                                 std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(
            in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(
      AdaptiveLogSoftmaxWithLossOptions options);

  // Makes new parts by the options.
  void reset();
  void reset_parameters();
  // input (batch, in_features) and target (batch), or both without batch.
  // Throws ValueError for other sizes and for targets outside of [0,
  // n_classes).
  ASMoutput forward(const Tensor& input, const Tensor& target);
  // The log probabilities of all classes: (batch, n_classes).
  Tensor log_prob(const Tensor& input);
  // The likeliest class: (batch).
  Tensor predict(const Tensor& input);
  // log_prob(), from the result of `head`.
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);

  AdaptiveLogSoftmaxWithLossOptions options;
  // The cutoffs of the options, and n_classes.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0;
  int64_t n_clusters = 0;
  int64_t head_size = 0;
  Linear head = nullptr;
  ModuleList tail = nullptr;

 private:
  Tensor cluster_log_prob(int64_t cluster, const Tensor& input);
};
SY_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace sy::nn
