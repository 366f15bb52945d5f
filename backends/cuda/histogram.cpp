#include <algorithm>
#include <cmath>
#include <optional>

#include "aten/engine/structured.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/reduction.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/cub/counts.h"
#include "backends/cuda/device/histogram_params.cuh"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/runtime/launch.h"

// Programs find the places of elements among the bins; kernels count numbers.

namespace sy::cuda {

namespace {

// How often each of the numbers (int32 or int64) from 0 on occurs. Numbers out
// of range are not counted.
Tensor counts_of(const Tensor& given, int64_t bins) {
  const Tensor numbers = contiguous_on_device(given);
  const Tensor counts = new_result(numbers, bins, kLong);
  if (cub::count_numbers(numbers, counts)) return counts;
  fill_bytes(counts, counts.raw_data(), 0, counts.nbytes());
  if (numbers.numel() == 0) return counts;
  const int device = numbers.device().index();
  const Define define[] = {
      {"SY_NUMBER", numbers.dtype() == kInt ? "int32_t" : "int64_t"}};
  CountNumbersParams p = {};
  p.n = numbers.numel();
  p.bins = bins;
  p.numbers = numbers.raw_data();
  p.counts = static_cast<unsigned long long*>(counts.raw_data());
  launch(device, kernel(device, "histogram.cu", "count_numbers", define),
         shape_for(p.n, 512, 16, 1 << 11), p, {&numbers, &counts});
  return counts;
}

}  // namespace

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights,
                int64_t minlength) {
  SY_CHECK(is_integral_type(self.dtype(), false), Type,
           "[bincount] self: expected integers, got {}", self.dtype());
  const bool given = weights && weights->defined();
  SY_CHECK(!given || weights->sizes() == self.sizes(), Value,
           "[bincount] weights: expected the sizes of self, {}, got {}",
           self.sizes(), weights->sizes());
  if (self.numel() == 0) {
    return sy::zeros({minlength}, self.options().dtype(kLong));
  }
  const auto least = self.min().item<int64_t>();
  SY_CHECK(least >= 0, Value,
           "[bincount] self: expected no negative numbers, got {}", least);
  const auto last = self.max().item<int64_t>();
  constexpr int64_t kMost = int64_t{1} << 31;
  SY_CHECK(last < kMost && minlength <= kMost, Value,
           "[bincount] self: expected numbers and minlength below 2^31, got {}",
           std::max(last, minlength));
  const int64_t bins = std::max(last + 1, minlength);
  if (!given) {
    return counts_of(self.dtype() == kLong ? self : self.to(kInt), bins);
  }
  const Tensor sums = sy::zeros({bins}, self.options().dtype(kDouble))
                          .scatter_add(0, self.to(kLong), weights->to(kDouble));
  return weights->dtype() == kFloat ? sums.to(kFloat) : sums;
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min,
             const Scalar& max) {
  double low = min.to_double(), high = max.to_double();
  if (low == high && self.numel() > 0) {
    low = self.min().item<double>();
    high = self.max().item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  SY_CHECK(std::isfinite(low) && std::isfinite(high), Value,
           "[histc] range: expected finite ends, got {} to {}", low, high);
  SY_CHECK(low < high, Value,
           "[histc] max: expected more than min, got {}, min = {}", high, low);
  // As ATen places elements: by their share of the way from end to end. CUB's
  // own bins of floats round otherwise.
  const Tensor x = widened(self).reshape(-1);
  const Tensor inside = sy::logical_and(x >= low, x <= high);
  const Tensor share = (x - low) / (sy::full_like(x, high) - low) * bins;
  const Tensor place = sy::clamp_max(share.to(kLong), Scalar(bins - 1));
  return counts_of(sy::where(inside, place, Scalar(-1)), bins)
      .to(self.scalar_type());
}

}  // namespace sy::cuda
