#include "aten/ops/norm.h"

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/norm_kernels.h"
#include "aten/ops/shape.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

// The divisor of elements, a constant to gradients: the norm of x is that of
// x / m, times m.
Tensor divisor(const Tensor& x, bool greatest, OptionalIntArrayRef dim) {
  const NoGradGuard guard;
  const Tensor m = greatest ? sy::_vector_norm_max(x, dim, true, std::nullopt)
                            : sy::_vector_norm_min(x, dim, true, std::nullopt);
  // 0, infinity and NaN divide nothing.
  const Tensor usable = sy::logical_and(m > 0, sy::isfinite(m));
  return sy::where(usable, m, Scalar(1)).to(x.scalar_type());
}

}  // namespace

Tensor vector_norm_scaled(const Tensor& self, const Scalar& ord,
                          OptionalIntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  const Tensor x = widened(self.to(type));
  if (x.numel() == 0) {
    return sy::_vector_norm_p(x, ord, dim, keepdim, std::nullopt).to(type);
  }
  const Tensor m = divisor(x, ord.to_double() > 0, dim);
  const Tensor n = sy::_vector_norm_p(x / m, ord, dim, true, std::nullopt) * m;
  if (keepdim) return n.to(type);
  if (!dim.has_value() || dim->empty()) return n.reshape({}).to(type);
  return n.squeeze(*dim).to(type);
}

}  // namespace sy::composite
