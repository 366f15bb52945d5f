#include "aten/ops/loss.h"

#include "aten/contract/reduction_kind.h"
#include "aten/engine/geometry.h"
#include "aten/ops/activation.h"
#include "aten/ops/factory.h"
#include "aten/ops/loss_kernels.h"
#include "aten/ops/loss_spatial.h"
#include "aten/ops/reduction.h"

namespace sy::composite {

namespace {

// One weight for each class, broadcast to scores.
Tensor weight_along(const Tensor& weight, const Tensor& scores,
                    int64_t class_dim) {
  Dims sizes = geometry::fill(scores.dim(), 1);
  sizes[class_dim] = weight.numel();
  return weight.reshape(sizes);
}

Tensor reduced(const Tensor& loss, int64_t reduction) {
  SY_CHECK(reduction == Reduction::None || reduction == Reduction::Sum, Value,
           "[cross_entropy_loss] reduction: expected none (0), mean (1) or sum "
           "(2), got {}",
           reduction);
  return reduction == Reduction::None ? loss : sy::sum(loss);
}

// target holds the probability of each class.
Tensor probability_loss(const Tensor& self, const Tensor& target,
                        const std::optional<Tensor>& weight, int64_t reduction,
                        double smoothing, int64_t class_dim) {
  SY_CHECK(target.is_floating_point(), Type,
           "[cross_entropy_loss] target: expected a floating dtype for "
           "probabilities, got {}",
           describe(target));
  const auto classes = static_cast<double>(self.size(class_dim));
  Tensor wanted = target;
  if (smoothing > 0) {
    wanted = target.mul(Scalar(1 - smoothing)).add(Scalar(smoothing / classes));
  }
  Tensor loss = sy::log_softmax(self, class_dim).mul(wanted);
  if (weight && weight->defined()) {
    loss = loss.mul(weight_along(*weight, self, class_dim));
  }
  const Tensor each = sy::sum(loss, IntArrayRef(class_dim)).neg();
  if (reduction != Reduction::Mean) return reduced(each, reduction);
  return sy::sum(each).div(Scalar(static_cast<double>(each.numel())));
}

// The part of the loss that is spread over all classes.
Tensor smooth_loss(const Tensor& scores, const Tensor& target,
                   const std::optional<Tensor>& weight, int64_t reduction,
                   int64_t ignore_index, int64_t class_dim) {
  const bool weighted = weight && weight->defined();
  const Tensor terms =
      weighted ? scores.mul(weight_along(*weight, scores, class_dim)) : scores;
  const Tensor ignored = target.eq(Scalar(ignore_index));
  const Tensor each = sy::sum(terms, IntArrayRef(class_dim))
                          .neg()
                          .masked_fill(ignored, Scalar(0));
  if (reduction != Reduction::Mean) return reduced(each, reduction);
  Tensor share = sy::ones_like(each);
  if (weighted) {
    const Tensor classes = target.masked_fill(ignored, Scalar(0));
    share =
        weight->index_select(0, classes.reshape({-1})).reshape(target.sizes());
  }
  return sy::sum(each).div(sy::sum(share.masked_fill(ignored, Scalar(0))));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight,
                          int64_t reduction, int64_t ignore_index,
                          double label_smoothing) {
  SY_CHECK(label_smoothing >= 0 && label_smoothing <= 1, Value,
           "[cross_entropy_loss] label_smoothing: expected a value in [0, 1], "
           "got {}",
           label_smoothing);
  SY_CHECK(self.dim() > 0, Value,
           "[cross_entropy_loss] self: expected at least one dim, got {}",
           describe(self));
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  if (target.sizes() == self.sizes()) {
    SY_CHECK(ignore_index < 0, Value,
             "[cross_entropy_loss] ignore_index: expected none with "
             "probabilities, got {}",
             ignore_index);
    return probability_loss(self, target, weight, reduction, label_smoothing,
                            class_dim);
  }
  const Tensor scores = sy::log_softmax(self, class_dim);
  const Tensor loss =
      sy::nll_loss_nd(scores, target, weight, reduction, ignore_index);
  if (label_smoothing == 0) return loss;
  const Tensor smooth =
      smooth_loss(scores, target, weight, reduction, ignore_index, class_dim);
  const auto classes = static_cast<double>(self.size(class_dim));
  return loss.mul(Scalar(1 - label_smoothing))
      .add(smooth.mul(Scalar(label_smoothing / classes)));
}

}  // namespace sy::composite
