#include <algorithm>
#include <numeric>

#include "aten/result_type.h"
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

// std::nth_element or, of few among many, std::partial_sort decides which of
// equal elements come: so it is in ATen.
std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim,
                                bool largest, bool sorted) {
  const auto d = static_cast<size_t>(wrapped(dim, self.dim()));
  const Tensor x = with_dims(self);
  Index sizes = x.sizes().vec();
  sizes[d] = k;
  const Tensor values = empty(sizes, self.scalar_type(), self.device());
  const Tensor indices = empty(sizes, sy::kLong, self.device());
  visit_computed(self.scalar_type(), [&]<class T>() {
    for_each_row<T>(x, d, [&](Index at, const std::vector<T>& row) {
      if (k == 0) return;
      const auto n = static_cast<int64_t>(row.size());
      std::vector<int64_t> order(row.size());
      std::iota(order.begin(), order.end(), 0);
      const auto before = [&](int64_t a, int64_t b) {
        const T p = row[static_cast<size_t>(a)],
                q = row[static_cast<size_t>(b)];
        return largest ? below(q, p) : below(p, q);
      };
      if (k * 64 <= n) {
        std::partial_sort(order.begin(), order.begin() + k, order.end(),
                          before);
      } else {
        std::nth_element(order.begin(), order.begin() + k - 1, order.end(),
                         before);
        if (sorted) std::sort(order.begin(), order.begin() + k - 1, before);
      }
      for (int64_t i = 0; i < k; ++i, ++at[d]) {
        const int64_t from = order[static_cast<size_t>(i)];
        write<T>(values, at, row[static_cast<size_t>(from)]);
        write(indices, at, from);
      }
    });
  });
  if (self.dim() > 0) return {values, indices};
  return {values.reshape({}), indices.reshape({})};
}

// How many elements of the row come before each value: those that are less, and
// (right) its equals; NaN comes after all. Found by halving what is left.
Tensor searchsorted_Tensor(const Tensor& sorted_sequence, const Tensor& self,
                           bool out_int32, bool right,
                           std::optional<std::string_view> side,
                           const std::optional<Tensor>& sorter) {
  const bool after = right || (side && *side == "right");
  const bool ordered = sorter && sorter->defined();
  const int64_t n = sorted_sequence.size(-1);
  SY_CHECK(
      !ordered || (sorter->scalar_type() == sy::kLong &&
                   sorter->sizes() == sorted_sequence.sizes()),
      Value,
      "[searchsorted] sorter: expected int64 indices of the sizes {}, got {}",
      sorted_sequence.sizes(), sy::describe(*sorter));
  if (ordered) {
    for_each_place(sorter->sizes(), [&](const Index& at) {
      const auto i = read<int64_t>(*sorter, at);
      SY_CHECK(i >= 0 && i < n, Index,
               "[searchsorted] sorter: expected indices in [0, {}], got {}",
               n - 1, i);
    });
  }
  const Tensor out =
      empty(self.sizes(), out_int32 ? sy::kInt : sy::kLong, self.device());
  visit_computed(sy::result_type(std::vector<Tensor>{sorted_sequence, self}),
                 [&]<class T>() {
                   for_each_place(self.sizes(), [&](const Index& at) {
                     const T v = read<T>(self, at);
                     Index from = sorted_sequence.dim() == 1 ? Index{0} : at;
                     const auto is_before = [&](int64_t i) {
                       from.back() = i;
                       Index element = from;
                       if (ordered)
                         element.back() = read<int64_t>(*sorter, from);
                       const T x = read<T>(sorted_sequence, element);
                       return after ? !(x > v) : !(x >= v);
                     };
                     int64_t begin = 0, left = n;
                     while (left > 1) {
                       const int64_t half = left / 2;
                       if (is_before(begin + half - 1)) begin += half;
                       left -= half;
                     }
                     if (n > 0 && is_before(begin)) ++begin;
                     write(out, at, begin);
                   });
                 });
  return out;
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
