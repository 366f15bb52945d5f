#include <algorithm>

#include "aten/engine/guard.h"
#include "aten/engine/index_functions.h"
#include "aten/operators.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/histogram_kernels.h"
#include "aten/ops/indexing.h"
#include "aten/ops/reduction.h"
#include "aten/ops/shape.h"
#include "aten/ops/statistics.h"
#include "aten/ops/view.h"

// Histograms of points in several dims.

namespace sy::composite {

namespace {

using OptionalRange = std::optional<ArrayRef<double>>;

// The points as rows; throws unless there are `dims` bins for `dims` columns.
Tensor points_of(const Tensor& self, size_t dims) {
  SY_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, Type,
           "[histogramdd] self: expected float32 or float64, got ",
           self.dtype());
  SY_CHECK(self.dim() >= 2, Value,
           "[histogramdd] self: expected points in the last of at least 2 "
           "dims, got ",
           describe(self));
  SY_CHECK(dims > 0 && self.sizes().back() == static_cast<int64_t>(dims), Value,
           "[histogramdd] bins: expected one for each of ", self.sizes().back(),
           " columns, got ", dims);
  const IntArrayRef outer = self.sizes().slice(0, self.sizes().size() - 1);
  return self.reshape({shapes::prod(outer), static_cast<int64_t>(dims)});
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
           "[histogramdd] range: expected finite ends, the lower first, got ",
           ends.first, " to ", ends.second);
  if (ends.first == ends.second) ends = {ends.first - 0.5, ends.second + 0.5};
  return ends;
}

// For each point the place of its box in a grid of boxes, row after row, and
// one beyond the last for points outside.
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
        Value, "[histogramdd] bins: expected vectors of at least two ",
        self.dtype(), " edges, got ", describe(edge));
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
             "[histogramdd] weight: expected ", self.dtype(), " ", outer,
             ", got ", describe(*weight));
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
    Dims along = shapes::fill(static_cast<int64_t>(edges.size()), 1);
    along[d] = counts[d];
    hist = hist / edges[d].diff().reshape(along);
  }
  return hist;
}

std::vector<int64_t> repeated(int64_t bins, const Tensor& self) {
  SY_CHECK(self.dim() > 0, Value,
           "[histogramdd] self: expected points in the last of at least 2 "
           "dims, got ",
           describe(self));
  return std::vector<int64_t>(static_cast<size_t>(self.sizes().back()), bins);
}

}  // namespace

std::vector<Tensor> histogramdd_bin_edges(
    const Tensor& self, IntArrayRef bins, OptionalRange range,
    const std::optional<Tensor>& /*weight*/, bool /*density*/) {
  const Tensor points = points_of(self, bins.size());
  SY_CHECK(!range || range->size() == 2 * bins.size(), Value,
           "[histogramdd] range: expected two ends for each of ", bins.size(),
           " dims, got ", range ? range->size() : 0);
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    SY_CHECK(bins[d] > 0 && bins[d] < (int64_t{1} << 31), Value,
             "[histogramdd] bins: expected numbers of bins below 2^31, got ",
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

}  // namespace sy::composite
