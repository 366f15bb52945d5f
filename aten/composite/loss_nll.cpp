// The negative log-likelihood and its derivative, made of gather and scatter:
// for backends that have no kernels of their own for it. Scores are rows of
// classes here. Narrow floats are computed in float32.

#include <algorithm>
#include <tuple>

#include "aten/composite/loss_nll.h"
#include "aten/contract/reduction_kind.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/loss_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scatter.h"

namespace sy::composite {

namespace {

ScalarType wide(const Tensor& t) {
  return is_reduced_floating_type(t.scalar_type()) ? kFloat : t.scalar_type();
}

// The rows as target gives them: whether each counts, its class, its weight.
struct Rows {
  Tensor counts, classes, weights;

  Rows(const Tensor& scores, const Tensor& target,
       const std::optional<Tensor>& weight, int64_t ignore_index) {
    const Tensor flat = target.reshape(-1);
    const ScalarType dtype = wide(scores);
    counts = flat != ignore_index;
    classes = sy::where(counts, flat, sy::zeros({}, flat.options()));
    weights = counts.to(dtype);
    if (!weight || !weight->defined()) return;
    weights = kept(sy::gather(weight->to(dtype), 0, classes));
  }
  // 0 for rows that do not count, whatever is there.
  Tensor kept(const Tensor& t) const {
    return sy::where(counts, t, sy::zeros({}, t.options()));
  }
};

Tensor rows_of(const Tensor& self) {
  return self.dim() == 1 ? self.unsqueeze(0) : self;
}

}  // namespace

std::tuple<Tensor, Tensor> nll_of_rows(const Tensor& scores,
                                       const Tensor& target,
                                       const std::optional<Tensor>& weight,
                                       int64_t reduction, int64_t ignore_index,
                                       bool each) {
  const Rows rows(scores, target, weight, ignore_index);
  const ScalarType dtype = scores.scalar_type();
  const Tensor score =
      sy::gather(scores.to(wide(scores)), 1, rows.classes.unsqueeze(1))
          .squeeze(1);
  const Tensor losses = rows.kept(-(rows.weights * score));
  if (each) {
    return {losses.to(dtype).reshape(target.sizes()),
            sy::zeros({}, scores.options())};
  }
  const Tensor total = sy::sum(rows.weights), sum = sy::sum(losses);
  return {(reduction == Reduction::Mean ? sum / total : sum).to(dtype),
          total.to(dtype)};
}

Tensor nll_of_rows_backward(const Tensor& grad_output, const Tensor& scores,
                            const Tensor& target,
                            const std::optional<Tensor>& weight,
                            int64_t reduction, int64_t ignore_index,
                            const Tensor& total_weight) {
  const Rows rows(scores, target, weight, ignore_index);
  const ScalarType dtype = wide(scores);
  Tensor grad = grad_output.to(dtype).reshape(-1);
  if (reduction == Reduction::Mean)
    grad = grad / total_weight.to(dtype).reshape({});
  const Tensor values = rows.kept(-(rows.weights * grad));
  return sy::scatter(sy::zeros(scores.sizes(), grad.options()), 1,
                     rows.classes.unsqueeze(1), values.unsqueeze(1))
      .to(scores.scalar_type());
}

std::tuple<Tensor, Tensor> nll_loss_by_gather(
    const Tensor& self, const Tensor& target,
    const std::optional<Tensor>& weight, int64_t reduction,
    int64_t ignore_index) {
  const bool each = reduction == Reduction::None && self.dim() == 2;
  return nll_of_rows(rows_of(self), target, weight, reduction, ignore_index,
                     each);
}

Tensor nll_loss_backward_by_scatter(const Tensor& grad_output,
                                    const Tensor& self, const Tensor& target,
                                    const std::optional<Tensor>& weight,
                                    int64_t reduction, int64_t ignore_index,
                                    const Tensor& total_weight) {
  return nll_of_rows_backward(grad_output, rows_of(self), target, weight,
                              reduction, ignore_index, total_weight)
      .reshape(self.sizes());
}

}  // namespace sy::composite
