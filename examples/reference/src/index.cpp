#include <deque>

#include "elements.h"
#include "primitive.h"
#include "reference_kernels.h"

namespace reference {
namespace {

// No dim of `part` but `except` is longer than that of `whole`.
void check_fits(const char* op, const char* argument, const Tensor& part,
                const Tensor& whole, size_t except) {
  for (size_t d = 0; d < part.sizes().size(); ++d) {
    SY_CHECK(d == except || part.sizes()[d] <= whole.sizes()[d], Value,
             "[{}] {}: expected at most the sizes {}, got {}", op, argument,
             whole.sizes(), part.sizes());
  }
}
constexpr size_t kNoDim = SIZE_MAX;

// f(place in index, place in the tensor that it means) for each index.
template <class F>
void for_each_index(const char* op, const Tensor& self, int64_t dim,
                    const Tensor& index, const F& f) {
  const auto d = static_cast<size_t>(wrapped(dim, self.dim()));
  const int64_t n = self.sizes()[d];
  check_fits(op, "index", index, self, d);
  for_each_place(index.sizes(), [&](const Index& at) {
    Index to = at;
    to[d] = read<int64_t>(index, at);
    SY_CHECK(to[d] >= 0 && to[d] < n, Index,
             "[{}] index: expected indices in [0, {}], got {}", op, n - 1,
             to[d]);
    f(at, to);
  });
}

Tensor like(const Tensor& t) {
  return empty(t.sizes(), t.scalar_type(), t.device());
}

Tensor copy_of(const Tensor& t) {
  const Tensor out = like(t);
  for_each_place(t.sizes(),
                 [&](const Index& at) { copy_element(out, at, t, at); });
  return out;
}

template <class T>
T joined(std::string_view reduce, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return reduce == "prod" || reduce == "amin" ? a && b : a || b;
  } else {
    if (reduce == "prod") return mul(a, b);
    if (reduce == "amax") return maximum(a, b);
    if (reduce == "amin") return minimum(a, b);
    return add(a, b);  // sum, mean
  }
}

// One number among others. Whole numbers of a mean round down.
template <class T>
T mean(T sum, int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(n);
  } else if constexpr (std::is_same_v<T, bool>) {
    return sum;
  } else {
    const auto a = static_cast<int64_t>(sum);
    return static_cast<T>(a / n - (a % n != 0 && a < 0 ? 1 : 0));
  }
}

}  // namespace

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const Tensor out = empty(index.sizes(), self.scalar_type(), self.device());
  if (index.numel() == 0) return out;
  const Tensor x = with_dims(self), to = with_dims(out);
  for_each_index("gather", x, dim, with_dims(index),
                 [&](const Index& at, const Index& from) {
                   copy_element(to, at, x, from);
                 });
  return out;
}

Tensor scatter_src(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src) {
  const Tensor out = copy_of(self);
  if (index.numel() == 0) return out;
  const Tensor to = with_dims(out), x = with_dims(src);
  check_fits("scatter", "index", with_dims(index), x, kNoDim);
  for_each_index("scatter", to, dim, with_dims(index),
                 [&](const Index& at, const Index& place) {
                   copy_element(to, place, x, at);
                 });
  return out;
}

Tensor scatter_reduce_two(const Tensor& self, int64_t dim, const Tensor& index,
                          const Tensor& src, std::string_view reduce,
                          bool include_self) {
  SY_CHECK(reduce == "sum" || reduce == "prod" || reduce == "mean" ||
               reduce == "amax" || reduce == "amin",
           Value,
           "[scatter_reduce] reduce: expected sum, prod, mean, amax or amin, "
           "got '{}'",
           reduce);
  const Tensor out = copy_of(self);
  if (index.numel() == 0) return out;
  const Tensor to = with_dims(out), from = with_dims(src);
  check_fits("scatter_reduce", "index", with_dims(index), from, kNoDim);
  visit_computed(self.scalar_type(), [&]<class T>() {
    std::deque<T> values;  // of bool, too
    std::vector<int64_t> counts;
    for_each_place(to.sizes(), [&](const Index& at) {
      values.push_back(read<T>(to, at));
      counts.push_back(include_self ? 1 : 0);
    });
    for_each_index("scatter_reduce", to, dim, with_dims(index),
                   [&](const Index& at, const Index& place_of) {
                     const auto p = static_cast<size_t>(place(to, place_of));
                     const T v = read<T>(from, at);
                     values[p] =
                         counts[p] == 0 ? v : joined(reduce, values[p], v);
                     ++counts[p];
                   });
    for (size_t p = 0; p < values.size(); ++p) {
      const bool divided = reduce == "mean" && counts[p] > 0;
      write<T>(to, static_cast<int64_t>(p),
               divided ? mean(values[p], counts[p]) : values[p]);
    }
  });
  return out;
}

Tensor nonzero(const Tensor& self) {
  std::vector<Index> found;
  for_each_place(self.sizes(), [&](const Index& at) {
    if (read<bool>(self, at)) found.push_back(at);
  });
  const int64_t sizes[] = {static_cast<int64_t>(found.size()), self.dim()};
  const Tensor out = empty(sizes, sy::kLong, self.device());
  for_each_place(sizes, [&](const Index& at) {
    write(out, at,
          found[static_cast<size_t>(at[0])][static_cast<size_t>(at[1])]);
  });
  return out;
}

}  // namespace reference
