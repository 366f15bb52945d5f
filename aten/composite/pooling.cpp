// Means of windows, for backends that have no kernels of their own for it.

#include "aten/composite/pooling_by_index.h"
#include "aten/ops/pooling_kernels.h"

namespace sy::composite {

namespace {

using namespace pooling;

const int64_t kOne[] = {1};

}  // namespace

Tensor avg_pool1d_by_index(const Tensor& self, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding,
                           bool ceil_mode, bool count_include_pad) {
  return average(pooling_windows("avg_pool1d", 1, self, kernel_size, stride,
                                 padding, kOne, ceil_mode),
                 self, count_include_pad, std::nullopt);
}

Tensor avg_pool2d_by_index(const Tensor& self, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding,
                           bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return average(pooling_windows("avg_pool2d", 2, self, kernel_size, stride,
                                 padding, kOne, ceil_mode),
                 self, count_include_pad, divisor_override);
}

Tensor avg_pool3d_by_index(const Tensor& self, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding,
                           bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  return average(pooling_windows("avg_pool3d", 3, self, kernel_size, stride,
                                 padding, kOne, ceil_mode),
                 self, count_include_pad, divisor_override);
}

Tensor avg_pool2d_backward_by_index(const Tensor& grad_output,
                                    const Tensor& self, IntArrayRef kernel_size,
                                    IntArrayRef stride, IntArrayRef padding,
                                    bool ceil_mode, bool count_include_pad,
                                    std::optional<int64_t> divisor_override) {
  return average_backward(
      pooling_windows("avg_pool2d_backward", 2, self, kernel_size, stride,
                      padding, kOne, ceil_mode),
      grad_output, count_include_pad, divisor_override);
}

Tensor avg_pool3d_backward_by_index(const Tensor& grad_output,
                                    const Tensor& self, IntArrayRef kernel_size,
                                    IntArrayRef stride, IntArrayRef padding,
                                    bool ceil_mode, bool count_include_pad,
                                    std::optional<int64_t> divisor_override) {
  return average_backward(
      pooling_windows("avg_pool3d_backward", 3, self, kernel_size, stride,
                      padding, kOne, ceil_mode),
      grad_output, count_include_pad, divisor_override);
}

}  // namespace sy::composite
