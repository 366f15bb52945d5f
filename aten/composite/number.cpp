#include <limits>

#include "aten/engine/guard.h"
#include "aten/ops/number.h"
#include "aten/ops/number_kernels.h"
#include "aten/ops/number_ops.h"
#include "c10/process/error.h"

namespace sy::composite {

namespace {

// The largest finite number of a floating dtype.
double largest(ScalarType t) {
  switch (t) {
    case kHalf: return 65504;
    case kBFloat16: return 0x1.fep127;
    case kFloat: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

}  // namespace

Tensor nan_to_num(const Tensor& self, std::optional<double> nan,
                  std::optional<double> posinf, std::optional<double> neginf) {
  if (!self.is_floating_point()) return self.clone();
  const double most = largest(self.scalar_type());
  return sy::_replace_nonfinite(self, nan.value_or(0), posinf.value_or(most),
                                neginf.value_or(-most));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol,
              bool equal_nan) {
  return sy::isclose(self, other, rtol, atol, equal_nan).all().item().to_bool();
}

Tensor& float_power__Tensor(Tensor& self, const Tensor& exponent) {
  self.pow_(exponent.to(kDouble));
  name_writer(self, &ops::float_power__Tensor::entry());
  return self;
}

Tensor& float_power__Scalar(Tensor& self, const Scalar& exponent) {
  self.pow_(exponent);
  name_writer(self, &ops::float_power__Scalar::entry());
  return self;
}

}  // namespace sy::composite
