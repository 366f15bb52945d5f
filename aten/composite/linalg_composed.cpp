// Products made of bmm and convolution: for backends that have no kernels of
// their own for them.

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/convolution.h"
#include "aten/ops/convolution_kernels.h"
#include "aten/ops/copy.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/view.h"

namespace sy::composite {

Tensor mm_by_bmm(const Tensor& self, const Tensor& mat2) {
  return sy::bmm(self.unsqueeze(0), mat2.unsqueeze(0)).squeeze(0);
}

Tensor int_mm_by_mm(const Tensor& self, const Tensor& mat2) {
  return sy::mm(self.to(kInt), mat2.to(kInt));
}

Tensor mv_by_mm(const Tensor& self, const Tensor& vec) {
  return sy::mm(self, vec.unsqueeze(1)).squeeze(1);
}

Tensor dot_by_mm(const Tensor& self, const Tensor& tensor) {
  return sy::mm(self.unsqueeze(0), tensor.unsqueeze(1)).reshape({});
}

Tensor addmm_by_mm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                   const Scalar& beta, const Scalar& alpha) {
  // Narrow floats are rounded once, at the end.
  const ScalarType given = self.scalar_type();
  const ScalarType wide = is_reduced_floating_type(given) ? kFloat : given;
  // Integers are scaled by integers.
  const auto factor = [&](const Scalar& f) {
    return is_floating_type(given) ? f : Scalar(f.to_long());
  };
  const Tensor product = sy::mm(mat1.to(wide), mat2.to(wide)) * factor(alpha);
  // What beta = 0 leaves out may be NaN.
  if (factor(beta).to_double() == 0) {
    return product.to(given);
  }
  return (product + self.to(wide) * factor(beta)).to(given);
}

Tensor conv_tbc_by_convolution(const Tensor& self, const Tensor& weight,
                               const Tensor& bias, int64_t pad) {
  const int64_t one[] = {1}, none[] = {0}, padding[] = {pad};
  return sy::convolution(self.permute({1, 2, 0}), weight.permute({2, 1, 0}),
                         bias, one, padding, one, false, none, 1)
      .permute({2, 0, 1})
      .contiguous();
}

}  // namespace sy::composite
