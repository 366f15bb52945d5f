#include "aten/ops/activation_gated.h"
#include "aten/engine/geometry.h"
#include "aten/ops/activation.h"
#include "aten/ops/activation_gated_kernels.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/math.h"

namespace sy::composite {

std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  return {sy::log_sigmoid(self), sy::exp_(sy::abs(self).neg_())};
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  Dims sizes = geometry::fill(self.dim(), 1);
  if (weight.numel() != 1) sizes[self.dim() > 1 ? 1 : 0] = weight.numel();
  return sy::_prelu_kernel(self, weight.reshape(sizes));
}

Tensor glu(const Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim) / 2;
  return sy::sigmoid(self.narrow(dim, n, n)).mul_(self.narrow(dim, 0, n));
}

}  // namespace sy::composite
