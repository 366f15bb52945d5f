#include "aten/engine/geometry.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/indexing_kernels.h"
#include "aten/ops/shape.h"

namespace sy::composite {

// padding_idx, scale_grad_by_freq and sparse concern the gradient alone.
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool,
                 bool) {
  const Tensor rows = sy::index_select(weight, 0, indices.reshape({-1}));
  const int64_t width = weight.size(1);
  return sy::_unsafe_view(
      rows, geometry::concat(indices.sizes(), IntArrayRef(&width, 1)));
}

// Adds in place, since the weights may be many times the rows that are added.
Tensor embedding_dense_backward(const Tensor& grad_output,
                                const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq) {
  const Tensor i = indices.reshape({-1});
  const int64_t n = i.numel(), width = grad_output.size(-1);
  Tensor rows = grad_output.reshape({n, width});
  if (padding_idx >= 0) {
    rows = rows.masked_fill(i.eq(padding_idx).unsqueeze(1), 0);
  }
  if (scale_grad_by_freq) {
    // Counts and divides in a dtype that holds the counts.
    const Tensor wide = widened(rows);
    const Tensor counts = sy::zeros({num_weights}, wide.options())
                              .index_add_(0, i, sy::ones({n}, wide.options()));
    rows = (wide / sy::index_select(counts, 0, i).unsqueeze(1))
               .to(rows.scalar_type());
  }
  return sy::zeros({num_weights, width}, rows.options()).index_add_(0, i, rows);
}

}  // namespace sy::composite
