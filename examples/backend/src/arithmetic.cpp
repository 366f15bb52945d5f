#include <sy/sy.h>

#include "aten/engine/view.h"
#include "sample_kernels.h"
#include "strided.h"

namespace sample {
namespace {

using sy::Scalar;
using sy::Tensor;

Tensor result_for(const char* op, const Tensor& a, const Tensor& b) {
  return sy::empty(sy::broadcast_sizes(op, a.sizes(), b.sizes()), a.options());
}

}  // namespace

Tensor add_Tensor(const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  Tensor out = result_for("add", self, other);
  const float scale = alpha.toFloat();
  for_each<float>(out, self, other,
                  [scale](float& o, float a, float b) { o = a + scale * b; });
  return out;
}

Tensor mul_Tensor(const Tensor& self, const Tensor& other) {
  Tensor out = result_for("mul", self, other);
  for_each<float>(out, self, other,
                  [](float& o, float a, float b) { o = a * b; });
  return out;
}

}  // namespace sample
