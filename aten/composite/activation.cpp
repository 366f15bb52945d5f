// Softmax and its derivative, made of reductions: for backends that have no
// kernels of their own for them. Narrow floats are computed in float32.

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/activation_kernels.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"

namespace sy::composite {

namespace {

// The elements less the largest of each row.
Tensor shifted(const Tensor& self, int64_t dim) {
  const Tensor x = widened(self);
  return x.numel() == 0 ? x : x - sy::amax(x, dim, true);
}

ScalarType result_of(const Tensor& self, bool half_to_float) {
  return half_to_float ? kFloat : self.scalar_type();
}

}  // namespace

Tensor softmax_by_sum(const Tensor& self, int64_t dim, bool half_to_float) {
  const Tensor e = sy::exp(shifted(self, dim));
  return (e / sy::sum(e, dim, true)).to(result_of(self, half_to_float));
}

Tensor log_softmax_by_sum(const Tensor& self, int64_t dim, bool half_to_float) {
  const Tensor x = shifted(self, dim);
  return (x - sy::log(sy::sum(sy::exp(x), dim, true)))
      .to(result_of(self, half_to_float));
}

Tensor softmax_backward_by_sum(const Tensor& grad_output, const Tensor& output,
                               int64_t dim, ScalarType /*input_dtype*/) {
  const Tensor g = widened(grad_output) * widened(output);
  return (g - widened(output) * sy::sum(g, dim, true))
      .to(grad_output.scalar_type());
}

Tensor log_softmax_backward_by_sum(const Tensor& grad_output,
                                   const Tensor& output, int64_t dim,
                                   ScalarType /*input_dtype*/) {
  const Tensor g = widened(grad_output);
  return (g - sy::exp(widened(output)) * sy::sum(g, dim, true))
      .to(grad_output.scalar_type());
}

}  // namespace sy::composite
