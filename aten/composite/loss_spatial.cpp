#include "aten/ops/loss_spatial.h"

#include <algorithm>
#include <tuple>

#include "aten/composite/loss_nll.h"
#include "aten/contract/reduction_kind.h"
#include "aten/engine/geometry.h"
#include "aten/operators.h"
#include "aten/ops/loss.h"
#include "aten/ops/loss_spatial_kernels.h"

namespace sy::composite {

namespace {

Tensor rows_of_images(const Tensor& self) {
  return self.permute({0, 2, 3, 1})
      .reshape(
          {self.numel() / std::max<int64_t>(self.size(1), 1), self.size(1)});
}

}  // namespace

Tensor nll_loss_nd(const Tensor& self, const Tensor& target,
                   const std::optional<Tensor>& weight, int64_t reduction,
                   int64_t ignore_index) {
  if (self.dim() <= 2) {
    return sy::nll_loss(self, target, weight, reduction, ignore_index);
  }
  const Dims rows = geometry::without("nll_loss_nd", self.sizes(), 1);
  SY_CHECK(target.sizes() == IntArrayRef(rows), Value,
           "[nll_loss_nd] target: expected sizes {}, those of self without its "
           "classes, got {}",
           IntArrayRef(rows), target.sizes());
  if (self.dim() == 4) {
    return sy::nll_loss2d(self, target, weight, reduction, ignore_index);
  }
  const int64_t places = geometry::prod(geometry::slice(rows, 1, INT64_MAX));
  const Tensor loss =
      sy::nll_loss2d(self.reshape({self.size(0), self.size(1), 1, places}),
                     target.reshape({self.size(0), 1, places}), weight,
                     reduction, ignore_index);
  return reduction == Reduction::None ? loss.reshape(rows) : loss;
}

// For backends that have no kernels of their own.
std::tuple<Tensor, Tensor> nll_loss2d_by_gather(
    const Tensor& self, const Tensor& target,
    const std::optional<Tensor>& weight, int64_t reduction,
    int64_t ignore_index) {
  return nll_of_rows(rows_of_images(self), target, weight, reduction,
                     ignore_index, reduction == Reduction::None);
}

Tensor nll_loss2d_backward_by_scatter(const Tensor& grad_output,
                                      const Tensor& self, const Tensor& target,
                                      const std::optional<Tensor>& weight,
                                      int64_t reduction, int64_t ignore_index,
                                      const Tensor& total_weight) {
  return nll_of_rows_backward(grad_output, rows_of_images(self), target, weight,
                              reduction, ignore_index, total_weight)
      .reshape({self.size(0), self.size(2), self.size(3), self.size(1)})
      .permute({0, 3, 1, 2})
      .contiguous();
}

}  // namespace sy::composite
