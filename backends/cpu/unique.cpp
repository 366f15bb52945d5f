#include <algorithm>
#include <cstring>
#include <numeric>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/view.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/rows.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/support/sort_key.h"
#include "backends/cpu/unique_kernels_gen.h"

namespace sy::cpu {

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor make(IntArrayRef sizes, ScalarType dtype) {
  return Tensor(make_tensor(sizes, dtype, Device(kCPU)));
}
Tensor make_longs(const ScratchVector<int64_t>& v) {
  Tensor t = make({static_cast<int64_t>(v.size())}, kLong);
  if (!v.empty()) std::memcpy(t.raw_data(), v.data(), v.size() * 8);
  return t;
}

// Groups of equals: the elements in an order that has equals side by side, and
// where in it each group begins.
struct Groups {
  ScratchVector<int64_t> order;   // empty: as they are
  ScratchVector<int64_t> starts;  // without the end
  int64_t n = 0;

  int64_t at(int64_t i) const {
    return order.empty() ? i : order[static_cast<size_t>(i)];
  }
  int64_t count() const { return static_cast<int64_t>(starts.size()); }
  int64_t end(int64_t g) const {
    return g + 1 < count() ? starts[static_cast<size_t>(g + 1)] : n;
  }
  // For each element its group.
  Tensor inverse(IntArrayRef sizes) const {
    const Tensor t = make(sizes, kLong);
    auto* to = static_cast<int64_t*>(t.raw_data());
    for (int64_t g = 0; g < count(); ++g) {
      const int64_t first = starts[static_cast<size_t>(g)];
      if (order.empty()) {
        std::fill(to + first, to + end(g), g);
      } else {
        for (int64_t i = first; i < end(g); ++i) to[at(i)] = g;
      }
    }
    return t;
  }
  Tensor counts() const {
    ScratchVector<int64_t> v;
    v.reserve(starts.size());
    for (int64_t g = 0; g < count(); ++g) {
      v.push_back(end(g) - starts[static_cast<size_t>(g)]);
    }
    return make_longs(v);
  }
};

// `same(i, j)`: elements i and j, neighbours in the order, are equal.
template <class F>
void find_starts(Groups* g, const F& same) {
  constexpr int64_t kListed = 1024;
  const auto find = [&](const auto& at) {
    // Every number is written, and stays if the next is not put in its place.
    int64_t found[kListed];
    for (int64_t begin = 1; begin < g->n; begin += kListed) {
      const int64_t end = std::min(g->n, begin + kListed);
      int64_t k = 0;
      for (int64_t i = begin; i < end; ++i) {
        found[k] = i;
        k += !same(at(i - 1), at(i));
      }
      g->starts.insert(g->starts.end(), found, found + k);
    }
  };
  if (g->n == 0) return;
  g->starts.reserve(static_cast<size_t>(g->n));  // untouched, it costs nothing
  g->starts.push_back(0);
  if (g->order.empty()) {
    find([](int64_t i) { return i; });
  } else {
    find([order = g->order.data()](int64_t i) { return order[i]; });
  }
}

// The same of elements as they are, past pieces in which none differs.
template <class T>
void find_starts_beside(Groups* g, const T* data) {
  constexpr int64_t kPiece = 128;
  if (g->n == 0) return;
  g->starts.reserve(static_cast<size_t>(g->n));
  g->starts.push_back(0);
  int64_t found[kPiece];
  for (int64_t begin = 1; begin < g->n; begin += kPiece) {
    const int64_t end = std::min(g->n, begin + kPiece);
    const T& before = data[begin - 1];
    // Elements that have the bits of the one before all have those of `before`.
    if (before == before &&
        std::memcmp(data + begin - 1, data + begin,
                    static_cast<size_t>(end - begin) * sizeof(T)) == 0) {
      continue;
    }
    int64_t k = 0;
    for (int64_t i = begin; i < end; ++i) {
      found[k] = i;
      k += !(data[i - 1] == data[i]);
    }
    g->starts.insert(g->starts.end(), found, found + k);
  }
}

template <class T>
Groups group_elements(const T* data, int64_t n, bool sorted) {
  Groups g;
  g.n = n;
  if (sorted) {
    SY_CHECK(n <= int64_t{UINT32_MAX}, Value,
             "[unique] self: expected less than 2^32 elements, got {}", n);
    SortRoom<T> room;
    room.sort(data, n, false);
    g.order.reserve(static_cast<size_t>(n));
    for (const auto& item : room.items) g.order.push_back(index_of(item));
    find_starts(&g, [&](int64_t i, int64_t j) { return data[i] == data[j]; });
  } else {
    find_starts_beside(&g, data);
  }
  return g;
}

// How often each value from the least to the greatest occurs; nothing if these
// are more than the elements.
template <class T>
ScratchVector<int64_t> count_values(const T* data, int64_t n, uint64_t* first) {
  SortKey<T> least = sort_key(data[0]), greatest = least;
  for (int64_t i = 0; i < n; ++i) {
    least = std::min(least, sort_key(data[i]));
    greatest = std::max(greatest, sort_key(data[i]));
  }
  *first = least;
  const uint64_t range = uint64_t{greatest} - least;
  if (range >= static_cast<uint64_t>(n)) return {};
  ScratchVector<int64_t> counts(static_cast<size_t>(range) + 1);
  for (int64_t i = 0; i < n; ++i) {
    ++counts[static_cast<size_t>(sort_key(data[i]) - least)];
  }
  return counts;
}

// Integers that lie close together, without sorting them.
template <class T>
std::optional<Three> unique_counted_values(const T* data, const Tensor& self,
                                           bool return_inverse,
                                           bool return_counts) {
  const int64_t n = self.numel();
  uint64_t first = 0;
  if (n == 0) return std::nullopt;
  const ScratchVector<int64_t> counts = count_values(data, n, &first);
  if (counts.empty()) return std::nullopt;
  // The group of each value.
  ScratchVector<int64_t> group(counts.size()), sizes;
  for (size_t v = 0; v < counts.size(); ++v) {
    group[v] = static_cast<int64_t>(sizes.size());
    if (counts[v] != 0) sizes.push_back(counts[v]);
  }
  const Tensor values =
      make({static_cast<int64_t>(sizes.size())}, self.dtype());
  const Tensor inverse =
      return_inverse ? make(self.sizes(), kLong) : make({0}, kLong);
  auto* const to = static_cast<T*>(values.raw_data());
  auto* const of = static_cast<int64_t*>(inverse.raw_data());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t g = group[static_cast<size_t>(sort_key(data[i]) - first)];
    to[g] = data[i];
    if (return_inverse) of[i] = g;
  }
  return Three{values, inverse,
               return_counts ? make_longs(sizes) : make({0}, kLong)};
}

Three unique(const char* op, const Tensor& self, bool sorted,
             bool return_inverse, bool return_counts) {
  const Tensor all = contiguous_cpu(self);
  Tensor values;
  Groups g;
  std::optional<Three> counted;
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    const auto* data = static_cast<const T*>(all.raw_data());
    if constexpr (std::is_integral_v<T>) {
      if (sorted) {
        counted =
            unique_counted_values(data, self, return_inverse, return_counts);
        if (counted) return;
      }
    }
    g = group_elements(data, self.numel(), sorted);
    values = make({g.count()}, self.dtype());
    auto* to = static_cast<T*>(values.raw_data());
    for (int64_t i = 0; i < g.count(); ++i) {
      to[i] = data[g.at(g.starts[static_cast<size_t>(i)])];
    }
  });
  if (counted) return *counted;
  return {values, return_inverse ? g.inverse(self.sizes()) : make({0}, kLong),
          return_counts ? g.counts() : make({0}, kLong)};
}

template <class T>
Groups group_slices(const T* data, int64_t n, int64_t width, bool sorted) {
  Groups g;
  g.n = n;
  if (sorted) {
    g.order.resize(static_cast<size_t>(n));
    std::iota(g.order.begin(), g.order.end(), 0);
    std::stable_sort(g.order.begin(), g.order.end(), [&](int64_t i, int64_t j) {
      const T *a = data + i * width, *b = data + j * width;
      return std::lexicographical_compare(
          a, a + width, b, b + width,
          [](T x, T y) { return sort_key(x) < sort_key(y); });
    });
  }
  find_starts(&g, [&](int64_t i, int64_t j) {
    return std::equal(data + i * width, data + (i + 1) * width,
                      data + j * width);
  });
  return g;
}

// self with `dim` first and the rest as one.
Tensor slices_of(const Tensor& self, int64_t dim) {
  Dims sizes, strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    const int64_t d = i == 0 ? dim : i <= dim ? i - 1 : i;
    sizes.push_back(self.sizes()[static_cast<size_t>(d)]);
    strides.push_back(self.strides()[static_cast<size_t>(d)]);
  }
  return contiguous_cpu(
      alias_without_view(self, sizes, strides, self.storage_offset()));
}

// Slices always come with their inverse and counts, as in ATen.
Three unique_slices(const char* op, const Tensor& self, int64_t dim,
                    bool sorted) {
  SY_CHECK(self.dim() > 0, Index,
           "[{}] dim: expected a tensor with dims, got none", op);
  dim = wrap_dim(op, dim, self.dim());
  const int64_t n = self.sizes()[static_cast<size_t>(dim)];
  int64_t width = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim) width *= self.sizes()[static_cast<size_t>(d)];
  }
  SY_CHECK(n == 0 || width != 0, Value,
           "[{}] self: expected slices with elements, got sizes {}", op,
           self.sizes());
  const Tensor rows = slices_of(self, dim);
  Groups g;
  visit_all_dtypes(op, self.dtype(), [&]<class T>() {
    g = group_slices(static_cast<const T*>(rows.raw_data()), n, width, sorted);
  });
  Dims sizes(self.sizes());
  sizes[dim] = g.count();
  const Tensor values = make(sizes, self.dtype());
  Dims first(rows.sizes());
  first[0] = g.count();
  const Tensor ordered = make(first, self.dtype());
  const size_t bytes = static_cast<size_t>(width) * self.itemsize();
  for (int64_t i = 0; i < g.count(); ++i) {
    std::memcpy(
        static_cast<char*>(ordered.raw_data()) + static_cast<size_t>(i) * bytes,
        static_cast<const char*>(rows.raw_data()) +
            static_cast<size_t>(g.at(g.starts[static_cast<size_t>(i)])) * bytes,
        bytes);
  }
  Dims order, strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    const int64_t d = i == 0 ? dim : i <= dim ? i - 1 : i;
    order.push_back(sizes[d]);
    strides.push_back(values.strides()[static_cast<size_t>(d)]);
  }
  copy_cpu(alias_without_view(values, order, strides, 0), ordered);
  return {values, g.inverse({n}), g.counts()};
}

}  // namespace

std::tuple<Tensor, Tensor> unique_elements(const Tensor& self, bool,
                                           bool return_inverse) {
  auto [values, inverse, counts] =
      unique("_unique", self, true, return_inverse, false);
  return {values, inverse};
}

Three unique_counted(const Tensor& self, bool, bool return_inverse,
                     bool return_counts) {
  return unique("_unique2", self, true, return_inverse, return_counts);
}

Three unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  return unique_slices("unique_dim", self, dim, true);
}

Three unique_consecutive(const Tensor& self, bool return_inverse,
                         bool return_counts, std::optional<int64_t> dim) {
  if (!dim ||
      (self.dim() == 1 && wrap_dim("unique_consecutive", *dim, 1) == 0)) {
    return unique("unique_consecutive", self, false, return_inverse,
                  return_counts);
  }
  return unique_slices("unique_consecutive", self, *dim, false);
}

Three unique_dim_consecutive(const Tensor& self, int64_t dim, bool, bool) {
  return unique_slices("unique_dim_consecutive", self, dim, false);
}

}  // namespace sy::cpu
