#include "aten/engine/copy.h"

#include "aten/scalar_tensor.h"
#include "backends/cpu/copy_kernels_gen.h"

namespace sy::cpu {

Tensor copy_from(const Tensor& self, const Tensor& dst, bool) {
  copy_between(dst, self);
  return dst;
}

Scalar local_scalar_dense(const Tensor& self) {
  return read_scalar("_local_scalar_dense", self);
}

}  // namespace sy::cpu
