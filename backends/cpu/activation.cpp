#include <algorithm>
#include <cmath>
#include <cstring>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/activation_kernels_gen.h"
#include "backends/cpu/kernel/softmax_kernel.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

using lang::Prim;
using tiles::PrimFn;

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
  tiles::ReduceFn max, sum;
  tiles::ReduceRowsFn max_rows, sum_rows;
  bool is_float;

  explicit Kernels(program::ComputeType t)
      : size(compute_type_size(t)),
        sub(tiles::prim_fn(Prim::sub, t)),
        mul(tiles::prim_fn(Prim::mul, t)),
        div(tiles::prim_fn(Prim::div, t)),
        exp(tiles::prim_fn(Prim::exp, t)),
        log(tiles::prim_fn(Prim::log, t)),
        add(tiles::prim_fn(Prim::add, t)),
        max(tiles::reduce_fn(tiles::Reduction::max, t)),
        sum(tiles::reduce_fn(tiles::Reduction::sum, t)),
        max_rows(tiles::reduce_rows_fn(tiles::Reduction::max, t)),
        sum_rows(tiles::reduce_rows_fn(tiles::Reduction::sum, t)),
        is_float(t == program::ComputeType::f32) {}

  // Sums are made in double.
  void narrow(const double* from, void* to, int64_t n) const {
    tiles::convert_fn(kDouble, is_float ? kFloat : kDouble)(to, from, n);
  }
};

struct Softmax {
  const Kernels& k;
  bool log;

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

// f(first row, rows) for rows close together.
template <class F>
void for_each_rows(const Extent& e, const F& f) {
  parallel_for(0, e.outer,
               std::max<int64_t>(1, kGrain / std::max<int64_t>(1, e.size)),
               [&](int64_t begin, int64_t end) { f(begin, end - begin); });
}

// f(byte offset, columns) for strips of columns.
template <class F>
void for_each_strip(const Extent& e, size_t size, int64_t max_columns,
                    const F& f) {
  const auto item = static_cast<int64_t>(size);
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

template <class T>
void forward_rows(const Extent& e, bool log, void* y, const void* x) {
  for_each_rows(e, [&](int64_t row, int64_t rows) {
    softmax_kernel<T>().forward(static_cast<T*>(y) + row * e.size,
                                static_cast<const T*>(x) + row * e.size, rows,
                                e.size, log);
  });
}

template <class T>
void backward_rows(const Extent& e, bool log, void* gx, const void* g,
                   const void* y) {
  for_each_rows(e, [&](int64_t row, int64_t rows) {
    const int64_t at = row * e.size;
    softmax_kernel<T>().backward(
        static_cast<T*>(gx) + at, static_cast<const T*>(g) + at,
        static_cast<const T*>(y) + at, rows, e.size, log);
  });
}

ScalarType compute_dtype_of(const Tensor& t) {
  return program::storage_of(program::compute_type_of(t.dtype()));
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
  const Kernels kernels(program::compute_type_of(compute));
  const Tensor x = contiguous_cpu(self, compute);
  const Tensor y = target_for(out, compute);
  const auto* from = static_cast<const char*>(x.raw_data());
  auto* to = static_cast<char*>(y.raw_data());
  if (e.inner == 1) {
    (kernels.is_float ? forward_rows<float> : forward_rows<double>)(e, log, to,
                                                                    from);
    if (!y.is_same(out)) copy_cpu(out, y);
    return;
  }
  const Softmax run{kernels, log};
  const int64_t stride = e.inner * static_cast<int64_t>(kernels.size);
  for_each_strip(e, kernels.size, Softmax::kColumns,
                 [&](int64_t at, int64_t columns) {
                   run.columns(to + at, from + at, stride, e.size, columns);
                 });
  if (!y.is_same(out)) copy_cpu(out, y);
}

void backward(const char* op, bool log, const Tensor& grad,
              const Tensor& output, int64_t dim, const Tensor& out) {
  const Extent e = extent_of(op, grad, dim);
  if (grad.numel() == 0) return;
  const ScalarType compute = compute_dtype_of(out);
  const Kernels kernels(program::compute_type_of(compute));
  const Tensor g = contiguous_cpu(grad, compute);
  const Tensor y = contiguous_cpu(output, compute);
  const Tensor gx = target_for(out, compute);
  const auto* g_data = static_cast<const char*>(g.raw_data());
  const auto* y_data = static_cast<const char*>(y.raw_data());
  auto* to = static_cast<char*>(gx.raw_data());
  if (e.inner == 1) {
    (kernels.is_float ? backward_rows<float>
                      : backward_rows<double>)(e, log, to, g_data, y_data);
    if (!gx.is_same(out)) copy_cpu(out, gx);
    return;
  }
  const SoftmaxBackward run{kernels, log};
  const int64_t stride = e.inner * static_cast<int64_t>(kernels.size);
  for_each_strip(e, kernels.size, SoftmaxBackward::kColumns,
                 [&](int64_t at, int64_t columns) {
                   run.columns(to + at, g_data + at, y_data + at, stride,
                               e.size, columns);
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
