#include <algorithm>
#include <cmath>
#include <cstring>

#include "aten/copy.h"
#include "aten/dims.h"
#include "aten/tile/tile.h"
#include "backends/cpu/activation_kernels_gen.h"
#include "c10/parallel.h"

namespace sy::cpu {

namespace {

using lang::Prim;
using tile::PrimFn;

constexpr int64_t kGrain = 32768;

// A tensor as outer x size x inner elements around one dim, contiguous.
struct Extent {
  int64_t outer = 1, size = 1, inner = 1;
};

Extent extent_of(const char* op, const Tensor& t, int64_t dim) {
  dim = wrap_dim(op, dim, t.dim());
  Extent e;
  for (int64_t d = 0; d < t.dim(); ++d) {
    int64_t& part = d < dim ? e.outer : d == dim ? e.size : e.inner;
    part *= t.sizes()[static_cast<size_t>(d)];
  }
  return e;
}

// The vector kernels of one compute type.
struct Kernels {
  size_t size;
  PrimFn sub, mul, div, exp, log, add;
  tile::ReduceFn max, sum;
  tile::ReduceRowsFn max_rows, sum_rows;
  bool is_float;

  explicit Kernels(tile::TileType t)
      : size(tile_type_size(t)),
        sub(tile::prim_fn(Prim::sub, t)),
        mul(tile::prim_fn(Prim::mul, t)),
        div(tile::prim_fn(Prim::div, t)),
        exp(tile::prim_fn(Prim::exp, t)),
        log(tile::prim_fn(Prim::log, t)),
        add(tile::prim_fn(Prim::add, t)),
        max(tile::reduce_fn(tile::Reduction::max, t)),
        sum(tile::reduce_fn(tile::Reduction::sum, t)),
        max_rows(tile::reduce_rows_fn(tile::Reduction::max, t)),
        sum_rows(tile::reduce_rows_fn(tile::Reduction::sum, t)),
        is_float(t == tile::TileType::f32) {}

  // Sums are made in double.
  void narrow(const double* from, void* to, int64_t n) const {
    tile::convert_fn(kDouble, is_float ? kFloat : kDouble)(to, from, n);
  }
};

// Shorter rows are taken several at a time: a call for each would cost more
// than its elements.
constexpr int64_t kShortRow = 64;
constexpr int64_t kShortElements = 1024;

template <class T>
void short_softmax(const Kernels& k, bool log, T* y, const T* x, int64_t rows,
                   int64_t n) {
  T e[kShortElements];
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x + r * n;
    T most = from[0];
    for (int64_t i = 1; i < n; ++i) {
      most = from[i] > most || from[i] != from[i] ? from[i] : most;
    }
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = from[i] - most;
  }
  k.exp(e, y, nullptr, nullptr, 0, rows * n);
  for (int64_t r = 0; r < rows; ++r) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += e[r * n + i];
    T* const to = y + r * n;
    if (log) {
      const T shift = std::log(sum);
      for (int64_t i = 0; i < n; ++i) to[i] -= shift;
    } else {
      const T scale = 1 / sum;
      for (int64_t i = 0; i < n; ++i) to[i] = e[r * n + i] * scale;
    }
  }
}

template <class T>
void short_backward(const Kernels& k, bool log, T* gx, const T* g, const T* y,
                    int64_t rows, int64_t n) {
  T e[kShortElements];
  if (log) k.exp(e, y, nullptr, nullptr, 0, rows * n);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = r * n;
    T sum = 0;
    for (int64_t i = at; i < at + n; ++i) sum += log ? g[i] : g[i] * y[i];
    for (int64_t i = at; i < at + n; ++i) {
      gx[i] = log ? g[i] - e[i] * sum : (g[i] - sum) * y[i];
    }
  }
}

// Operand 1 is one element for the whole run.
constexpr uint32_t kUniform = 2;

struct Softmax {
  const Kernels& k;
  bool log;

  void row(char* y, const char* x, int64_t n) const {
    alignas(8) char most[8], scale[8];
    double sum = 0;
    std::memcpy(most, x, k.size);
    k.max(most, x, n);
    k.sub(y, x, most, nullptr, kUniform, n);
    if (!log) {
      k.exp(y, y, nullptr, nullptr, 0, n);
      k.sum(&sum, y, n);
      sum = 1 / sum;
      k.narrow(&sum, scale, 1);
      k.mul(y, y, scale, nullptr, kUniform, n);
      return;
    }
    constexpr int64_t kChunk = 1024;
    alignas(64) char e[kChunk * 8];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = std::min(kChunk, n - i);
      k.exp(e, y + i * static_cast<int64_t>(k.size), nullptr, nullptr, 0, m);
      k.sum(&sum, e, m);
    }
    k.narrow(&sum, scale, 1);
    k.log(scale, scale, nullptr, nullptr, 0, 1);
    k.sub(y, y, scale, nullptr, kUniform, n);
  }

  // n <= kColumns columns side by side, `rows` of them `stride` bytes apart.
  static constexpr int64_t kColumns = 512;
  void columns(char* y, const char* x, int64_t stride, int64_t rows,
               int64_t n) const {
    alignas(64) char most[kColumns * 8], scale[kColumns * 8];
    alignas(64) char e[kColumns * 8];
    alignas(64) double sum[kColumns];
    std::fill_n(sum, n, 0.0);
    std::memcpy(most, x, static_cast<size_t>(n) * k.size);
    k.max_rows(most, x, stride, rows, n);
    for (int64_t r = 0; r < rows; ++r) {
      k.sub(y + r * stride, x + r * stride, most, nullptr, 0, n);
      char* to = log ? e : y + r * stride;
      k.exp(to, y + r * stride, nullptr, nullptr, 0, n);
      k.sum_rows(sum, to, 0, 1, n);
    }
    k.narrow(sum, scale, n);
    if (log) k.log(scale, scale, nullptr, nullptr, 0, n);
    const PrimFn last = log ? k.sub : k.div;
    for (int64_t r = 0; r < rows; ++r) {
      last(y + r * stride, y + r * stride, scale, nullptr, 0, n);
    }
  }
};

struct SoftmaxBackward {
  const Kernels& k;
  bool log;

  // softmax: (g - sum(g y)) y; log_softmax: g - exp(y) sum(g).
  void row(char* gx, const char* g, const char* y, int64_t n) const {
    double sum = 0;
    alignas(8) char s[8];
    if (log) {
      k.sum(&sum, g, n);
    } else {
      k.mul(gx, g, y, nullptr, 0, n);
      k.sum(&sum, gx, n);
    }
    k.narrow(&sum, s, 1);
    if (log) {
      k.exp(gx, y, nullptr, nullptr, 0, n);
      k.mul(gx, gx, s, nullptr, kUniform, n);
      k.sub(gx, g, gx, nullptr, 0, n);
    } else {
      k.sub(gx, g, s, nullptr, kUniform, n);
      k.mul(gx, gx, y, nullptr, 0, n);
    }
  }

  static constexpr int64_t kColumns = 512;
  void columns(char* gx, const char* g, const char* y, int64_t stride,
               int64_t rows, int64_t n) const {
    alignas(64) char s[kColumns * 8], room[kColumns * 8];
    alignas(64) double sum[kColumns];
    std::fill_n(sum, n, 0.0);
    for (int64_t r = 0; r < rows; ++r) {
      const char* from = g + r * stride;
      if (!log) {
        k.mul(room, from, y + r * stride, nullptr, 0, n);
        from = room;
      }
      k.sum_rows(sum, from, 0, 1, n);
    }
    k.narrow(sum, s, n);
    for (int64_t r = 0; r < rows; ++r) {
      char* to = gx + r * stride;
      const char* from = g + r * stride;
      if (log) {
        k.exp(room, y + r * stride, nullptr, nullptr, 0, n);
        k.mul(room, room, s, nullptr, 0, n);
        k.sub(to, from, room, nullptr, 0, n);
      } else {
        k.sub(room, from, s, nullptr, 0, n);
        k.mul(to, room, y + r * stride, nullptr, 0, n);
      }
    }
  }
};

// f(byte offset, columns) for rows (columns = 0) or strips of columns.
template <class F>
void for_each_run(const Extent& e, size_t size, int64_t max_columns,
                  const F& f) {
  const auto item = static_cast<int64_t>(size);
  if (e.inner == 1) {
    parallel_for(0, e.outer,
                 std::max<int64_t>(1, kGrain / std::max<int64_t>(1, e.size)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     f(i * e.size * item, int64_t{0});
                 });
    return;
  }
  const int64_t strips = (e.inner + max_columns - 1) / max_columns;
  const int64_t work =
      std::max<int64_t>(1, e.size * std::min(e.inner, max_columns));
  parallel_for(0, e.outer * strips, std::max<int64_t>(1, kGrain / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t at = i % strips * max_columns;
                   f((i / strips * e.size * e.inner + at) * item,
                     std::min(max_columns, e.inner - at));
                 }
               });
}

// f(first element, rows) for groups of short rows.
template <class F>
void for_short_rows(const Extent& e, const F& f) {
  const int64_t rows = kShortElements / e.size;
  const int64_t groups = (e.outer + rows - 1) / rows;
  parallel_for(0, groups, kGrain / kShortElements,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   f(i * rows * e.size, std::min(rows, e.outer - i * rows));
                 }
               });
}

ScalarType compute_dtype_of(const Tensor& t) {
  return tile::storage_of(tile::tile_type_of(t.dtype()));
}

// `out`, or a contiguous tensor of the compute dtype to be copied to it.
Tensor target_for(const Tensor& out, ScalarType compute) {
  if (out.is_contiguous() && out.dtype() == compute) return out;
  return Tensor(make_tensor(out.sizes(), compute, Device(kCPU)));
}

void forward(const char* op, bool log, const Tensor& self, int64_t dim,
             const Tensor& out) {
  const Extent e = extent_of(op, self, dim);
  if (self.numel() == 0) return;
  const ScalarType compute = compute_dtype_of(out);
  const Kernels kernels(tile::tile_type_of(compute));
  const Tensor x = contiguous_cpu(self, compute);
  const Tensor y = target_for(out, compute);
  const auto* from = static_cast<const char*>(x.data_ptr());
  auto* to = static_cast<char*>(y.data_ptr());
  if (e.inner == 1 && e.size <= kShortRow) {
    for_short_rows(e, [&](int64_t at, int64_t rows) {
      if (kernels.is_float) {
        short_softmax(kernels, log, reinterpret_cast<float*>(to) + at,
                      reinterpret_cast<const float*>(from) + at, rows, e.size);
      } else {
        short_softmax(kernels, log, reinterpret_cast<double*>(to) + at,
                      reinterpret_cast<const double*>(from) + at, rows, e.size);
      }
    });
    if (!y.is_same(out)) copy_cpu(out, y);
    return;
  }
  const Softmax run{kernels, log};
  const int64_t stride = e.inner * static_cast<int64_t>(kernels.size);
  for_each_run(e, kernels.size, Softmax::kColumns,
               [&](int64_t at, int64_t columns) {
                 if (columns == 0) {
                   run.row(to + at, from + at, e.size);
                 } else {
                   run.columns(to + at, from + at, stride, e.size, columns);
                 }
               });
  if (!y.is_same(out)) copy_cpu(out, y);
}

void backward(const char* op, bool log, const Tensor& grad,
              const Tensor& output, int64_t dim, const Tensor& out) {
  const Extent e = extent_of(op, grad, dim);
  if (grad.numel() == 0) return;
  const ScalarType compute = compute_dtype_of(out);
  const Kernels kernels(tile::tile_type_of(compute));
  const Tensor g = contiguous_cpu(grad, compute);
  const Tensor y = contiguous_cpu(output, compute);
  const Tensor gx = target_for(out, compute);
  const auto* g_data = static_cast<const char*>(g.data_ptr());
  const auto* y_data = static_cast<const char*>(y.data_ptr());
  auto* to = static_cast<char*>(gx.data_ptr());
  if (e.inner == 1 && e.size <= kShortRow) {
    for_short_rows(e, [&](int64_t at, int64_t rows) {
      if (kernels.is_float) {
        short_backward(kernels, log, reinterpret_cast<float*>(to) + at,
                       reinterpret_cast<const float*>(g_data) + at,
                       reinterpret_cast<const float*>(y_data) + at, rows,
                       e.size);
      } else {
        short_backward(kernels, log, reinterpret_cast<double*>(to) + at,
                       reinterpret_cast<const double*>(g_data) + at,
                       reinterpret_cast<const double*>(y_data) + at, rows,
                       e.size);
      }
    });
    if (!gx.is_same(out)) copy_cpu(out, gx);
    return;
  }
  const SoftmaxBackward run{kernels, log};
  const int64_t stride = e.inner * static_cast<int64_t>(kernels.size);
  for_each_run(e, kernels.size, SoftmaxBackward::kColumns,
               [&](int64_t at, int64_t columns) {
                 if (columns == 0) {
                   run.row(to + at, g_data + at, y_data + at, e.size);
                 } else {
                   run.columns(to + at, g_data + at, y_data + at, stride,
                               e.size, columns);
                 }
               });
  if (!gx.is_same(out)) copy_cpu(out, gx);
}

}  // namespace

void softmax_out(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  forward("_softmax", false, self, dim, out);
}

void log_softmax_out(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  forward("_log_softmax", true, self, dim, out);
}

void softmax_backward_out(const Tensor& grad_output, const Tensor& output,
                          int64_t dim, ScalarType, const Tensor& out) {
  backward("_softmax_backward_data", false, grad_output, output, dim, out);
}

void log_softmax_backward_out(const Tensor& grad_output, const Tensor& output,
                              int64_t dim, ScalarType, const Tensor& out) {
  backward("_log_softmax_backward_data", true, grad_output, output, dim, out);
}

}  // namespace sy::cpu
