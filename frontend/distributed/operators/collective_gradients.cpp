#include <string_view>
#include <vector>

#include "aten/backend/pending.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"
#include "frontend/distributed/context.h"
#include "frontend/distributed/operators/collectives.h"
#include "frontend/distributed/operators/named.h"

// Collectives that are made of others: what autograd calls in backward, on all
// ranks. Every result is made of that of a collective even where it is zero, so
// that gradients of gradients are the same calls on all ranks.

namespace sy::composite {

using distributed::group_for;
using distributed::group_of;

namespace {

void check_linear(const char* name, std::string_view op) {
  SY_CHECK(op == "sum" || op == "avg", NotImplemented,
           "[{}] op: expected sum or avg, which have a gradient here, got {}",
           name, op);
}

bool is_rank(int64_t rank, std::string_view group) {
  return group_of(group)->rank() == rank;
}

Tensor averaged(const Tensor& t, std::string_view op, std::string_view group) {
  return op == "avg" ? t / group_of(group)->size() : t;
}

// Zeros, made of `t`.
Tensor zeros_after(const Tensor& t, IntArrayRef sizes) {
  const Tensor nothing = t.reshape({-1}).narrow(0, 0, 0).sum();
  return sy::zeros(sizes, t.options()) + nothing;
}

}  // namespace

Tensor dist_all_reduce(const Tensor& self, std::string_view op,
                       std::string_view group) {
  const bool extremum = op == "min" || op == "max";
  return extremum && GradMode::is_enabled() && self.requires_grad()
             ? sy_dist::_all_reduce_extremum(self, op, group)
             : sy_dist::_all_reduce(self, op, group);
}

Tensor dist_all_reduce_backward(const Tensor& grad, std::string_view op,
                                std::string_view group) {
  check_linear("all_reduce", op);
  return sy_dist::_all_reduce(grad, op, group);
}

Tensor dist_all_reduce_extremum_backward(const Tensor& grad, const Tensor& self,
                                         const Tensor& result,
                                         std::string_view group) {
  const Tensor holds =
      (self == result).logical_or(self.isnan().logical_and(result.isnan()));
  const Tensor count =
      sy_dist::_all_reduce(holds.to(kFloat), "sum", group).clamp_min(1);
  const Tensor sum = sy_dist::_all_reduce(grad, "sum", group);
  return (sum / count.to(sum.scalar_type()))
      .masked_fill(holds.logical_not(), 0);
}

Tensor dist_broadcast_backward(const Tensor& grad, int64_t src,
                               std::string_view group) {
  const Tensor sum = sy_dist::reduce(grad, src, "sum", group);
  return is_rank(src, group) ? sum : zeros_after(sum, grad.sizes());
}

Tensor dist_reduce_backward(const Tensor& grad, int64_t dst,
                            std::string_view op, std::string_view group) {
  check_linear("reduce", op);
  const Tensor reduced = sy_dist::broadcast(grad, dst, group);
  const Tensor part = averaged(reduced, op, group);
  return is_rank(dst, group) ? part : part + grad;
}

Tensor dist_reduce_scatter_backward(const Tensor& grad, std::string_view op,
                                    std::string_view group) {
  check_linear("reduce_scatter_tensor", op);
  return averaged(sy_dist::all_gather_into_tensor(grad, group), op, group);
}

Tensor dist_gather_backward(TensorList grads, IntArrayRef sizes, int64_t dst,
                            std::string_view group) {
  const auto g = group_for("gather", group);
  SY_CHECK(grads.size() == static_cast<size_t>(g->size()), Value,
           "[_gather_backward] grads: expected {} tensors, one for each rank, "
           "got {}",
           g->size(), grads.size());
  if (g->rank() != dst) {
    std::vector<int64_t> rows(sizes.begin(), sizes.end());
    if (rows.empty()) rows.push_back(1);
    const Tensor like = zeros_after(grads[0], rows);
    return sy_dist::scatter(like, dst, group).view(sizes);
  }
  std::vector<Tensor> parts;
  for (const Tensor& t : grads) {
    parts.push_back(sizes.empty() ? t.reshape({1}) : t);
  }
  return sy_dist::scatter(sy::cat(parts), dst, group).view(sizes);
}

Tensor dist_scatter_backward(const Tensor& grad, int64_t src,
                             std::string_view group) {
  const std::vector<Tensor> parts = sy_dist::gather(grad, src, group);
  return is_rank(src, group) ? sy::cat(parts)
                             : zeros_after(parts[0], grad.sizes());
}

Tensor dist_wait_tensor(const Tensor& self) {
  wait_pending(self, "wait_tensor");
  return self;
}

}  // namespace sy::composite
