#pragma once

#include <sy/sy.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

// How far tensors are apart.

namespace vision {

// The largest difference of two elements, relative to the largest of `expected`
// but no less than 1. Infinite for other sizes, other dtypes, and where one
// element is NaN and the other is not.
inline double difference(const sy::Tensor& got, const sy::Tensor& expected) {
  if (got.sizes() != expected.sizes() ||
      got.scalar_type() != expected.scalar_type()) {
    return INFINITY;
  }
  const sy::Tensor a = got.detach().cpu().to(sy::kDouble).contiguous();
  const sy::Tensor b = expected.cpu().to(sy::kDouble).contiguous();
  const auto* const x = static_cast<const double*>(a.data_ptr());
  const auto* const y = static_cast<const double*>(b.data_ptr());
  double most = 0, scale = 1;
  for (int64_t i = 0; i < a.numel(); ++i) {
    if (std::isnan(x[i]) != std::isnan(y[i])) return INFINITY;
    if (std::isnan(x[i]) || x[i] == y[i]) continue;
    most = std::max(most, std::fabs(x[i] - y[i]));
    scale = std::max(scale, std::fabs(y[i]));
  }
  return most / scale;
}

}  // namespace vision
