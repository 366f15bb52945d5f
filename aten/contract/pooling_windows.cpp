#include "aten/contract/pooling_windows.h"

#include "aten/engine/geometry.h"

namespace sy::geometry {

namespace {

constexpr int64_t kMost = 2147483647;

// n numbers, each within [least, 2^31).
Dims numbers(const char* op, const char* argument, IntArrayRef list, int64_t n,
             int64_t least) {
  SY_CHECK(len(list) == 1 || len(list) == n, Value, "[{}] {}{}{}{}", op,
           argument,
           n == 1 ? ": expected 1 number, got " : ": expected 1 number or ",
           n == 1 ? "" : str("{}, got ", n), list);
  Dims out;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t v = list[len(list) == 1 ? 0 : static_cast<size_t>(i)];
    SY_CHECK(v >= least && v <= kMost, Value,
             "[{}] {}: expected numbers in [{}, {}], got {}", op, argument,
             least, kMost, list);
    out.push_back(v);
  }
  return out;
}

}  // namespace

Dims window_counts(const char* op, IntArrayRef sizes, IntArrayRef kernel,
                   IntArrayRef stride, IntArrayRef padding,
                   IntArrayRef dilation) {
  const size_t n = sizes.size();
  SY_CHECK(kernel.size() == n && stride.size() == n && padding.size() == n &&
               dilation.size() == n,
           Value, "[{}] expected {} numbers for windows", op, len(sizes));
  Dims out;
  for (size_t i = 0; i < n; ++i) {
    const int64_t extent = dilation[i] * (kernel[i] - 1) + 1;
    out.push_back(floor_div(op, sizes[i] + 2 * padding[i] - extent, stride[i]) +
                  1);
  }
  return out;
}

Dims pooled_sizes(const char* op, int64_t n, IntArrayRef sizes,
                  IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  SY_CHECK(len(sizes) == n + 1 || len(sizes) == n + 2, Value,
           "[{}] self: expected {} or {} dims, got {}", op, n + 1, n + 2,
           sizes);
  const Dims kernel = numbers(op, "kernel_size", kernel_size, n, 1);
  const Dims steps =
      stride.empty() ? kernel : numbers(op, "stride", stride, n, 1);
  const Dims pad = numbers(op, "padding", padding, n, 0);
  const Dims apart = numbers(op, "dilation", dilation, n, 1);
  const IntArrayRef places = sizes.slice(sizes.size() - static_cast<size_t>(n),
                                         static_cast<size_t>(n));
  SY_CHECK(
      all(slice(sizes, len(sizes) - n - 1, len(sizes))), Value,
      "[{}] self: expected a tensor that is empty in its batch only, got {}",
      op, sizes);
  Dims out(sizes.slice(0, sizes.size() - static_cast<size_t>(n)));
  const Dims counts = window_counts(op, places, kernel, steps, pad, apart);
  for (int64_t i = 0; i < n; ++i) {
    SY_CHECK(pad[i] <= kernel[i] / 2, Value,
             "[{}] padding: expected at most half of kernel_size {}, got {}",
             op, kernel_size, padding);
    const int64_t size = places[static_cast<size_t>(i)];
    int64_t count = counts[i];
    if (ceil_mode) {
      const int64_t extent = apart[i] * (kernel[i] - 1) + 1;
      count = ceil_div(op, size + 2 * pad[i] - extent, steps[i]) + 1;
      if ((count - 1) * steps[i] >= size + pad[i]) --count;
    }
    SY_CHECK(count > 0, Value,
             "[{}] kernel_size: expected windows that fit into {} with padding "
             "{}, got {} with dilation {}",
             op, places, padding, kernel_size, dilation);
    out.push_back(count);
  }
  return out;
}

}  // namespace sy::geometry
