// Unique elements, and elements that are among others, made of a stable sort,
// nonzero and scatter: for backends that have no kernels of their own for it.

#include <algorithm>
#include <optional>
#include <tuple>

#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/histogram.h"
#include "aten/ops/indexing.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scan.h"
#include "aten/ops/shape.h"
#include "aten/ops/sort.h"
#include "aten/ops/unique.h"
#include "aten/ops/unique_kernels.h"
#include "aten/result_type.h"

namespace sy::composite {

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

// Groups of equal rows: in an order that has equals side by side, the first row
// of each; which group a row is in; and how many are in each.
struct Groups {
  Tensor first, inverse, counts;

  Groups(const Tensor& rows, const Tensor& order) {
    const int64_t n = rows.size(0);
    const TensorOptions longs = rows.options().dtype(kLong);
    if (n == 0) {
      first = inverse = counts = sy::empty({0}, longs);
      return;
    }
    const Tensor x = sy::index_select(rows, 0, order);
    const Tensor differs =
        x.narrow(0, 1, n - 1).ne(x.narrow(0, 0, n - 1)).any(1);
    const Tensor starts =
        sy::cat({sy::ones({1}, differs.options()), differs}, 0);
    const Tensor group = sy::cumsum(starts.to(kLong), 0) - 1;
    const Tensor places = sy::nonzero(starts).reshape(-1);
    first = sy::index_select(order, 0, places);
    inverse = sy::zeros({n}, longs).scatter(0, order, group);
    counts = sy::zeros(places.sizes(), longs)
                 .scatter_add(0, group, sy::ones({n}, longs));
  }
};

Tensor as_given(const Tensor& rows) {
  return sy::arange(rows.size(0), rows.options().dtype(kLong));
}

// Sorts by the first column, then by the second …: sorts are stable.
Tensor lexicographic(const Tensor& rows) {
  Tensor order = as_given(rows);
  for (int64_t c = rows.size(1); c-- > 0;) {
    const Tensor column = sy::index_select(rows.select(1, c), 0, order);
    const Tensor next = std::get<1>(sy::sort(column, true, 0, false));
    order = sy::index_select(order, 0, next);
  }
  return order;
}

Three unique_values(const Tensor& self, bool in_order, bool return_inverse,
                    bool return_counts) {
  const Tensor rows = self.reshape({self.numel(), 1});
  const Groups g(rows, in_order ? lexicographic(rows) : as_given(rows));
  const Tensor none = sy::empty({0}, self.options().dtype(kLong));
  return {sy::index_select(rows.reshape(-1), 0, g.first),
          return_inverse ? g.inverse.reshape(self.sizes()) : none,
          return_counts ? g.counts.clone() : none.clone()};
}

// Slices always come with their inverse and counts, as in ATen.
Three unique_slices(const char* op, const Tensor& self, int64_t dim,
                    bool in_order) {
  SY_CHECK(self.dim() > 0, Index,
           "[{}] dim: expected a tensor with dims, got none", op);
  const int64_t d = wrap_dim(op, dim, self.dim()), n = self.size(d);
  SY_CHECK(n == 0 || self.numel() > 0, Value,
           "[{}] self: expected slices with elements, got sizes {}", op,
           self.sizes());
  const Tensor slices = self.movedim(d, 0);
  const Tensor rows = slices.reshape({n, n == 0 ? 0 : self.numel() / n});
  const Groups g(rows, in_order ? lexicographic(rows) : as_given(rows));
  return {sy::index_select(self, d, g.first), g.inverse.clone(),
          g.counts.clone()};
}

}  // namespace

std::tuple<Tensor, Tensor> unique_elements_by_sort(const Tensor& self, bool,
                                                   bool return_inverse) {
  const auto [values, inverse, counts] =
      unique_values(self, true, return_inverse, false);
  return {values, inverse};
}

Three unique_counted_by_sort(const Tensor& self, bool, bool return_inverse,
                             bool return_counts) {
  return unique_values(self, true, return_inverse, return_counts);
}

Three unique_dim_by_sort(const Tensor& self, int64_t dim, bool, bool, bool) {
  return unique_slices("unique_dim", self, dim, true);
}

Three unique_consecutive_by_scan(const Tensor& self, bool return_inverse,
                                 bool return_counts,
                                 std::optional<int64_t> dim) {
  const bool vector =
      self.dim() == 1 && dim && wrap_dim("unique_consecutive", *dim, 1) == 0;
  if (!dim || vector) {
    return unique_values(self, false, return_inverse, return_counts);
  }
  return unique_slices("unique_consecutive", self, *dim, false);
}

Three unique_dim_consecutive_by_scan(const Tensor& self, int64_t dim, bool,
                                     bool) {
  return unique_slices("unique_dim_consecutive", self, dim, false);
}

Tensor count_nonzero_by_sum(const Tensor& self, IntArrayRef dim) {
  return sy::sum(self.ne(0), dim, false, kLong);
}

Tensor isin_by_search(const Tensor& elements, const Tensor& test_elements, bool,
                      bool invert) {
  const int64_t n = test_elements.numel();
  if (n == 0) {
    return sy::full(elements.sizes(), invert, elements.options().dtype(kBool));
  }
  const ScalarType dtype = result_type({elements, test_elements});
  const Tensor x = elements.to(dtype).reshape(-1);
  const Tensor others = std::get<0>(
      sy::sort(test_elements.to(dtype).reshape(-1), true, 0, false));
  const Tensor at = sy::clamp_max(sy::searchsorted(others, x), Scalar(n - 1));
  const Tensor there = sy::gather(others, 0, at);
  return (invert ? x.ne(there) : x.eq(there)).reshape(elements.sizes());
}

Tensor nonzero_static_by_nonzero(const Tensor& self, int64_t size,
                                 int64_t fill_value) {
  const Tensor found = sy::nonzero(self);
  const int64_t n = std::min(found.size(0), size);
  const Tensor rest =
      sy::full({size - n, found.size(1)}, Scalar(fill_value), found.options());
  return sy::cat({found.narrow(0, 0, n), rest}, 0);
}

}  // namespace sy::composite
