#include "aten/composite/pooling_by_index.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "aten/contract/pooling_windows.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scatter.h"
#include "aten/ops/sort.h"
#include "aten/tensor_new.h"
#include "c10/tensor/integer_range.h"

namespace sy::composite::pooling {

namespace {

int64_t number_of(IntArrayRef list, size_t k) {
  return list[list.size() == 1 ? 0 : k];
}

}  // namespace

Windows::Windows(const std::vector<int64_t>& dims,
                 const std::vector<Axis>& axes)
    : sizes(dims) {
  places = {{0}};
  padded = {1};
  firsts = {0};
  for (size_t k = 0; k < axes.size(); ++k) {
    counts.push_back(static_cast<int64_t>(axes[k].size()));
    add(axes[k], sizes[k]);
  }
}

int64_t Windows::plane() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

void Windows::add(const Axis& axis, int64_t size) {
  std::vector<std::vector<int64_t>> all;
  std::vector<int64_t> with_padding, begins;
  for (size_t w = 0; w < places.size(); ++w) {
    for (const Span& s : axis) {
      std::vector<int64_t> window;
      for (const int64_t outer : places[w]) {
        for (const int64_t i : s.places) window.push_back(outer * size + i);
      }
      all.push_back(std::move(window));
      with_padding.push_back(padded[w] * s.padded);
      begins.push_back(firsts[w] * size + s.first);
    }
  }
  places = std::move(all);
  padded = std::move(with_padding);
  firsts = std::move(begins);
}

std::vector<int64_t> last_sizes(const Tensor& t, int64_t n) {
  const std::vector<int64_t> all = t.sizes().vec();
  return {all.end() - n, all.end()};
}

Windows pooling_windows(const char* op, int64_t n, const Tensor& self,
                        IntArrayRef kernel, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation,
                        bool ceil_mode) {
  const Dims pooled = geometry::pooled_sizes(
      op, n, self.sizes(), kernel, stride, padding, dilation, ceil_mode);
  const std::vector<int64_t> sizes = last_sizes(self, n);
  std::vector<Axis> axes;
  for (size_t k = 0; k < static_cast<size_t>(n); ++k) {
    const int64_t length = number_of(kernel, k), pad = number_of(padding, k);
    const int64_t apart = number_of(dilation, k);
    const int64_t step = number_of(stride.empty() ? kernel : stride, k);
    Axis axis;
    const int64_t count =
        pooled[pooled.size() - static_cast<int>(n) + static_cast<int>(k)];
    for (int64_t w = 0; w < count; ++w) {
      const int64_t start = w * step - pad;
      const int64_t end = start + apart * (length - 1) + 1;
      Span span;
      span.padded = std::min(end, sizes[k] + pad) - start;
      for (int64_t i = start; i < end; i += apart) {
        if (i >= 0 && i < sizes[k]) span.places.push_back(i);
      }
      const int64_t skipped = start < 0 ? (-start + apart - 1) / apart : 0;
      span.first = std::min(start + skipped * apart, sizes[k] - 1);
      axis.push_back(std::move(span));
    }
    axes.push_back(std::move(axis));
  }
  return Windows(sizes, axes);
}

Windows adaptive_windows(const Tensor& self, IntArrayRef output) {
  const auto n = static_cast<int64_t>(output.size());
  const std::vector<int64_t> sizes = last_sizes(self, n);
  check_room(self, output);  // before the lists are made
  std::vector<Axis> axes;
  for (size_t k = 0; k < output.size(); ++k) {
    Axis axis;
    for (int64_t w = 0; w < output[k]; ++w) {
      Span span;
      const int64_t begin = w * sizes[k] / output[k];
      const int64_t end = ((w + 1) * sizes[k] + output[k] - 1) / output[k];
      for (int64_t i = begin; i < end; ++i) span.places.push_back(i);
      span.padded = end - begin;
      axis.push_back(std::move(span));
    }
    axes.push_back(std::move(axis));
  }
  return Windows(sizes, axes);
}

namespace {

// `t` with the last dims as one, and with others in their place.
Tensor flattened(const Tensor& t, size_t n) {
  std::vector<int64_t> sizes = t.sizes().vec();
  int64_t plane = 1;
  for (size_t k = 0; k < n; ++k) {
    plane *= sizes.back();
    sizes.pop_back();
  }
  sizes.push_back(plane);
  return t.reshape(sizes);
}

Tensor unflattened(const Tensor& t, const std::vector<int64_t>& last) {
  std::vector<int64_t> sizes = t.sizes().vec();
  sizes.pop_back();
  sizes.insert(sizes.end(), last.begin(), last.end());
  return t.reshape(sizes);
}

// All pairs of a window and a place that belong together.
struct Pairs {
  Tensor windows, places;

  Pairs(const Windows& w, Device device) {
    std::vector<int64_t> of, at;
    for (size_t i = 0; i < w.places.size(); ++i) {
      of.insert(of.end(), w.places[i].size(), static_cast<int64_t>(i));
      at.insert(at.end(), w.places[i].begin(), w.places[i].end());
    }
    windows = sy::tensor(of, kLong).to(device);
    places = sy::tensor(at, kLong).to(device);
  }
};

ScalarType wide(const Tensor& t) {
  return is_reduced_floating_type(t.scalar_type()) ? kFloat : t.scalar_type();
}

Tensor zeros_with(const Tensor& like, int64_t last) {
  std::vector<int64_t> sizes = like.sizes().vec();
  sizes.back() = last;
  return sy::zeros(sizes, like.options());
}

// The divisors of the sums of the windows.
Tensor divisors(const Windows& w, bool with_padding,
                std::optional<int64_t> divisor, const Tensor& like) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < w.places.size(); ++i) {
    const auto own = static_cast<int64_t>(w.places[i].size());
    out.push_back(divisor.value_or(with_padding ? w.padded[i] : own));
  }
  return sy::tensor(out, kLong).to(like.device()).to(like.scalar_type());
}

Tensor quotient(const Tensor& a, const Tensor& b) {
  return is_floating_type(a.scalar_type()) ? a / b : sy::div(a, b, "trunc");
}

}  // namespace

Tensor average(const Windows& w, const Tensor& self, bool with_padding,
               std::optional<int64_t> divisor) {
  const Tensor x = flattened(self.to(wide(self)), w.sizes.size());
  const Pairs pairs(w, self.device());
  const Tensor sums =
      sy::index_add(zeros_with(x, static_cast<int64_t>(w.places.size())), -1,
                    pairs.windows, sy::index_select(x, -1, pairs.places));
  const Tensor means = quotient(sums, divisors(w, with_padding, divisor, sums));
  return unflattened(means, w.counts)
      .to(self.scalar_type())
      .contiguous(self.suggest_memory_format());
}

Tensor average_backward(const Windows& w, const Tensor& grad_output,
                        bool with_padding, std::optional<int64_t> divisor) {
  const Tensor g = flattened(grad_output.to(wide(grad_output)), w.sizes.size());
  const Pairs pairs(w, grad_output.device());
  const Tensor shares = quotient(g, divisors(w, with_padding, divisor, g));
  const Tensor sums =
      sy::index_add(zeros_with(g, w.plane()), -1, pairs.places,
                    sy::index_select(shares, -1, pairs.windows));
  return unflattened(sums, w.sizes).to(grad_output.scalar_type());
}

namespace {

// The place in each row of the last NaN, or that of `first` if it has none.
Tensor last_nan(const Tensor& rows, const Tensor& first) {
  if (!is_floating_type(rows.scalar_type())) return first;
  const Tensor places = sy::arange(rows.size(-1), rows.options().dtype(kLong));
  const Tensor last =
      sy::amax(sy::where(sy::isnan(rows), places, Scalar(-1)), {-1}, true);
  return sy::where(sy::lt(last, 0), first, last);
}

Scalar least(ScalarType t) {
  if (is_floating_type(t)) return -std::numeric_limits<double>::infinity();
  return integer_range(t).low;
}

}  // namespace

std::tuple<Tensor, Tensor> largest(const Windows& w, const Tensor& self) {
  const Tensor x = flattened(self, w.sizes.size());
  size_t most = 1;
  for (const auto& window : w.places) most = std::max(most, window.size());
  // Shorter windows repeat their last element, which changes nothing.
  std::vector<int64_t> all, empty;
  for (size_t i = 0; i < w.places.size(); ++i) {
    const std::vector<int64_t>& window = w.places[i];
    all.insert(all.end(), window.begin(), window.end());
    all.insert(all.end(), most - window.size(),
               window.empty() ? w.firsts[i] : window.back());
    if (window.empty()) empty.push_back(static_cast<int64_t>(i));
  }
  const auto n = static_cast<int64_t>(w.places.size());
  const auto length = static_cast<int64_t>(most);
  const Tensor places = sy::tensor(all, kLong).to(self.device());
  const Tensor elements =
      unflattened(sy::index_select(x, -1, places), {n, length});
  const Tensor chosen =
      last_nan(elements, std::get<1>(sy::max(elements, -1, true)));
  const Tensor table = places.reshape({n, length});
  const Tensor indices = sy::gather(table.expand(elements.sizes()), -1, chosen);
  Tensor values = sy::gather(elements, -1, chosen).squeeze(-1);
  if (!empty.empty()) {
    values =
        sy::index_fill(values, -1, sy::tensor(empty, kLong).to(self.device()),
                       least(self.scalar_type()));
  }
  const MemoryFormat format = self.suggest_memory_format();
  return {unflattened(values, w.counts).contiguous(format),
          unflattened(indices.squeeze(-1), w.counts).contiguous(format)};
}

namespace {

// Each element of `source` at its index in the plane, added up.
Tensor spread(const Tensor& source, const Tensor& indices, IntArrayRef last) {
  const Tensor x = flattened(source.to(wide(source)), last.size());
  const Tensor at = flattened(indices, last.size());
  const Tensor nowhere = sy::eq(at, -1);
  int64_t plane = 1;
  for (const int64_t s : last) plane *= s;
  const Tensor sums = sy::scatter_add(zeros_with(x, plane), -1,
                                      sy::where(nowhere, Scalar(0), at),
                                      sy::where(nowhere, Scalar(0), x));
  return unflattened(sums, last.vec()).to(source.scalar_type());
}

}  // namespace

Tensor spread_like(const Tensor& grad, const Tensor& indices,
                   const Tensor& self, int64_t n) {
  return spread(grad, indices, last_sizes(self, n));
}

}  // namespace sy::composite::pooling
