#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/result_type.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/rows.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/support/sort_key.h"
#include "backends/cpu/unique_kernels_gen.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kPiece = 32768;

template <class T>
int64_t count(const T* x, int64_t n) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) found += x[i] != T(0);
  return found;
}

// How many elements before each piece of kPiece are not 0, and in all.
template <class T>
ScratchVector<int64_t> counts_before(const T* x, int64_t n) {
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  ScratchVector<int64_t> before(static_cast<size_t>(pieces + 1));
  parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      before[static_cast<size_t>(p + 1)] =
          count(x + p * kPiece, std::min(kPiece, n - p * kPiece));
    }
  });
  for (size_t p = 1; p < before.size(); ++p) before[p] += before[p - 1];
  return before;
}

// Element i of these sizes is at at[0], at[1], ...
void write_place(const Dims& sizes, int64_t i, int64_t* at) {
  for (int64_t d = sizes.size(); d-- > 0;) {
    const int64_t q = d == 0 ? 0 : i / sizes[d];
    at[d] = i - q * sizes[d];
    i = q;
  }
}

// Writes the places of elements that are not 0, the first `limit` of them.
template <class T>
void write_places(const T* x, int64_t n, const Dims& sizes,
                  const ScratchVector<int64_t>& before, int64_t limit,
                  int64_t* to) {
  constexpr int64_t kListed = 1024;
  const auto write = [&](int64_t begin, int64_t end, int64_t row) {
    // Every number is written, and stays if the next is not put in its place.
    int64_t found[kListed];
    while (begin < end && row < limit) {
      const int64_t last = std::min(end, begin + kListed);
      int64_t count = 0;
      for (int64_t i = begin; i < last; ++i) {
        found[count] = i;
        count += x[i] != T(0);
      }
      count = std::min(count, limit - row);
      for (int64_t k = 0; k < count; ++k, ++row) {
        write_place(sizes, found[k], to + row * sizes.size());
      }
      begin = last;
    }
  };
  parallel_for(0, static_cast<int64_t>(before.size()) - 1, 1,
               [&](int64_t begin, int64_t end) {
                 write(begin * kPiece, std::min(n, end * kPiece),
                       before[static_cast<size_t>(begin)]);
               });
}

// Keys in a table by their hash, the next free place if theirs is taken. A
// place with 0 is free.
template <class K>
class KeySet {
 public:
  explicit KeySet(int64_t n)
      : bits_(std::bit_width(static_cast<uint64_t>(n)) + 1),
        places_(size_t{1} << bits_) {}

  void add(K key) {
    if (key == 0) {
      has_zero_ = true;
    } else {
      places_[find(key)] = key;
    }
  }
  bool contains(K key) const {
    return key == 0 ? has_zero_ : places_[find(key)] != 0;
  }

 private:
  // The place of the key, or a free place.
  size_t find(K key) const {
    size_t i = (uint64_t{key} * 0x9e3779b97f4a7c15u) >> (64 - bits_);
    while (places_[i] != 0 && places_[i] != key) {
      i = (i + 1) & (places_.size() - 1);
    }
    return i;
  }

  int bits_;
  bool has_zero_ = false;
  ScratchVector<K> places_;
};

}  // namespace

Tensor nonzero(const Tensor& self) {
  const Tensor x = contiguous_cpu(self);
  Tensor out;
  visit_all_dtypes("nonzero", self.dtype(), [&]<class T>() {
    const auto* data = static_cast<const T*>(x.raw_data());
    const auto before = counts_before(data, self.numel());
    const int64_t rows = before.back();
    out = Tensor(make_tensor({rows, self.dim()}, kLong, Device(kCPU)));
    write_places(data, self.numel(), Dims(self.sizes()), before, rows,
                 static_cast<int64_t*>(out.raw_data()));
  });
  return out;
}

void nonzero_static_out(const Tensor& self, int64_t size, int64_t fill_value,
                        const Tensor& out) {
  const Tensor x = contiguous_cpu(self);
  const RowsOut places(out, std::nullopt);
  auto* to = static_cast<int64_t*>(places.data());
  std::fill(to, to + out.numel(), fill_value);
  visit_all_dtypes("nonzero_static", self.dtype(), [&]<class T>() {
    const auto* data = static_cast<const T*>(x.raw_data());
    write_places(data, self.numel(), Dims(self.sizes()),
                 counts_before(data, self.numel()), size, to);
  });
  places.store();
}

void count_nonzero_out(const Tensor& self, IntArrayRef dim, const Tensor& out) {
  // The reduced dims last, and as one row.
  const Dims wrapped = geometry::wrap_dims("count_nonzero", dim, self.dim());
  Tensor rows = self;
  int64_t length = 1, reduced = 0;
  for (int64_t d = self.dim(); d-- > 0;) {
    if (!wrapped.empty() && !geometry::contains(wrapped, d)) continue;
    length *= self.sizes()[static_cast<size_t>(d)];
    if (d + ++reduced != self.dim()) rows = with_dim_last(rows, d);
  }
  const Tensor x = contiguous_cpu(rows);
  const RowsOut counts(out, std::nullopt);
  auto* to = static_cast<int64_t*>(counts.data());
  visit_all_dtypes("count_nonzero", self.dtype(), [&]<class T>() {
    const auto* data = static_cast<const T*>(x.raw_data());
    if (out.numel() == 1) {
      *to = counts_before(data, length).back();
      return;
    }
    parallel_for(0, out.numel(),
                 std::max<int64_t>(1, kPiece / std::max<int64_t>(1, length)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     to[i] = count(data + i * length, length);
                   }
                 });
  });
  counts.store();
}

void isin_out(const Tensor& elements, const Tensor& test_elements, bool,
              bool invert, const Tensor& out) {
  const Tensor both[] = {elements, test_elements};
  const ScalarType dtype = result_type(both);
  const Tensor x = contiguous_cpu(elements, dtype);
  const Tensor test = contiguous_cpu(test_elements, dtype);
  const RowsOut found(out, std::nullopt);
  auto* to = static_cast<bool*>(found.data());
  visit_all_dtypes("isin", dtype, [&]<class T>() {
    const auto* t = static_cast<const T*>(test.raw_data());
    KeySet<SortKey<T>> keys(test.numel());
    for (int64_t i = 0; i < test.numel(); ++i) {
      if (!is_nan(t[i])) keys.add(sort_key(t[i]));
    }
    const auto* data = static_cast<const T*>(x.raw_data());
    parallel_for(0, x.numel(), kPiece / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const bool in = !is_nan(data[i]) && keys.contains(sort_key(data[i]));
        to[i] = in != invert;
      }
    });
  });
  found.store();
}

}  // namespace sy::cpu
