// Counting by bins, made of searchsorted and scatter_add: for backends that
// have no kernels of their own for it.

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/histogram_kernels.h"
#include "aten/ops/indexing.h"
#include "aten/ops/math.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"

namespace sy::composite {

namespace {

using Optional = std::optional<Tensor>;
using Ends = std::pair<double, double>;

// The least and the greatest element; NaN if there is one.
Ends extent(const Tensor& self) {
  return {self.min().item<double>(), self.max().item<double>()};
}

void check_extent(const char* op, const Ends& e) {
  SY_CHECK(std::isfinite(e.first) && std::isfinite(e.second), Value, "[", op,
           "] range: expected finite ends, got ", e.first, " to ", e.second);
}

// Sums of weights by place; what is not `inside` is left out.
Tensor sums(const Tensor& place, const Tensor& inside, const Tensor& weights,
            int64_t bins) {
  const Tensor at = sy::where(inside, place, Scalar(0));
  const Tensor by = sy::where(inside, weights, Scalar(0));
  return sy::zeros({bins}, weights.options()).scatter_add(0, at, by);
}

// As ATen places elements: by their share of the way from end to end.
Tensor linear_bin(const Tensor& x, double low, double high, int64_t bins) {
  const Tensor share = (x - low) / (sy::full_like(x, high) - low) * bins;
  return sy::clamp_max(share.to(kLong), Scalar(bins - 1));
}

// Edges as bins_tensor takes them.
std::tuple<Tensor, Tensor> between_edges(const Tensor& self,
                                         const Tensor& edges,
                                         const Optional& weight, bool density) {
  const bool weighted = weight && weight->defined();
  SY_CHECK(!weighted || weight->sizes() == self.sizes(), Value,
           "[histogram] weight: expected the sizes of self, ", self.sizes(),
           ", got ", weight->sizes());
  SY_CHECK(!weighted || weight->dtype() == self.dtype(), Type,
           "[histogram] weight: expected the dtype of self, ", self.dtype(),
           ", got ", weight->dtype());
  const int64_t bins = edges.numel() - 1;
  const Tensor x = self.reshape(-1);
  const Tensor by = weighted ? weight->reshape(-1).to(kDouble)
                             : sy::ones(x.sizes(), x.options().dtype(kDouble));
  if (bins == 0) return {sy::zeros({0}, self.options()), edges.clone()};
  const Tensor inside =
      sy::logical_and(x >= edges.select(0, 0), x <= edges.select(0, -1));
  const Tensor place = sy::clamp_max(
      sy::searchsorted(edges, x, false, true) - 1, Scalar(bins - 1));
  Tensor hist = sums(place, inside, by, bins);
  if (density) {
    const Tensor widths = edges.narrow(0, 1, bins) - edges.narrow(0, 0, bins);
    hist = hist / (hist.sum() * widths.to(kDouble));
  }
  return {hist.to(self.scalar_type()), edges.clone()};
}

}  // namespace

Tensor bincount_by_scatter(const Tensor& self, const Optional& weights,
                           int64_t minlength) {
  SY_CHECK(is_integral_type(self.dtype(), false), Type,
           "[bincount] self: expected integers, got ", self.dtype());
  const bool given = weights && weights->defined();
  SY_CHECK(!given || weights->sizes() == self.sizes(), Value,
           "[bincount] weights: expected the sizes of self, ", self.sizes(),
           ", got ", weights->sizes());
  const TensorOptions options = self.options();
  if (self.numel() == 0) return sy::zeros({minlength}, options.dtype(kLong));
  const Tensor at = self.to(kLong);
  SY_CHECK(at.min().item<int64_t>() >= 0, Value,
           "[bincount] self: expected no negative numbers, got ",
           at.min().item<int64_t>());
  const auto last = at.max().item<int64_t>();
  constexpr int64_t kMost = int64_t{1} << 31;
  SY_CHECK(last < kMost && minlength <= kMost, Value,
           "[bincount] self: expected numbers and minlength below 2^31, got ",
           std::max(last, minlength));
  const Tensor by =
      given ? weights->to(kDouble) : sy::ones(at.sizes(), options.dtype(kLong));
  const Tensor out = sy::zeros({std::max(last + 1, minlength)}, by.options())
                         .scatter_add(0, at, by);
  return given && weights->dtype() == kFloat ? out.to(kFloat) : out;
}

Tensor histc_by_scatter(const Tensor& self, int64_t bins, const Scalar& min,
                        const Scalar& max) {
  Ends e(min.to_double(), max.to_double());
  if (e.first == e.second && self.numel() > 0) e = extent(self);
  if (e.first == e.second) e = {e.first - 1, e.second + 1};
  check_extent("histc", e);
  SY_CHECK(e.first < e.second, Value,
           "[histc] max: expected more than min, got ", e.second,
           ", min = ", e.first);
  const Tensor x = widened(self).reshape(-1);
  const Tensor inside = sy::logical_and(x >= e.first, x <= e.second);
  const Tensor ones = sy::ones(x.sizes(), x.options().dtype(kLong));
  return sums(linear_bin(x, e.first, e.second, bins), inside, ones, bins)
      .to(self.scalar_type());
}

std::tuple<Tensor, Tensor> histogram_bin_ct_by_search(
    const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
    const Optional& weight, bool density) {
  SY_CHECK(!range || range->size() == 2, Value,
           "[histogram] range: expected two ends, got ",
           range ? range->size() : 0);
  Ends e(0, 1);
  if (range) {
    e = {(*range)[0], (*range)[1]};
  } else if (self.numel() > 0) {
    e = extent(self);
  }
  check_extent("histogram", e);
  SY_CHECK(e.first <= e.second, Value,
           "[histogram] range: expected the lower end first, got ", e.first,
           " to ", e.second);
  if (e.first == e.second) e = {e.first - 0.5, e.second + 0.5};
  // From both ends, in the dtype of self.
  const Tensor i = sy::arange(bins + 1, self.options());
  const Tensor low = sy::full({}, e.first, self.options());
  const Tensor high = sy::full({}, e.second, self.options());
  const Tensor step = (high - low) / bins;
  const Tensor edges = sy::where(i < Scalar((bins + 1) / 2), low + step * i,
                                 high - step * (bins - i));
  return between_edges(self, edges, weight, density);
}

std::tuple<Tensor, Tensor> histogram_bins_tensor_by_search(
    const Tensor& self, const Tensor& bins, const Optional& weight,
    bool density) {
  const int64_t n = bins.numel() - 1;
  SY_CHECK(!(bins.narrow(0, 0, n) > bins.narrow(0, 1, n)).any().item<bool>(),
           Value, "[histogram] bins: expected edges in order");
  return between_edges(self, bins, weight, density);
}

Tensor searchsorted_scalar_by_tensor(const Tensor& sorted_sequence,
                                     const Scalar& self, bool out_int32,
                                     bool right,
                                     std::optional<std::string_view> side,
                                     const Optional& sorter) {
  // Numbers of different kinds are compared as the wider one.
  ScalarType dtype = sorted_sequence.scalar_type();
  if (!is_floating_type(dtype)) {
    dtype = self.is_floating_point() ? default_dtype() : kLong;
  }
  const Tensor sequence = sorted_sequence.to(dtype);
  return sy::searchsorted(sequence, sy::full({}, self, sequence.options()),
                          out_int32, right, side, sorter);
}

}  // namespace sy::composite
