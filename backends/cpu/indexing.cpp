#include <algorithm>
#include <cstring>

#include "aten/copy.h"
#include "aten/iter.h"
#include "backends/cpu/dtype_switch.h"
#include "backends/cpu/indexing_kernels_gen.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;

// Sizes or strides of a tensor; one without dims has one of size 1.
Dims at_least_one(IntArrayRef list, int64_t fill) {
  Dims out(list);
  if (out.empty()) out.push_back(fill);
  return out;
}
Dims sizes_of(const Tensor& t) { return at_least_one(t.sizes(), 1); }
Dims strides_of(const Tensor& t) { return at_least_one(t.strides(), 1); }

// "[1, 0]", the place of element i.
std::string place(IntArrayRef sizes, int64_t i) {
  Dims at(sizes);
  for (int64_t d = at.size(); d-- > 0;) {
    at[d] = i % sizes[static_cast<size_t>(d)];
    i /= sizes[static_cast<size_t>(d)];
  }
  return to_string(IntArrayRef(at));
}

// The indices as contiguous int64, every one in [0, n).
Tensor checked_indices(const char* op, const Tensor& index, int64_t n) {
  const Tensor all = contiguous_cpu(index, kLong);
  const auto* p = static_cast<const int64_t*>(all.data_ptr());
  const int64_t count = all.numel();
  const auto limit = static_cast<uint64_t>(n);
  uint64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    wrong |= static_cast<uint64_t>(p[i]) >= limit;
  }
  if (SY_LIKELY(wrong == 0)) return all;
  for (int64_t i = 0;; ++i) {
    SY_CHECK(static_cast<uint64_t>(p[i]) < limit, Index, "[", op,
             "] index: expected indices in [0, ", n - 1, "], got ", p[i],
             " at ", place(index.sizes(), i));
  }
}

// No size of `index` but that of `dim` is greater than that of `t`.
void check_covers(const char* op, const char* argument, const Tensor& t,
                  const Tensor& index, int64_t dim) {
  const Dims have = sizes_of(t), want = sizes_of(index);
  SY_CHECK(have.size() == want.size(), Value, "[", op, "] ", argument,
           ": expected as many dims as index, ", want.size(), ", got ",
           have.size());
  for (int64_t d = 0; d < want.size(); ++d) {
    SY_CHECK(d == dim || want[d] <= have[d], Value, "[", op,
             "] index: expected sizes of at most those of ", argument, ", ",
             IntArrayRef(have), ", got ", IntArrayRef(want));
  }
}

struct Strides {
  int64_t column, row;
};

Strides strides_of(const Iter& it, int operand) {
  return {it.stride(operand, 0), it.ndim() > 1 ? it.stride(operand, 1) : 0};
}

// out = self at the indices of a dim, each element by itself. `strides` are
// those of the indices, 0 for dims that they do not differ in.
void take(const Tensor& self, int64_t dim, const int64_t* index,
          const Dims& index_strides, const Tensor& out) {
  Dims strides = strides_of(self);
  const size_t size = self.itemsize();
  const int64_t step = strides[dim] * static_cast<int64_t>(size);
  strides[dim] = 0;
  Iter it(sizes_of(out));
  it.add(out.data_ptr(), size, strides_of(out));
  it.add(self.data_ptr(), size, strides);
  it.add(const_cast<int64_t*>(index), sizeof(int64_t), index_strides);
  it.finish();
  const Strides to = strides_of(it, 0), from = strides_of(it, 1),
                at = strides_of(it, 2);
  visit_element_size(size, [&]<class T>() {
    it.for_each(kGrain, [&](const Iter::Block& b) {
      for (int64_t r = 0; r < b.rows; ++r) {
        char* y = b.data[0] + r * to.row;
        const char* x = b.data[1] + r * from.row;
        const char* i = b.data[2] + r * at.row;
        for (int64_t c = 0; c < b.columns; ++c) {
          const int64_t k = *reinterpret_cast<const int64_t*>(i);
          *reinterpret_cast<T*>(y) = *reinterpret_cast<const T*>(x + k * step);
          y += to.column;
          x += from.column;
          i += at.column;
        }
      }
    });
  });
}

// Whole rows of `row` bytes: outer times n of them, out of outer times size.
void take_rows(const char* from, const int64_t* index, int64_t outer,
               int64_t size, int64_t n, size_t row, char* to) {
  const auto bytes = static_cast<int64_t>(row);
  parallel_for(0, outer * n, std::max<int64_t>(1, 4 * kGrain / bytes),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::memcpy(to + i * bytes,
                               from + (i / n * size + index[i % n]) * bytes,
                               row);
                 }
               });
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {  // wraps
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    using A = typename Accumulate<T>::type;
    return static_cast<T>(static_cast<A>(a) + static_cast<A>(b));
  }
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a && b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    using A = typename Accumulate<T>::type;
    return static_cast<T>(static_cast<A>(a) * static_cast<A>(b));
  }
}

// Where along a dim elements of a source are added.
struct Places {
  int64_t count;                              // indices along the dim
  int64_t index_step, source_step, out_step;  // in bytes, along the dim
};

template <class T>
void add_at(T* to, int64_t to_stride, const T* from, int64_t from_stride,
            int64_t n, T alpha) {
  for (int64_t c = 0; c < n; ++c) {
    *to = plus(*to, times(*from, alpha));
    to += to_stride;
    from += from_stride;
  }
}

template <class T>
void add_block(const Iter& it, const Iter::Block& b, const Places& p, T alpha) {
  const Strides to = strides_of(it, 0), from = strides_of(it, 1),
                at = strides_of(it, 2);
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  for (int64_t r = 0; r < b.rows; ++r) {
    for (int64_t k = 0; k < p.count; ++k) {
      char* y = b.data[0] + r * to.row;
      const char* x = b.data[1] + r * from.row + k * p.source_step;
      const char* i = b.data[2] + r * at.row + k * p.index_step;
      if (at.column == 0) {
        y += *reinterpret_cast<const int64_t*>(i) * p.out_step;
        if (to.column == kSize && from.column == kSize) {
          add_at(reinterpret_cast<T*>(y), 1, reinterpret_cast<const T*>(x), 1,
                 b.columns, alpha);
        } else {
          add_at(reinterpret_cast<T*>(y), to.column / kSize,
                 reinterpret_cast<const T*>(x), from.column / kSize, b.columns,
                 alpha);
        }
        continue;
      }
      for (int64_t c = 0; c < b.columns; ++c) {
        T* place = reinterpret_cast<T*>(
            y + c * to.column +
            *reinterpret_cast<const int64_t*>(i + c * at.column) * p.out_step);
        const T v = *reinterpret_cast<const T*>(x + c * from.column);
        *place = plus(*place, times(v, alpha));
      }
    }
  }
}

// out[... index ...] += alpha source over `sizes`. Threads share the other
// dims, so that sums are made in the order of the dim.
void add(const char* op, IntArrayRef sizes, int64_t dim, const int64_t* index,
         const Dims& index_strides, const Tensor& source, const Scalar& alpha,
         const Tensor& out) {
  const size_t size = out.itemsize();
  const auto item = static_cast<int64_t>(size);
  Dims others(sizes);
  Dims to = strides_of(out), from = strides_of(source), at(index_strides);
  const Places p{others[dim], at[dim] * int64_t{sizeof(int64_t)},
                 from[dim] * item, to[dim] * item};
  others[dim] = 1;
  to[dim] = from[dim] = at[dim] = 0;
  Iter it(others);
  it.add(out.data_ptr(), size, to);
  it.add(source.data_ptr(), size, from);
  it.add(const_cast<int64_t*>(index), sizeof(int64_t), at);
  it.finish();
  const int64_t grain =
      std::max<int64_t>(1, kGrain / std::max<int64_t>(1, p.count));
  visit_all_dtypes(op, out.dtype(), [&]<class T>() {
    const T a = alpha.to<T>();
    it.for_each(grain,
                [&](const Iter::Block& b) { add_block<T>(it, b, p, a); });
  });
}

}  // namespace

void index_select_out(const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& out) {
  dim = wrap_dim("index_select", dim, self.dim());
  SY_CHECK(self.dim() > 0 || index.numel() == 1, Value,
           "[index_select] index: expected one index for a tensor without "
           "dims, got ",
           index.numel());
  const Dims sizes = sizes_of(self);
  const Tensor indices = checked_indices("index_select", index, sizes[dim]);
  if (out.numel() == 0) return;
  const auto* at = static_cast<const int64_t*>(indices.data_ptr());
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < sizes.size(); ++d) {
    if (d != dim) (d < dim ? outer : inner) *= sizes[d];
  }
  const size_t row = static_cast<size_t>(inner) * self.itemsize();
  if (row >= 64 && self.is_contiguous() && out.is_contiguous()) {
    take_rows(static_cast<const char*>(self.data_ptr()), at, outer, sizes[dim],
              indices.numel(), row, static_cast<char*>(out.data_ptr()));
    return;
  }
  Dims strides(sizes);
  std::fill(strides.begin(), strides.end(), 0);
  strides[dim] = 1;
  take(self, dim, at, strides, out);
}

void gather_out(const Tensor& self, int64_t dim, const Tensor& index, bool,
                const Tensor& out) {
  dim = wrap_dim("gather", dim, self.dim());
  if (index.numel() == 0) return;
  check_covers("gather", "self", self, index, dim);
  const Tensor indices = checked_indices("gather", index, sizes_of(self)[dim]);
  take(self, dim, static_cast<const int64_t*>(indices.data_ptr()),
       strides_of(indices), out);
}

void index_add_out(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& source, const Scalar& alpha,
                   const Tensor& out) {
  dim = wrap_dim("index_add", dim, self.dim());
  SY_CHECK(!alpha.is_boolean() || self.dtype() == kBool, Type,
           "[index_add] alpha: expected a number for ", self.dtype(),
           ", got a bool");
  SY_CHECK(!alpha.is_floating_point() || self.is_floating_point(), Type,
           "[index_add] alpha: expected a whole number for ", self.dtype(),
           ", got ", alpha);
  Dims wanted = sizes_of(self);
  const int64_t size = wanted[dim];
  wanted[dim] = index.numel();
  SY_CHECK(IntArrayRef(sizes_of(source)) == IntArrayRef(wanted), Value,
           "[index_add] source: expected sizes ", IntArrayRef(wanted),
           ", those of self with one slice for each index, got ",
           source.sizes());
  const Tensor indices = checked_indices("index_add", index, size);
  copy_cpu(out, self);
  if (source.numel() == 0) return;
  Dims strides(wanted);
  std::fill(strides.begin(), strides.end(), 0);
  strides[dim] = 1;
  add("index_add", wanted, dim, static_cast<const int64_t*>(indices.data_ptr()),
      strides, source, alpha, out);
}

void scatter_add_out(const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, const Tensor& out) {
  dim = wrap_dim("scatter_add", dim, self.dim());
  if (index.numel() == 0) {
    copy_cpu(out, self);
    return;
  }
  check_covers("scatter_add", "self", self, index, dim);
  check_covers("scatter_add", "src", src, index, -1);
  const Tensor indices =
      checked_indices("scatter_add", index, sizes_of(self)[dim]);
  copy_cpu(out, self);
  const Scalar one = self.dtype() == kBool ? Scalar(true) : Scalar(1);
  add("scatter_add", sizes_of(index), dim,
      static_cast<const int64_t*>(indices.data_ptr()), strides_of(indices), src,
      one, out);
}

}  // namespace sy::cpu
