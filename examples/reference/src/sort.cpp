#include <algorithm>
#include <numeric>

#include "elements.h"
#include "primitive.h"
#include "reference_kernels.h"

namespace reference {
namespace {

// NaN is above every number.
template <class T>
bool below(T a, T b) {
  return is_nan(b) ? !is_nan(a) : a < b;
}

// f(first place of the row, its elements) for each row along a dim.
template <class T, class F>
void for_each_row(const Tensor& t, size_t dim, const F& f) {
  Index rows = t.sizes().vec();
  const int64_t n = rows[dim];
  rows[dim] = n == 0 ? 0 : 1;
  for_each_place(rows, [&](Index at) {
    std::vector<T> row;
    for (at[dim] = 0; at[dim] < n; ++at[dim]) row.push_back(read<T>(t, at));
    at[dim] = 0;
    f(at, row);
  });
}

}  // namespace

std::tuple<Tensor, Tensor> sort_stable(const Tensor& self, std::optional<bool>,
                                       int64_t dim, bool descending) {
  const auto d = static_cast<size_t>(wrapped(dim, self.dim()));
  const Tensor x = with_dims(self);
  const Tensor values = empty(self.sizes(), self.scalar_type(), self.device());
  const Tensor indices = empty(self.sizes(), sy::kLong, self.device());
  const Tensor v = with_dims(values), i = with_dims(indices);
  visit_computed(self.scalar_type(), [&]<class T>() {
    for_each_row<T>(x, d, [&](Index at, const std::vector<T>& row) {
      std::vector<int64_t> order(row.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const T p = row[static_cast<size_t>(a)],
                q = row[static_cast<size_t>(b)];
        return descending ? below(q, p) : below(p, q);
      });
      for (const int64_t from : order) {
        write<T>(v, at, row[static_cast<size_t>(from)]);
        write(i, at, from);
        ++at[d];
      }
    });
  });
  return {values, indices};
}

// The smallest of the elements that occur most, and where it was last.
std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  const auto d = static_cast<size_t>(wrapped(dim, self.dim()));
  const Tensor x = with_dims(self);
  Index sizes = x.sizes().vec();
  sizes[d] = 1;
  Tensor values = empty(sizes, self.scalar_type(), self.device());
  Tensor indices = empty(sizes, sy::kLong, self.device());
  visit_computed(self.scalar_type(), [&]<class T>() {
    for_each_row<T>(x, d, [&](const Index& at, const std::vector<T>& row) {
      T best{};
      int64_t most = 0, place_of_best = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        int64_t times = is_nan(row[i]) ? 1 : 0;
        for (const T& other : row) times += other == row[i];
        const bool same = row[i] == best;
        if (times < most || (times == most && !same && below(best, row[i]))) {
          continue;
        }
        if (times == most && is_nan(row[i])) continue;
        best = row[i];
        most = times;
        place_of_best = static_cast<int64_t>(i);
      }
      write<T>(values, at, best);
      write(indices, at, place_of_best);
    });
  });
  if (!keepdim || self.dim() == 0) {
    Index result = self.sizes().vec();
    if (self.dim() > 0) result.erase(result.begin() + static_cast<int64_t>(d));
    values = values.reshape(result);
    indices = indices.reshape(result);
  }
  return {values, indices};
}

}  // namespace reference
