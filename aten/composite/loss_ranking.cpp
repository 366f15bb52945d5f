// Losses by how far scores lie apart, made of gather and scatter_add: for
// backends that have no kernels of their own for them.

#include <algorithm>
#include <tuple>

#include "aten/contract/reduction_kind.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/loss_ranking_kernels.h"
#include "aten/ops/math.h"
#include "aten/ops/scan.h"

namespace sy::composite {

namespace {

// Scores as rows of classes.
Tensor as_rows(const Tensor& t) {
  return t.dim() == 2 ? t : t.reshape({1, t.numel()});
}

void check_classes(const char* op, const Tensor& target, int64_t least,
                   int64_t classes) {
  const Tensor wrong = sy::logical_or(target < least, target >= classes);
  SY_CHECK(!wrong.any().item<bool>(), Index,
           "[{}] target: expected classes in [{}, {}]", op, least, classes - 1);
}

// The losses of the rows, or what they reduce to.
Tensor reduced(const Tensor& losses, int64_t reduction, IntArrayRef sizes) {
  if (reduction == Reduction::None) return losses.reshape(sizes);
  const Tensor sum = losses.sum();
  if (reduction != Reduction::Mean) return sum;
  return sum / Scalar(std::max<int64_t>(1, losses.numel()));
}

// The factor of the gradients of each row: a column.
Tensor row_scale(const Tensor& grad_output, const Tensor& rows,
                 int64_t reduction) {
  const int64_t by = reduction == Reduction::Mean ? rows.numel() : rows.size(1);
  return grad_output.reshape({-1, 1}) / Scalar(std::max<int64_t>(1, by));
}

struct MultiMargin {
  Tensor rows, classes, others, margins, weights;

  MultiMargin(const char* op, const Tensor& self, const Tensor& target,
              const Scalar& margin, const std::optional<Tensor>& weight)
      : rows(as_rows(self)), classes(target.reshape({-1, 1})) {
    check_classes(op, classes, 0, rows.size(1));
    const bool weighted = weight && weight->defined();
    SY_CHECK(!weighted || (weight->dtype() == self.dtype() &&
                           weight->numel() == rows.size(1)),
             Value,
             "[{}] weight: expected a number of dtype {} for each of {} "
             "classes, got {}",
             op, self.dtype(), rows.size(1), describe(*weight));
    others = sy::arange(rows.size(1), classes.options()) != classes;
    // The excess of each score, with the margin, over that of the class.
    const Tensor z = margin - rows.gather(1, classes) + rows;
    margins = sy::where(sy::logical_and(others, z > 0), z, Scalar(0));
    weights = weighted ? weight->reshape(-1)
                             .index_select(0, classes.reshape(-1))
                             .reshape(classes.sizes())
                       : sy::ones({}, self.options());
  }
};

struct MultiLabel {
  Tensor rows, chosen, classes, is_target;

  MultiLabel(const char* op, const Tensor& self, const Tensor& target)
      : rows(as_rows(self)) {
    const Tensor t = as_rows(target);
    check_classes(op, t, -1, rows.size(1));
    // Targets are those before the first that is negative.
    chosen = sy::cumsum((t < 0).to(kLong), 1).eq(0);
    classes = sy::where(chosen, t, Scalar(0));
    is_target = sy::zeros_like(rows)
                    .scatter_add(1, classes, chosen.to(rows.scalar_type()))
                    .gt(0)
                    .to(rows.scalar_type());
  }

  // The excess of each class that is no target, by row, target and class.
  Tensor margins(const Tensor& marks) const {
    const Tensor z =
        1 - rows.gather(1, classes).unsqueeze(2) + rows.unsqueeze(1);
    const Tensor counts =
        sy::logical_and(chosen.unsqueeze(2), as_rows(marks).unsqueeze(1).eq(0));
    return sy::where(sy::logical_and(counts, z > 0), z, Scalar(0));
  }
};

}  // namespace

Tensor multi_margin_loss_by_gather(const Tensor& self, const Tensor& target,
                                   const Scalar& p, const Scalar& margin,
                                   const std::optional<Tensor>& weight,
                                   int64_t reduction) {
  const MultiMargin m("multi_margin_loss", self, target, margin, weight);
  const Tensor z = p.to_double() == 2 ? sy::square(m.margins) : m.margins;
  const Tensor losses = z.sum({1}, true) * m.weights / Scalar(m.rows.size(1));
  return reduced(losses, reduction, target.sizes());
}

Tensor multi_margin_loss_backward_by_gather(
    const Tensor& grad_output, const Tensor& self, const Tensor& target,
    const Scalar& p, const Scalar& margin, const std::optional<Tensor>& weight,
    int64_t reduction) {
  const MultiMargin m("multi_margin_loss_backward", self, target, margin,
                      weight);
  const Tensor g = row_scale(grad_output, m.rows, reduction) * m.weights;
  const Tensor slope = p.to_double() == 2 ? m.margins * 2 : sy::sign(m.margins);
  const Tensor each = slope * g;
  return sy::where(m.others, each, -each.sum({1}, true)).reshape(self.sizes());
}

std::tuple<Tensor, Tensor> multilabel_margin_loss_by_gather(
    const Tensor& self, const Tensor& target, int64_t reduction) {
  const MultiLabel m("multilabel_margin_loss_forward", self, target);
  const Tensor losses =
      m.margins(m.is_target).sum({1, 2}) / Scalar(m.rows.size(1));
  const int64_t rows[] = {m.rows.size(0)};
  const IntArrayRef sizes = self.dim() == 2 ? IntArrayRef(rows) : IntArrayRef();
  return {reduced(losses, reduction, sizes),
          m.is_target.reshape(target.sizes())};
}

Tensor multilabel_margin_loss_backward_by_gather(const Tensor& grad_output,
                                                 const Tensor& self,
                                                 const Tensor& target,
                                                 int64_t reduction,
                                                 const Tensor& is_target) {
  const MultiLabel m("multilabel_margin_loss_backward", self, target);
  const Tensor g = row_scale(grad_output, m.rows, reduction).unsqueeze(2);
  const Tensor each = sy::sign(m.margins(is_target)) * g;
  return each.sum({1})
      .scatter_add(1, m.classes, -each.sum({2}))
      .reshape(self.sizes());
}

}  // namespace sy::composite
