#include "aten/dims.h"

namespace sy {

int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) {
  const int64_t n = ndim == 0 ? 1 : ndim;
  SY_CHECK(dim >= -n && dim < n, Index, "[", op,
           "] dim: expected a value in [", -n, ", ", n - 1, "], got ", dim);
  return dim < 0 ? dim + n : dim;
}

}  // namespace sy
