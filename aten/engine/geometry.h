#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/engine/view.h"

// The functions that `view:`, `shape:` and `require:` expressions call.
// docs/expressions.md has their names and meaning. Generated code uses them.
// Lists are Dims, and no call allocates. `op` is the operator's name for
// messages.

namespace sy::geometry {

// The least number is its own negative.
inline int64_t negated(int64_t a) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
}

inline int64_t floor_div(const char* op, int64_t a, int64_t b) {
  SY_CHECK(b != 0, Value, "[{}] expected a divisor other than 0, got 0", op);
  if (b == -1) return negated(a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

inline int64_t mod(const char* op, int64_t a, int64_t b) {
  SY_CHECK(b != 0, Value, "[{}] expected a divisor other than 0, got 0", op);
  const int64_t r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

inline int64_t ceil_div(const char* op, int64_t a, int64_t b) {
  SY_CHECK(b != 0, Value, "[{}] expected a divisor other than 0, got 0", op);
  if (b == -1) return negated(a);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

inline int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return std::min(std::max(x, low), high);
}

inline int64_t ceil(double x) { return static_cast<int64_t>(std::ceil(x)); }
inline int64_t floor(double x) { return static_cast<int64_t>(std::floor(x)); }

inline int64_t len(IntArrayRef list) {
  return static_cast<int64_t>(list.size());
}
template <class T>
int64_t len(ArrayRef<T> list) {
  return static_cast<int64_t>(list.size());
}

// Index `i` of a list of n, counted from the end if negative.
inline int64_t wrap_index(const char* op, int64_t i, int64_t n) {
  SY_CHECK(i >= -n && i < n, Index,
           "[{}] expected an index in [{}, {}], got {}", op, -n, n - 1, i);
  return i < 0 ? i + n : i;
}

template <class T>
const T& at(const char* op, ArrayRef<T> list, int64_t i) {
  return list[static_cast<size_t>(wrap_index(op, i, len(list)))];
}
inline bool at(const char* op, ArrayRef<bool> list, int64_t i) {
  return list[static_cast<size_t>(wrap_index(op, i, len(list)))];
}
inline int64_t at(const char* op, IntArrayRef list, int64_t i) {
  return list[static_cast<size_t>(wrap_index(op, i, len(list)))];
}

// Wraps around.
inline int64_t sum(IntArrayRef list) {
  uint64_t s = 0;
  for (const int64_t v : list) s += static_cast<uint64_t>(v);
  return static_cast<int64_t>(s);
}

inline int64_t prod(IntArrayRef list) {
  int64_t p = 1;
  for (const int64_t v : list) p *= v;
  return p;
}

inline int64_t min(const char* op, IntArrayRef list) {
  SY_CHECK(!list.empty(), Value, "[{}] min of an empty list", op);
  return *std::min_element(list.begin(), list.end());
}

inline int64_t max(const char* op, IntArrayRef list) {
  SY_CHECK(!list.empty(), Value, "[{}] max of an empty list", op);
  return *std::max_element(list.begin(), list.end());
}

inline bool contains(IntArrayRef list, int64_t v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

inline bool all(IntArrayRef list) { return !contains(list, 0); }
inline bool any(IntArrayRef list) {
  return std::any_of(list.begin(), list.end(), [](int64_t v) { return v; });
}

inline Dims range(int64_t begin, int64_t end, int64_t step = 1) {
  Dims out;
  if (step > 0) {
    for (int64_t i = begin; i < end; i += step) out.push_back(i);
  } else if (step < 0) {
    for (int64_t i = begin; i > end; i += step) out.push_back(i);
  }
  return out;
}
inline Dims range(int64_t end) { return range(0, end); }

inline Dims fill(int64_t n, int64_t value) {
  Dims out;
  for (int64_t i = 0; i < n; ++i) out.push_back(value);
  return out;
}

inline Dims concat(IntArrayRef a, IntArrayRef b) {
  Dims out(a);
  for (const int64_t v : b) out.push_back(v);
  return out;
}

// Elements begin … end-1; both are limited to the list, as in Python.
inline Dims slice(IntArrayRef list, int64_t begin, int64_t end) {
  const int64_t n = len(list);
  begin = clamp(begin < 0 ? begin + n : begin, 0, n);
  end = clamp(end < 0 ? end + n : end, begin, n);
  return Dims(
      list.slice(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

inline Dims reversed(IntArrayRef list) {
  Dims out(list);
  std::reverse(out.begin(), out.end());
  return out;
}

inline int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) {
  return sy::wrap_dim(op, dim, ndim);
}

// `list` with the value v for one dim, which counts from the end if negative. A
// tensor without dims has the dims -1 and 0 and an empty list, which stays
// empty.
inline Dims with(const char* op, IntArrayRef list, int64_t dim, int64_t v) {
  Dims out(list);
  dim = wrap_dim(op, dim, len(list));
  if (!list.empty()) out[dim] = v;
  return out;
}

// The value of a wrapped dim; 1 if there are no dims.
inline int64_t of_dim(IntArrayRef list, int64_t dim) {
  return list.empty() ? 1 : list[static_cast<size_t>(dim)];
}

inline Dims without(const char* op, IntArrayRef list, int64_t dim) {
  dim = wrap_dim(op, dim, len(list));
  Dims out;
  for (int64_t k = 0; k < len(list); ++k) {
    if (k != dim) out.push_back(list[static_cast<size_t>(k)]);
  }
  return out;
}

inline bool contains_dim(const char* op, IntArrayRef dims, int64_t dim,
                         int64_t ndim) {
  for (const int64_t d : dims) {
    if (wrap_dim(op, d, ndim) == dim) return true;
  }
  return false;
}

inline Dims without(const char* op, IntArrayRef list, IntArrayRef dims) {
  Dims out;
  for (const int64_t d : dims) wrap_dim(op, d, len(list));
  for (int64_t k = 0; k < len(list); ++k) {
    if (contains_dim(op, dims, k, len(list))) continue;
    out.push_back(list[static_cast<size_t>(k)]);
  }
  return out;
}

// Inserts v before `dim`, which may be one past the end.
inline Dims inserted(const char* op, IntArrayRef list, int64_t dim, int64_t v) {
  dim = wrap_dim(op, dim, len(list) + 1);
  Dims out;
  for (int64_t k = 0; k <= len(list); ++k) {
    if (k == dim) out.push_back(v);
    if (k < len(list)) out.push_back(list[static_cast<size_t>(k)]);
  }
  return out;
}

inline Dims swapped(const char* op, IntArrayRef list, int64_t a, int64_t b) {
  a = wrap_dim(op, a, len(list));
  b = wrap_dim(op, b, len(list));
  Dims out(list);
  // A tensor without dims has dims -1 and 0.
  if (a != b) std::swap(out[a], out[b]);
  return out;
}

// Wraps each dim of ndim, as many as a tensor may have. A dim that is given
// twice is an error.
inline Dims wrap_dims(const char* op, IntArrayRef dims, int64_t ndim) {
  SY_CHECK(ndim >= 0 && ndim <= TensorImpl::kMaxDims, Value,
           "[{}] expected 0 to {} dims, got {}", op, TensorImpl::kMaxDims,
           ndim);
  Dims out;
  uint64_t seen = 0;
  for (const int64_t d : dims) {
    const int64_t w = sy::wrap_dim(op, d, ndim);
    SY_CHECK(!(seen >> w & 1), Value,
             "[{}] dim: expected distinct dims, got {}", op, dims);
    seen |= uint64_t{1} << w;
    out.push_back(w);
  }
  return out;
}

// Wraps the dims. Every dim must be there exactly once.
inline Dims permutation(const char* op, IntArrayRef dims, int64_t ndim) {
  SY_CHECK(len(dims) == ndim, Value, "[{}] dims: expected {} dims, got {}", op,
           ndim, dims);
  return wrap_dims(op, dims, ndim);
}

inline Dims permuted(const char* op, IntArrayRef list, IntArrayRef dims) {
  Dims out;
  for (const int64_t d : permutation(op, dims, len(list))) {
    out.push_back(list[static_cast<size_t>(d)]);
  }
  return out;
}

inline Dims inverse_permutation(const char* op, IntArrayRef dims) {
  const Dims wrapped = permutation(op, dims, len(dims));
  Dims out(wrapped);
  for (int64_t k = 0; k < len(dims); ++k) out[wrapped[k]] = k;
  return out;
}

inline bool is_floating(const TensorBase& t) { return t.is_floating_point(); }

inline bool is_permutation(IntArrayRef dims, int64_t n) {
  uint64_t seen = 0;
  for (const int64_t d : dims) {
    if (d < 0 || d >= n || d >= 64 || (seen >> d & 1)) return false;
    seen |= uint64_t{1} << d;
  }
  return len(dims) == n;
}

inline Dims broadcast(const char* op, IntArrayRef a, IntArrayRef b) {
  return broadcast_sizes(op, a, b);
}

inline Dims infer_size(const char* op, IntArrayRef sizes, int64_t numel) {
  return sy::infer_size(op, sizes, numel);
}

inline Dims contiguous_strides(IntArrayRef sizes) {
  Dims out;
  out.resize(len(sizes));
  sy::contiguous_strides(sizes, out.data());
  return out;
}

// The strides that show the same memory with new sizes. Throws if there are
// none.
inline Dims view_strides(const char* op, IntArrayRef sizes, IntArrayRef strides,
                         IntArrayRef new_sizes) {
  Dims out;
  SY_CHECK(sy::view_strides(sizes, strides, new_sizes, &out), Value,
           "[{}] self: expected sizes and strides that can be seen as {}, got "
           "{} and {}; call contiguous() or reshape",
           op, new_sizes, sizes, strides);
  return out;
}

inline Dims expand_sizes(const char* op, IntArrayRef sizes,
                         IntArrayRef wanted) {
  const int64_t added = len(wanted) - len(sizes);
  SY_CHECK(added >= 0, Value, "[{}] size: expected at least {} sizes, got {}",
           op, len(sizes), wanted);
  Dims out(wanted);
  for (int64_t k = 0; k < len(wanted); ++k) {
    const int64_t own = k < added ? -1 : sizes[static_cast<size_t>(k - added)];
    if (out[k] == -1 && k >= added) out[k] = own;
    SY_CHECK(out[k] >= 0 && (own < 0 || own == 1 || own == out[k]), Value,
             "[{}] size: expected sizes that {} can be expanded to, got {}", op,
             sizes, wanted);
  }
  checked_numel(op, out);
  return out;
}

inline Dims expand_strides(const char* op, IntArrayRef sizes,
                           IntArrayRef strides, IntArrayRef wanted) {
  Dims out = expand_sizes(op, sizes, wanted);
  const int64_t added = len(wanted) - len(sizes);
  for (int64_t k = 0; k < out.size(); ++k) {
    const bool own =
        k >= added && sizes[static_cast<size_t>(k - added)] == out[k];
    out[k] = own ? strides[static_cast<size_t>(k - added)] : 0;
  }
  return out;
}

// Whether sizes can be expanded to `wanted`.
inline bool is_expandable_to(IntArrayRef sizes, IntArrayRef wanted) {
  const int64_t added = len(wanted) - len(sizes);
  if (added < 0) return false;
  for (int64_t k = 0; k < len(sizes); ++k) {
    const int64_t own = sizes[static_cast<size_t>(k)];
    if (own != 1 && own != wanted[static_cast<size_t>(k + added)]) return false;
  }
  return true;
}

// The stride for a new dim that leaves a contiguous tensor contiguous.
inline int64_t unsqueezed_stride(const char* op, IntArrayRef sizes,
                                 IntArrayRef strides, int64_t dim) {
  dim = wrap_dim(op, dim, len(sizes) + 1);
  if (dim == len(sizes)) return 1;
  const auto d = static_cast<size_t>(dim);
  return sizes[d] * strides[d];
}

inline int64_t slice_start(int64_t size, std::optional<int64_t> start) {
  const int64_t i = start.value_or(0);
  return clamp(i < 0 ? i + size : i, 0, size);
}

inline int64_t slice_size(const char* op, int64_t size,
                          std::optional<int64_t> start,
                          std::optional<int64_t> end, int64_t step) {
  SY_CHECK(step > 0, Value, "[{}] step: expected a positive step, got {}", op,
           step);
  const int64_t from = slice_start(size, start);
  const int64_t i = end.value_or(size);
  const int64_t to = clamp(i < 0 ? i + size : i, from, size);
  return (to - from) / step + ((to - from) % step != 0);
}

inline Dims diagonal_sizes(const char* op, IntArrayRef sizes, int64_t offset,
                           int64_t dim1, int64_t dim2) {
  const int64_t a = wrap_dim(op, dim1, len(sizes));
  const int64_t b = wrap_dim(op, dim2, len(sizes));
  SY_CHECK(a != b, Value,
           "[{}] dim2: expected another dim than dim1, got {} and {}", op, dim1,
           dim2);
  const int64_t n = sizes[static_cast<size_t>(a)];
  const int64_t m = sizes[static_cast<size_t>(b)];
  const int64_t length = offset >= 0 ? std::min(n, m - std::min(m, offset))
                                     : std::min(n + std::max(offset, -n), m);
  const int64_t both[] = {a, b};
  Dims out = without(op, sizes, IntArrayRef(both));
  out.push_back(std::max<int64_t>(length, 0));
  return out;
}

// stride * n; 0 if that is beyond int64, as no element needs such a stride.
inline int64_t stride_times(int64_t stride, int64_t n) {
  int64_t product;
  return __builtin_mul_overflow(stride, n, &product) ? 0 : product;
}

inline Dims diagonal_strides(const char* op, IntArrayRef strides, int64_t dim1,
                             int64_t dim2) {
  const int64_t a = wrap_dim(op, dim1, len(strides));
  const int64_t b = wrap_dim(op, dim2, len(strides));
  const int64_t both[] = {a, b};
  Dims out = without(op, strides, IntArrayRef(both));
  int64_t sum;
  const bool beyond =
      __builtin_add_overflow(of_dim(strides, a), of_dim(strides, b), &sum);
  out.push_back(beyond ? 0 : sum);
  return out;
}

// The distance in memory from the first element to the diagonal.
inline int64_t diagonal_offset(const char* op, IntArrayRef strides,
                               int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t dim = wrap_dim(op, offset >= 0 ? dim2 : dim1, len(strides));
  const int64_t stride = of_dim(strides, dim);
  const int64_t far = stride_times(offset >= 0 ? stride : -stride, offset);
  // No element is so far away: the diagonal is empty.
  return far > INT64_MAX / 2 ? 0 : far;
}

inline Dims unfold_sizes(const char* op, IntArrayRef sizes, int64_t dim,
                         int64_t size, int64_t step) {
  const int64_t d = wrap_dim(op, dim, len(sizes));
  const int64_t n = of_dim(sizes, d);
  SY_CHECK(size >= 0 && size <= n, Value,
           "[{}] size: expected a value in [0, {}], got {}", op, n, size);
  SY_CHECK(step > 0, Value, "[{}] step: expected a positive step, got {}", op,
           step);
  Dims out(sizes);
  if (!sizes.empty()) out[d] = (n - size) / step + 1;
  out.push_back(size);
  return out;
}

inline Dims unfold_strides(const char* op, IntArrayRef strides, int64_t dim,
                           int64_t step) {
  const int64_t d = wrap_dim(op, dim, len(strides));
  Dims out(strides);
  const int64_t own = of_dim(strides, d);
  if (!strides.empty()) out[d] = stride_times(own, step);
  out.push_back(own);
  return out;
}

// The sizes after a reduction; an empty `dims` means all of them.
inline Dims reduced_sizes(const char* op, IntArrayRef sizes, IntArrayRef dims,
                          bool keepdim) {
  const Dims wrapped = wrap_dims(op, dims, len(sizes));
  Dims out;
  for (int64_t k = 0; k < len(sizes); ++k) {
    const bool gone = dims.empty() || contains(wrapped, k);
    if (!gone) {
      out.push_back(sizes[static_cast<size_t>(k)]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return out;
}
inline Dims reduced_sizes(const char* op, IntArrayRef sizes,
                          std::optional<int64_t> dim, bool keepdim) {
  return dim ? reduced_sizes(op, sizes, IntArrayRef(*dim), keepdim)
             : reduced_sizes(op, sizes, IntArrayRef(), keepdim);
}

// Tensors of one dim without elements fit anything, as in ATen.
template <class T>
Dims cat_sizes(const char* op, ArrayRef<T> tensors, int64_t dim) {
  Dims out;
  bool first = true;
  for (const T& t : tensors) {
    if (t.dim() == 1 && t.numel() == 0) continue;
    if (first) {
      SY_CHECK(t.dim() > 0, Value,
               "[{}] tensors: expected tensors of at least one dim, got 0 dims",
               op);
      out = Dims(t.sizes());
      dim = wrap_dim(op, dim, t.dim());
      first = false;
      continue;
    }
    bool fits = t.dim() == out.size();
    for (int64_t k = 0; fits && k < out.size(); ++k) {
      fits = k == dim || t.sizes()[static_cast<size_t>(k)] == out[k];
    }
    SY_CHECK(
        fits, Value,
        "[{}] tensors: expected sizes that agree with {} but in dim {}, got {}",
        op, IntArrayRef(out), dim, t.sizes());
    out[dim] += t.sizes()[static_cast<size_t>(dim)];
  }
  if (first) out.push_back(0);
  return out;
}

// The list of f(v) for every element v of a list that fits into Dims.
template <class F>
Dims map(const Dims& list, F&& f) {
  Dims out;
  for (const int64_t v : list) out.push_back(f(v));
  return out;
}
// The list of f(v) for every element v that passes.
template <class P, class F>
Dims map_if(const Dims& list, P&& passes, F&& f) {
  Dims out;
  for (const int64_t v : list) {
    if (passes(v)) out.push_back(f(v));
  }
  return out;
}

// The same of lists of any length, of numbers or of tensors.
template <class T, class F>
std::vector<int64_t> each(ArrayRef<T> list, F&& f) {
  std::vector<int64_t> out;
  out.reserve(list.size());
  for (const T& v : list) out.push_back(f(v));
  return out;
}
template <class F>
std::vector<int64_t> each(IntArrayRef list, F&& f) {
  return each<int64_t, F>(list, std::forward<F>(f));
}
template <class T, class P, class F>
std::vector<int64_t> each_if(ArrayRef<T> list, P&& passes, F&& f) {
  std::vector<int64_t> out;
  for (const T& v : list) {
    if (passes(v)) out.push_back(f(v));
  }
  return out;
}
template <class P, class F>
std::vector<int64_t> each_if(IntArrayRef list, P&& passes, F&& f) {
  return each_if<int64_t, P, F>(list, std::forward<P>(passes),
                                std::forward<F>(f));
}

}  // namespace sy::geometry
