#include "aten/ops/indexing.h"
#include "aten/ops/indexing_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/shapes.h"

namespace sy::native {

// padding_idx, scale_grad_by_freq and sparse concern the gradient alone.
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool,
                 bool) {
  const Tensor rows = sy::index_select(weight, 0, indices.reshape({-1}));
  const int64_t width = weight.size(1);
  return sy::_unsafe_view(
      rows, shapes::concat(indices.sizes(), IntArrayRef(&width, 1)));
}

}  // namespace sy::native
