#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "aten/engine/copy.h"
#include "backends/cpu/histogram_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/rows.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// Elements counted by themselves; more are split, whatever the number of
// threads, as long as the bins are few beside them.
constexpr int64_t kPiece = int64_t{1} << 17;

// Adds `weight(i)` to bins[place(i)] for i < n; places below 0 are left out.
template <class B, class Place, class Weight>
void fill(int64_t n, std::span<B> bins, const Place& place,
          const Weight& weight) {
  const int64_t size = std::max(kPiece, 8 * static_cast<int64_t>(bins.size()));
  const int64_t pieces = std::max<int64_t>(1, (n + size - 1) / size);
  const auto add = [&](int64_t piece, std::span<B> to) {
    const int64_t last = std::min(n, (piece + 1) * size);
    for (int64_t i = piece * size; i < last; ++i) {
      const int64_t at = place(i);
      if (at >= 0) to[static_cast<size_t>(at)] += weight(i);
    }
  };
  if (pieces == 1) return add(0, bins);
  std::vector<ScratchVector<B>> parts(static_cast<size_t>(pieces));
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      ScratchVector<B>& part = parts[static_cast<size_t>(p)];
      part.resize(bins.size());
      add(p, part);
    }
  });
  for (const ScratchVector<B>& part : parts) {
    for (size_t b = 0; b < part.size(); ++b) bins[b] += part[b];
  }
}

// The least and the greatest element; NaN if there is one.
template <class T>
std::pair<double, double> extent(const T* x, int64_t n) {
  using A = typename Accumulate<T>::type;
  A low = static_cast<A>(x[0]), high = low;
  for (int64_t i = 0; i < n; ++i) {
    const A v = static_cast<A>(x[i]);
    if (v != v) return {NAN, NAN};
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return {low, high};
}

void check_extent(const char* op, std::pair<double, double> e) {
  SY_CHECK(std::isfinite(e.first) && std::isfinite(e.second), Value,
           "[{}] range: expected finite ends, got {} to {}", op, e.first,
           e.second);
}

template <class A>
ScratchVector<A> equal_edges(std::pair<double, double> e, int64_t bins) {
  const A low = static_cast<A>(e.first), high = static_cast<A>(e.second);
  const A step = (high - low) / static_cast<A>(bins);
  ScratchVector<A> edges;
  for (int64_t i = 0; i <= bins; ++i) {
    edges.push_back(i < (bins + 1) / 2
                        ? low + step * static_cast<A>(i)
                        : high - step * static_cast<A>(bins - i));
  }
  return edges;
}

// The bin of v by the ends of all bins, -1 outside of them and for NaN.
template <class A>
int64_t linear_bin(A v, A low, A high, int64_t bins) {
  if (!(v >= low && v <= high)) return -1;
  const auto at =
      static_cast<int64_t>((v - low) / (high - low) * static_cast<A>(bins));
  return std::min(at, bins - 1);
}

// The bin whose edges v lies between, searched in edges [begin, end).
template <class A>
int64_t bin_between(A v, const ScratchVector<A>& edges, int64_t begin,
                    int64_t end) {
  const auto first = edges.begin();
  const int64_t at = std::upper_bound(first + begin, first + end, v) - first;
  return std::min(at - 1, static_cast<int64_t>(edges.size()) - 2);
}

template <class T, class A>
void store(const ScratchVector<A>& from, const Tensor& to) {
  const RowsOut room(to, std::nullopt);
  auto* p = static_cast<T*>(room.data());
  for (size_t i = 0; i < from.size(); ++i) {
    p[i] = static_cast<T>(static_cast<typename Accumulate<T>::type>(from[i]));
  }
  room.store();
}

// Fills hist by a function from an element to its bin.
template <class T, class A, class F>
void histogram(const Tensor& x, const ScratchVector<A>& edges,
               const std::optional<Tensor>& weight, bool density,
               const Tensor& hist, const F& bin) {
  const auto* data = static_cast<const T*>(x.raw_data());
  ScratchVector<double> bins(edges.size() - 1);
  const auto place = [&](int64_t i) { return bin(static_cast<A>(data[i])); };
  if (weight && weight->defined()) {
    const Tensor w = contiguous_cpu(*weight, x.dtype());
    const auto* by = static_cast<const T*>(w.raw_data());
    fill(x.numel(), std::span(bins), place,
         [&](int64_t i) { return static_cast<double>(static_cast<A>(by[i])); });
  } else {
    fill(x.numel(), std::span(bins), place, [](int64_t) { return 1.0; });
  }
  if (density) {
    double sum = 0;
    for (const double b : bins) sum += b;
    for (size_t b = 0; b < bins.size(); ++b) {
      bins[b] /= sum * static_cast<double>(edges[b + 1] - edges[b]);
    }
  }
  store<T>(bins, hist);
}

void check_weight(const Tensor& self, const std::optional<Tensor>& weight) {
  if (!weight || !weight->defined()) return;
  SY_CHECK(weight->sizes() == self.sizes(), Value,
           "[histogram] weight: expected the sizes of self, {}, got {}",
           self.sizes(), weight->sizes());
  SY_CHECK(weight->dtype() == self.dtype(), Type,
           "[histogram] weight: expected the dtype of self, {}, got {}",
           self.dtype(), weight->dtype());
}

}  // namespace

void histc_out(const Tensor& self, int64_t bins, const Scalar& min,
               const Scalar& max, const Tensor& out) {
  const Tensor x = contiguous_cpu(self);
  visit_floating_dtypes("histc", self.dtype(), [&]<class T>() {
    using A = typename Accumulate<T>::type;
    const auto* data = static_cast<const T*>(x.raw_data());
    std::pair<double, double> e(min.to_double(), max.to_double());
    if (e.first == e.second && x.numel() > 0) e = extent(data, x.numel());
    if (e.first == e.second) e = {e.first - 1, e.second + 1};
    check_extent("histc", e);
    SY_CHECK(e.first < e.second, Value,
             "[histc] max: expected more than min, got {}, min = {}", e.second,
             e.first);
    const A low = static_cast<A>(e.first), high = static_cast<A>(e.second);
    ScratchVector<int64_t> counts(static_cast<size_t>(bins));
    fill(
        x.numel(), std::span(counts),
        [&](int64_t i) {
          return linear_bin(static_cast<A>(data[i]), low, high, bins);
        },
        [](int64_t) { return 1; });
    store<T>(ScratchVector<A>(counts.begin(), counts.end()), out);
  });
}

void histogram_bin_ct_out(const Tensor& self, int64_t bins,
                          std::optional<ArrayRef<double>> range,
                          const std::optional<Tensor>& weight, bool density,
                          const Tensor& hist, const Tensor& bin_edges) {
  check_weight(self, weight);
  SY_CHECK(!range || range->size() == 2, Value,
           "[histogram] range: expected two ends, got {}",
           range ? range->size() : 0);
  const Tensor x = contiguous_cpu(self);
  visit_floating_dtypes("histogram", self.dtype(), [&]<class T>() {
    using A = typename Accumulate<T>::type;
    std::pair<double, double> e(0, 1);
    if (range) {
      e = {(*range)[0], (*range)[1]};
    } else if (x.numel() > 0) {
      e = extent(static_cast<const T*>(x.raw_data()), x.numel());
    }
    check_extent("histogram", e);
    SY_CHECK(e.first <= e.second, Value,
             "[histogram] range: expected the lower end first, got {} to {}",
             e.first, e.second);
    if (e.first == e.second) e = {e.first - 0.5, e.second + 0.5};
    const ScratchVector<A> edges = equal_edges<A>(e, bins);
    store<T>(edges, bin_edges);
    const A low = edges.front(), high = edges.back();
    // A division finds the bin, then a search among the edges as they were
    // rounded.
    histogram<T>(x, edges, weight, density, hist, [&](A v) {
      const int64_t near = linear_bin(v, low, high, bins);
      if (near < 0) return near;
      return bin_between(v, edges, std::max<int64_t>(0, near - 1),
                         std::min(near + 2, bins + 1));
    });
  });
}

void histogram_bins_tensor_out(const Tensor& self, const Tensor& bins,
                               const std::optional<Tensor>& weight,
                               bool density, const Tensor& hist,
                               const Tensor& bin_edges) {
  check_weight(self, weight);
  const Tensor x = contiguous_cpu(self), given = contiguous_cpu(bins);
  visit_floating_dtypes("histogram", self.dtype(), [&]<class T>() {
    using A = typename Accumulate<T>::type;
    const auto* p = static_cast<const T*>(given.raw_data());
    const ScratchVector<A> edges(p, p + given.numel());
    for (size_t i = 1; i < edges.size(); ++i) {
      SY_CHECK(edges[i - 1] <= edges[i], Value,
               "[histogram] bins: expected edges in order, got {} after {}",
               edges[i], edges[i - 1]);
    }
    store<T>(edges, bin_edges);
    histogram<T>(x, edges, weight, density, hist, [&](A v) -> int64_t {
      if (!(v >= edges.front() && v <= edges.back())) return -1;
      return bin_between(v, edges, 0, static_cast<int64_t>(edges.size()));
    });
  });
}

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights,
                int64_t minlength) {
  SY_CHECK(is_integral_type(self.dtype(), false), Type,
           "[bincount] self: expected integers, got {}", self.dtype());
  // The result is counts if there are no elements, whatever the weights, as in
  // ATen.
  const bool weighted = weights && weights->defined() && self.numel() > 0;
  SY_CHECK(!weights || !weights->defined() || weights->sizes() == self.sizes(),
           Value, "[bincount] weights: expected the sizes of self, {}, got {}",
           self.sizes(), weights ? weights->sizes() : IntArrayRef());
  const Tensor x = contiguous_cpu(self, kLong);
  const auto* data = static_cast<const int64_t*>(x.raw_data());
  const int64_t n = x.numel();
  int64_t first = n > 0 ? data[0] : 0, last = n > 0 ? data[0] : -1;
  const auto least =
      tiles::reduce_fn(tiles::Reduction::min, program::ComputeType::i64);
  const auto greatest =
      tiles::reduce_fn(tiles::Reduction::max, program::ComputeType::i64);
  constexpr int64_t kRead = 2048;  // once from beyond the first cache
  for (int64_t i = 0; i < n; i += kRead) {
    least(&first, data + i, std::min(kRead, n - i));
    greatest(&last, data + i, std::min(kRead, n - i));
  }
  SY_CHECK(first >= 0, Value,
           "[bincount] self: expected no negative numbers, got {}", first);
  constexpr int64_t kMost = int64_t{1} << 31;
  SY_CHECK(last < kMost && minlength <= kMost, Value,
           "[bincount] self: expected numbers below 2^31 and minlength of at "
           "most that, got {}",
           std::max(last, minlength));
  const int64_t count = std::max(last + 1, minlength);
  const auto place = [&](int64_t i) { return data[i]; };
  const auto make = [&](ScalarType dtype) {
    return Tensor(make_tensor({count}, dtype, Device(kCPU)));
  };
  const auto zeros = [](const Tensor& out, auto zero) {
    using B = decltype(zero);
    const std::span bins(static_cast<B*>(out.raw_data()),
                         static_cast<size_t>(out.numel()));
    std::fill(bins.begin(), bins.end(), zero);
    return bins;
  };
  if (!weighted) {
    const Tensor out = make(kLong);
    fill(n, zeros(out, int64_t{0}), place, [](int64_t) { return 1; });
    return out;
  }
  const Tensor sums = make(kDouble);
  const std::span bins = zeros(sums, 0.0);
  if (weights->dtype() == kFloat) {
    const Tensor w = contiguous_cpu(*weights);
    const auto* by = static_cast<const float*>(w.raw_data());
    fill(n, bins, place, [&](int64_t i) { return static_cast<double>(by[i]); });
    return contiguous_cpu(sums, kFloat);
  }
  const Tensor w = contiguous_cpu(*weights, kDouble);
  const auto* by = static_cast<const double*>(w.raw_data());
  fill(n, bins, place, [&](int64_t i) { return by[i]; });
  return sums;
}

}  // namespace sy::cpu
