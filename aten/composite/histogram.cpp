#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "aten/engine/geometry.h"
#include "aten/engine/guard.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/histogram_kernels.h"

namespace sy::composite {

// Histograms of points in several dims.

namespace {

using OptionalRange = std::optional<ArrayRef<double>>;

// The points as rows; throws unless there are `dims` bins for `dims` columns.
Tensor points_of(const Tensor& self, size_t dims) {
  SY_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, Type,
           "[histogramdd] self: expected float32 or float64, got {}",
           self.dtype());
  SY_CHECK(self.dim() >= 2, Value,
           "[histogramdd] self: expected points in the last of at least 2 "
           "dims, got {}",
           describe(self));
  SY_CHECK(dims > 0 && self.sizes().back() == static_cast<int64_t>(dims), Value,
           "[histogramdd] bins: expected one for each of {} columns, got {}",
           self.sizes().back(), dims);
  const IntArrayRef outer = self.sizes().slice(0, self.sizes().size() - 1);
  return self.reshape({geometry::prod(outer), static_cast<int64_t>(dims)});
}

// The least and greatest edge of column `d`.
std::pair<double, double> ends_of(const Tensor& column, OptionalRange range,
                                  size_t d) {
  std::pair<double, double> ends{0, 1};
  if (range) {
    ends = {(*range)[2 * d], (*range)[2 * d + 1]};
  } else if (column.numel() > 0) {
    ends = {column.min().item().to_double(), column.max().item().to_double()};
  }
  SY_CHECK(std::isfinite(ends.first) && std::isfinite(ends.second) &&
               ends.first <= ends.second,
           Value,
           "[histogramdd] range: expected finite ends, the lower first, got {} "
           "to {}",
           ends.first, ends.second);
  if (ends.first == ends.second) ends = {ends.first - 0.5, ends.second + 0.5};
  return ends;
}

// The place of each point's box in a grid of boxes, row after row, and one
// beyond the last for points outside.
Tensor boxes_of(const Tensor& points, const std::vector<Tensor>& edges,
                int64_t boxes) {
  Tensor at = sy::zeros({points.size(0)}, points.options().dtype(kLong));
  Tensor outside = sy::zeros({points.size(0)}, points.options().dtype(kBool));
  for (size_t d = 0; d < edges.size(); ++d) {
    const Tensor column = points.select(1, static_cast<int64_t>(d));
    const Tensor& edge = edges[d];
    const int64_t count = edge.numel() - 1;
    const Tensor last = edge.select(0, count);
    const Tensor inside = sy::logical_and(sy::ge(column, edge.select(0, 0)),
                                          sy::le(column, last));
    outside = sy::logical_or(outside, inside.logical_not());
    // The last box holds its upper edge too.
    const Tensor box = sy::searchsorted(edge, column.contiguous(), false, true)
                           .sub(Scalar(1))
                           .clamp_max(Scalar(count - 1));
    at = at * Scalar(count) + box;
  }
  return at.masked_fill(outside, Scalar(boxes));
}

Tensor fill_boxes(const Tensor& self, const std::vector<Tensor>& edges,
                  const std::optional<Tensor>& weight, bool density) {
  const Tensor points = points_of(self, edges.size());
  Dims counts;
  int64_t boxes = 1;
  for (const Tensor& edge : edges) {
    SY_CHECK(
        edge.dim() == 1 && edge.numel() > 1 && edge.dtype() == self.dtype(),
        Value,
        "[histogramdd] bins: expected vectors of at least two {} edges, got {}",
        self.dtype(), describe(edge));
    const Tensor steps = edge.diff();
    SY_CHECK(sy::ge(steps, Scalar(0)).all().item().to_bool(), Value,
             "[histogramdd] bins: expected edges in order");
    counts.push_back(edge.numel() - 1);
    SY_CHECK(!__builtin_mul_overflow(boxes, edge.numel() - 1, &boxes) &&
                 boxes < (int64_t{1} << 31),
             Value, "[histogramdd] bins: expected less than 2^31 boxes");
  }
  const bool weighted = weight && weight->defined();
  if (weighted) {
    const IntArrayRef outer = self.sizes().slice(0, self.sizes().size() - 1);
    SY_CHECK(weight->sizes() == outer && weight->dtype() == self.dtype(), Value,
             "[histogramdd] weight: expected {} {}, got {}", self.dtype(),
             outer, describe(*weight));
  }
  Tensor hist =
      sy::bincount(boxes_of(points, edges, boxes),
                   weighted ? weight->reshape({-1}) : std::optional<Tensor>(),
                   boxes + 1)
          .narrow(0, 0, boxes)
          .to(self.scalar_type())
          .reshape(counts);
  if (!density) return hist;
  hist = hist / hist.sum();
  for (size_t d = 0; d < edges.size(); ++d) {
    Dims along = geometry::fill(static_cast<int64_t>(edges.size()), 1);
    along[d] = counts[d];
    hist = hist / edges[d].diff().reshape(along);
  }
  return hist;
}

std::vector<int64_t> repeated(int64_t bins, const Tensor& self) {
  SY_CHECK(self.dim() > 0, Value,
           "[histogramdd] self: expected points in the last of at least 2 "
           "dims, got {}",
           describe(self));
  return std::vector<int64_t>(static_cast<size_t>(self.sizes().back()), bins);
}

}  // namespace

std::vector<Tensor> histogramdd_bin_edges(
    const Tensor& self, IntArrayRef bins, OptionalRange range,
    const std::optional<Tensor>& /*weight*/, bool /*density*/) {
  const Tensor points = points_of(self, bins.size());
  SY_CHECK(!range || range->size() == 2 * bins.size(), Value,
           "[histogramdd] range: expected two ends for each of {} dims, got {}",
           bins.size(), range ? range->size() : 0);
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    SY_CHECK(bins[d] > 0 && bins[d] < (int64_t{1} << 31), Value,
             "[histogramdd] bins: expected numbers of bins below 2^31, got {}",
             bins[d]);
    const auto ends =
        ends_of(points.select(1, static_cast<int64_t>(d)), range, d);
    edges.push_back(sy::linspace(Scalar(ends.first), Scalar(ends.second),
                                 bins[d] + 1, self.options()));
  }
  return edges;
}

Tensor histogramdd_from_edges(const Tensor& self, ArrayRef<Tensor> bins,
                              const std::optional<Tensor>& weight,
                              bool density) {
  return fill_boxes(self, {bins.begin(), bins.end()}, weight, density);
}

Tensor histogramdd_from_counts(const Tensor& self, IntArrayRef bins,
                               OptionalRange range,
                               const std::optional<Tensor>& weight,
                               bool density) {
  return fill_boxes(self,
                    histogramdd_bin_edges(self, bins, range, weight, density),
                    weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd_counts(
    const Tensor& self, IntArrayRef bins, OptionalRange range,
    const std::optional<Tensor>& weight, bool density) {
  std::vector<Tensor> edges =
      sy::_histogramdd_bin_edges(self, bins, range, weight, density);
  Tensor hist = sy::_histogramdd_from_bin_tensors(self, edges, weight, density);
  return {std::move(hist), std::move(edges)};
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd_count(
    const Tensor& self, int64_t bins, OptionalRange range,
    const std::optional<Tensor>& weight, bool density) {
  return histogramdd_counts(self, repeated(bins, self), range, weight, density);
}

std::tuple<Tensor, std::vector<Tensor>> histogramdd_edges(
    const Tensor& self, ArrayRef<Tensor> bins, OptionalRange /*range*/,
    const std::optional<Tensor>& weight, bool density) {
  std::vector<Tensor> edges(bins.begin(), bins.end());
  Tensor hist = sy::_histogramdd_from_bin_tensors(self, edges, weight, density);
  return {std::move(hist), std::move(edges)};
}

namespace {

// Counting by bins, made of searchsorted and scatter_add: for backends that
// have no kernels of their own for it.

using Optional = std::optional<Tensor>;
using Ends = std::pair<double, double>;

// The least and the greatest element; NaN if there is one.
Ends extent(const Tensor& self) {
  return {self.min().item<double>(), self.max().item<double>()};
}

void check_extent(const char* op, const Ends& e) {
  SY_CHECK(std::isfinite(e.first) && std::isfinite(e.second), Value,
           "[{}] range: expected finite ends, got {} to {}", op, e.first,
           e.second);
}

// Sums of weights by place; elements that are not `inside` are left out.
Tensor sums(const Tensor& place, const Tensor& inside, const Tensor& weights,
            int64_t bins) {
  const Tensor at = sy::where(inside, place, Scalar(0));
  const Tensor by = sy::where(inside, weights, Scalar(0));
  return sy::zeros({bins}, weights.options()).scatter_add(0, at, by);
}

// Places elements by their share of the way from end to end, as ATen does.
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
           "[histogram] weight: expected the sizes of self, {}, got {}",
           self.sizes(), weight->sizes());
  SY_CHECK(!weighted || weight->dtype() == self.dtype(), Type,
           "[histogram] weight: expected the dtype of self, {}, got {}",
           self.dtype(), weight->dtype());
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
           "[bincount] self: expected integers, got {}", self.dtype());
  const bool given = weights && weights->defined();
  SY_CHECK(!given || weights->sizes() == self.sizes(), Value,
           "[bincount] weights: expected the sizes of self, {}, got {}",
           self.sizes(), weights->sizes());
  const TensorOptions options = self.options();
  if (self.numel() == 0) return sy::zeros({minlength}, options.dtype(kLong));
  const Tensor at = self.to(kLong);
  SY_CHECK(at.min().item<int64_t>() >= 0, Value,
           "[bincount] self: expected no negative numbers, got {}",
           at.min().item<int64_t>());
  const auto last = at.max().item<int64_t>();
  constexpr int64_t kMost = int64_t{1} << 31;
  SY_CHECK(last < kMost && minlength <= kMost, Value,
           "[bincount] self: expected numbers and minlength below 2^31, got {}",
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
           "[histc] max: expected more than min, got {}, min = {}", e.second,
           e.first);
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
           "[histogram] range: expected two ends, got {}",
           range ? range->size() : 0);
  Ends e(0, 1);
  if (range) {
    e = {(*range)[0], (*range)[1]};
  } else if (self.numel() > 0) {
    e = extent(self);
  }
  check_extent("histogram", e);
  SY_CHECK(e.first <= e.second, Value,
           "[histogram] range: expected the lower end first, got {} to {}",
           e.first, e.second);
  if (e.first == e.second) e = {e.first - 0.5, e.second + 0.5};
  // Counts from both ends, in the dtype of self.
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
