#include <algorithm>

#include "aten/dims.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/reduction.h"
#include "aten/ops/reduction_kernels.h"
#include "aten/shapes.h"

namespace sy::native {

// Two passes, so that a large mean costs no digits.
Tensor var_correction(const Tensor& self, OptionalIntArrayRef dim,
                      const std::optional<Scalar>& correction, bool keepdim) {
  SY_CHECK(self.is_floating_point(), Type,
           "[var] self: expected a floating dtype, got ", describe(self));
  const IntArrayRef dims = dim.value_or(IntArrayRef());
  const Dims wrapped = shapes::wrap_dims("var", dims, self.dim());
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (dims.empty() || shapes::contains(wrapped, d)) count *= self.size(d);
  }
  const Tensor mean = sy::mean(self, dims, /*keepdim=*/true);
  const Tensor deviation = self - mean;
  const Tensor sum = sy::sum(deviation * deviation, dims, keepdim);
  const double divisor =
      static_cast<double>(count) -
      (correction.has_value() ? correction->to_double() : 1.0);
  return sum / Scalar(std::max(0.0, divisor));
}

}  // namespace sy::native
