// As many windows as asked, for backends that have no kernels of their own for
// it.

#include "aten/composite/pooling_by_index.h"
#include "aten/ops/pooling_adaptive_kernels.h"

namespace sy::composite {

namespace {

using namespace pooling;

}  // namespace

Tensor adaptive_avg_pool_by_index(const Tensor& self, IntArrayRef output_size) {
  return average(adaptive_windows(self, output_size), self, false,
                 std::nullopt);
}

Tensor adaptive_avg_pool2d_backward_by_index(const Tensor& grad_output,
                                             const Tensor& self) {
  return average_backward(adaptive_windows(self, last_sizes(grad_output, 2)),
                          grad_output, false, std::nullopt);
}

Tensor adaptive_avg_pool3d_backward_by_index(const Tensor& grad_output,
                                             const Tensor& self) {
  return average_backward(adaptive_windows(self, last_sizes(grad_output, 3)),
                          grad_output, false, std::nullopt);
}

std::tuple<Tensor, Tensor> adaptive_max_pool_by_index(const Tensor& self,
                                                      IntArrayRef output_size) {
  return largest(adaptive_windows(self, output_size), self);
}

Tensor adaptive_max_pool2d_backward_by_scatter(const Tensor& grad_output,
                                               const Tensor& self,
                                               const Tensor& indices) {
  return spread_like(grad_output, indices, self, 2);
}

Tensor adaptive_max_pool3d_backward_by_scatter(const Tensor& grad_output,
                                               const Tensor& self,
                                               const Tensor& indices) {
  return spread_like(grad_output, indices, self, 3);
}

}  // namespace sy::composite
