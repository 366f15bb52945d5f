#include <string_view>

#include "aten/engine/dims.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/indexing.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/sort.h"
#include "aten/ops/statistics.h"
#include "aten/ops/statistics_kernels.h"
#include "aten/ops/unique.h"

namespace sy::composite {

namespace {

// The elements at parts q of the way through the sorted rows.
Tensor quantile_of(const char* op, const Tensor& self, const Tensor& q,
                   std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation, bool ignore_nan) {
  SY_CHECK(self.numel() > 0, Value,
           "[{}] self: expected elements, got sizes {}", op, self.sizes());
  SY_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, Type,
           "[{}] self: expected float32 or float64, got {}", op, self.dtype());
  SY_CHECK(q.dim() <= 1, Value,
           "[{}] q: expected a number or a vector, got {} dims", op, q.dim());
  SY_CHECK(q.dtype() == self.dtype(), Type,
           "[{}] q: expected the dtype of self, {}, got {}", op, self.dtype(),
           q.dtype());
  const bool linear = interpolation == "linear";
  const bool midpoint = interpolation == "midpoint";
  SY_CHECK(linear || midpoint || interpolation == "lower" ||
               interpolation == "higher" || interpolation == "nearest",
           Value,
           "[{}] interpolation: expected linear, lower, higher, midpoint or "
           "nearest, got {}",
           op, interpolation);
  if (q.device().type() == kCPU && q.numel() > 0) {
    SY_CHECK(all(logical_and(q.ge(0), q.le(1))).item<bool>(), Value,
             "[{}] q: expected parts from 0 to 1", op);
  }
  const int64_t ndim = self.dim();
  const int64_t d = dim ? wrap_dim(op, *dim, ndim) : 0;
  // Rows along the last dim.
  const Tensor rows = !dim        ? self.reshape({-1})
                      : ndim == 0 ? self.reshape({1})
                                  : self.movedim(d, -1);
  const Tensor sorted = std::get<0>(sort(rows, -1, false));
  Tensor rank;
  if (ignore_nan) {
    const Tensor last =
        sub(logical_not(isnan(sorted)).sum({-1}, true), 1).to(self.dtype());
    rank = clamp_min(mul(q, last), 0);
  } else {
    const auto last = static_cast<double>(sorted.size(-1) - 1);
    const Tensor nan = any(isnan(sorted), -1, true);
    rank = where(nan, Scalar(last), mul(q, Scalar(last)));
  }
  if (interpolation == "lower") rank = floor(rank);
  if (interpolation == "higher") rank = ceil(rank);
  if (interpolation == "nearest") rank = round(rank);
  const Tensor below = rank.to(kLong);
  Tensor values = gather(sorted, -1, below);
  if (linear || midpoint) {
    const Tensor above = gather(sorted, -1, ceil(rank).to(kLong));
    values = midpoint ? lerp(values, above, Scalar(0.5))
                      : lerp(values, above, sub(rank, below));
  }
  if (keepdim && dim && ndim > 0) {
    values = values.unsqueeze(d);
  } else if (keepdim) {
    Dims sizes;
    for (int64_t i = 0; i < ndim; ++i) sizes.push_back(1);
    sizes.push_back(values.size(-1));
    values = values.reshape(sizes);
  }
  return q.dim() == 0 ? values.squeeze(-1) : values.movedim(-1, 0);
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim,
                bool keepdim, std::string_view interpolation) {
  return quantile_of("quantile", self, q, dim, keepdim, interpolation, false);
}

Tensor nanquantile(const Tensor& self, const Tensor& q,
                   std::optional<int64_t> dim, bool keepdim,
                   std::string_view interpolation) {
  return quantile_of("nanquantile", self, q, dim, keepdim, interpolation, true);
}

Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  if (size.empty()) return sum(self);
  const int64_t lead = self.dim() - static_cast<int64_t>(size.size());
  Dims dims;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < lead ||
        (size[static_cast<size_t>(d - lead)] == 1 && self.size(d) != 1)) {
      dims.push_back(d);
    }
  }
  const Tensor sum = dims.empty() ? self : sy::sum(self, dims, true);
  return sum.view(size);
}

}  // namespace sy::composite
