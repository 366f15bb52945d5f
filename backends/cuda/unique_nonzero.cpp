#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/support/compact.h"

namespace sy::cuda {

Tensor nonzero(const Tensor& self) {
  const CountedMask m = count_true(self);
  const int64_t sizes[] = {number_true(m), self.dim()};
  const Tensor out = empty_on(self.device(), sizes, kLong);
  write_places(m, out, /*all=*/true);
  return out;
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  const int64_t sizes[] = {size, self.dim()};
  const Tensor out = empty_on(self.device(), sizes, kLong);
  fill(out, fill_value);
  write_places(count_true(self), out, /*all=*/false);
  return out;
}

}  // namespace sy::cuda
