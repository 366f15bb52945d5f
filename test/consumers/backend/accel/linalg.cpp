#include <sy/sy.h>

#include "accel_kernels.h"
#include "aten/engine/view.h"
#include "kernel.h"

namespace accel {
namespace {

using sy::Scalar;
using sy::Tensor;

// A two-dimensional view of memory.
struct Matrix {
  explicit Matrix(const Span& t)
      : data(t.elements()),
        rows(t.size(0)),
        columns(t.size(1)),
        row(t.stride(0)),
        column(t.stride(1)) {}
  float& operator()(int64_t i, int64_t j) const {
    return data[i * row + j * column];
  }

  float* data;
  int64_t rows, columns, row, column;
};

// out(i, j) = finish(i, j, sum over k of a(i, k) * b(k, j))
template <class F>
void multiply(const Matrix& out, const Matrix& a, const Matrix& b,
              const F& finish) {
  for (int64_t i = 0; i < out.rows; ++i) {
    for (int64_t j = 0; j < out.columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < a.columns; ++k) sum += a(i, k) * b(k, j);
      out(i, j) = finish(i, j, sum);
    }
  }
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  Tensor out = sy::empty({self.size(0), mat2.size(1)}, self.options());
  launch(
      [](const Span& to, const Span& a, const Span& b) {
        multiply(Matrix(to), Matrix(a), Matrix(b),
                 [](int64_t, int64_t, float sum) { return sum; });
      },
      out, self, mat2);
  return out;
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
             const Scalar& beta, const Scalar& alpha) {
  Tensor out = sy::empty({mat1.size(0), mat2.size(1)}, self.options());
  const Tensor wide = sy::expand_for_kernel("addmm", self, out.sizes());
  launch(
      [scale = alpha.toFloat(), keep = beta.toFloat()](
          const Span& to, const Span& a, const Span& b, const Span& c) {
        const Matrix added(c);
        multiply(Matrix(to), Matrix(a), Matrix(b),
                 [&](int64_t i, int64_t j, float sum) {
                   // A beta of 0 ignores what is there, NaN included.
                   return scale * sum + (keep == 0 ? 0 : keep * added(i, j));
                 });
      },
      out, mat1, mat2, wide);
  return out;
}

}  // namespace accel
