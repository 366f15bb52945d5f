#include "sample_kernels.h"
#include "strided.h"

namespace sample {

sy::Tensor& fill__Scalar(sy::Tensor& self, const sy::Scalar& value) {
  const float v = value.toFloat();
  for_each<float>(self, self, self, [v](float& out, float, float) { out = v; });
  return self;
}

}  // namespace sample
