#include <tuple>

#include "aten/contract/pooling_windows.h"
#include "aten/ops/pooling_max.h"
#include "aten/ops/pooling_max_kernels.h"
#include "c10/thread_state.h"

namespace sy::composite {

namespace {

// Indices are for a derivative. What either of the two would refuse is refused
// here, in the name of `op`.
template <class WithIndices>
Tensor max_pool(const char* op, int64_t n, WithIndices with_indices,
                const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  SY_CHECK(self.dtype() != kBool, Value, "[", op,
           "] self: expected numbers, got ", self.dtype());
  shapes::pooled_sizes(op, n, self.sizes(), kernel_size, stride, padding,
                       dilation, ceil_mode);
  if (GradMode::is_enabled() && self.requires_grad()) {
    return std::get<0>(
        with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
  }
  return sy::_max_pool(self, n, kernel_size, stride, padding, dilation,
                       ceil_mode);
}

}  // namespace

// For backends that have it with indices.
Tensor max_pool_by_index(const Tensor& self, int64_t n, IntArrayRef kernel_size,
                         IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation, bool ceil_mode) {
  const auto pool = n == 1   ? sy::max_pool1d_with_indices
                    : n == 2 ? sy::max_pool2d_with_indices
                             : sy::max_pool3d_with_indices;
  return std::get<0>(
      pool(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool("max_pool1d", 1, sy::max_pool1d_with_indices, self,
                  kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool("max_pool2d", 2, sy::max_pool2d_with_indices, self,
                  kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool("max_pool3d", 3, sy::max_pool3d_with_indices, self,
                  kernel_size, stride, padding, dilation, ceil_mode);
}

}  // namespace sy::composite
