#include <algorithm>
#include <cmath>

#include "aten/contract/linalg.h"
#include "aten/engine/view.h"
#include "reference_kernels.h"
#include "reflection.h"

// Factors of matrices by the methods of textbooks, in double.

namespace reference {
namespace {

void check(const char* op, bool check_errors, const Tensor& info) {
  if (check_errors) sy::check_linalg_info(op, info.to(sy::Device(sy::kCPU)));
}

// Rows of `a` exchanged so that the greatest element of what is left of each
// column leads it; L below the diagonal, U above. The first column without
// such an element, counted from 1, or 0.
template <class T>
int factor(MatrixOf<T>& a, std::vector<int64_t>& pivots) {
  int info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    int64_t p = k;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(p, k))) p = i;
    }
    pivots.push_back(p);
    for (int64_t j = 0; j < a.cols; ++j) std::swap(a(k, j), a(p, j));
    if (a(k, k) == 0) {
      if (info == 0) info = static_cast<int>(k) + 1;
      continue;
    }
    const T inverse = 1 / a(k, k);
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) *= inverse;
      for (int64_t j = k + 1; j < a.cols; ++j) {
        a(i, j) = std::fma(-a(i, k), a(k, j), a(i, j));
      }
    }
  }
  return info;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool,
                                                       bool check_errors) {
  const Index batch = batch_of(A);
  const Tensor LU = empty(A.sizes(), A.scalar_type(), A.device());
  const Tensor pivots =
      empty(with_last(batch, {std::min(A.size(-2), A.size(-1))}), sy::kInt,
            A.device());
  const Tensor info = empty(batch, sy::kInt, A.device());
  for_each_place(batch, [&](const Index& at) {
    std::vector<int64_t> p;
    visit_floats(A.scalar_type(), [&]<class T>() {
      MatrixOf<T> a = read_matrix<T>(A, at);
      write(info, at, factor(a, p));
      write_matrix(LU, at, a);
    });
    for (size_t k = 0; k < p.size(); ++k) {
      write(pivots, with_last(at, {static_cast<int64_t>(k)}), p[k] + 1);
    }
  });
  if (A.size(-2) == A.size(-1)) check("linalg_lu_factor", check_errors, info);
  return {LU, pivots, info};
}

// L L^T = A. The rest stays as it is if there is no root.
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper,
                                              bool check_errors) {
  const Index batch = batch_of(self);
  const Tensor L = empty(self.sizes(), self.scalar_type(), self.device());
  const Tensor info = empty(batch, sy::kInt, self.device());
  for_each_place(batch, [&](const Index& at) {
    Matrix a = read_matrix(self, at);
    if (upper) a = a.transposed();
    int failed = 0;
    for (int64_t j = 0; j < a.rows && failed == 0; ++j) {
      for (int64_t i = j; i < a.rows; ++i) {
        for (int64_t k = 0; k < j; ++k) a(i, j) -= a(i, k) * a(j, k);
        if (i > j) {
          a(i, j) /= a(j, j);
        } else if (a(j, j) > 0) {
          a(j, j) = std::sqrt(a(j, j));
        } else {
          failed = static_cast<int>(j) + 1;
          break;
        }
      }
    }
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = i + 1; j < a.cols; ++j) a(i, j) = 0;
    }
    write_matrix(L, at, upper ? a.transposed() : a);
    write(info, at, failed);
  });
  check("linalg_cholesky", check_errors, info);
  return {L, info};
}

// T X = B, or X T = B, which is T^T X^T = B^T.
Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper,
                               bool left, bool unitriangular) {
  const sy::Dims shared = sy::broadcast_sizes("linalg_solve_triangular",
                                              batch_of(self), batch_of(B));
  const Index batch(shared.begin(), shared.end());
  const Tensor out = empty(with_last(batch, {B.size(-2), B.size(-1)}),
                           B.scalar_type(), B.device());
  for_each_place(batch, [&](const Index& at) {
    Matrix t = read_matrix(self, at), x = read_matrix(B, at);
    bool from_end = upper;
    if (!left) {
      t = t.transposed();
      x = x.transposed();
      from_end = !upper;
    }
    const int64_t n = t.rows;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = from_end ? n - 1 - step : step;
      for (int64_t j = 0; j < x.cols; ++j) {
        const int64_t begin = from_end ? i + 1 : 0, end = from_end ? n : i;
        for (int64_t k = begin; k < end; ++k) x(i, j) -= t(i, k) * x(k, j);
        if (!unitriangular) x(i, j) /= t(i, i);
      }
    }
    write_matrix(out, at, left ? x : x.transposed());
  });
  return out;
}

// Each column reflected onto the axis of its diagonal element, away from it.
// Below the diagonal the reflection's vector, which is 1 there.
std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  const Index batch = batch_of(self);
  const int64_t steps = std::min(self.size(-2), self.size(-1));
  const Tensor out = empty(self.sizes(), self.scalar_type(), self.device());
  const Tensor tau =
      empty(with_last(batch, {steps}), self.scalar_type(), self.device());
  for_each_place(batch, [&](const Index& at) {
    visit_floats(self.scalar_type(), [&]<class T>() {
      MatrixOf<T> a = read_matrix<T>(self, at);
      const Reflections<T> all = reduce_columns(a);
      for (int64_t k = 0; k < steps; ++k) {
        const Reflection<T>& h = all[static_cast<size_t>(k)];
        for (int64_t i = k + 1; i < a.rows; ++i) {
          a(i, k) = h.v[static_cast<size_t>(i - k)];
        }
        write(tau, with_last(at, {k}), h.tau);
      }
      write_matrix(out, at, a);
    });
  });
  return {out, tau};
}

}  // namespace reference
