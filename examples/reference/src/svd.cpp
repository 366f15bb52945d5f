#include <algorithm>
#include <cmath>
#include <utility>

#include "bidiagonal.h"
#include "reference_kernels.h"
#include "reflection.h"

// Singular values: reflections from both sides make a matrix bidiagonal, and
// implicit QR steps (bidiagonal.h) diagonal. Steps and signs are those of
// LAPACK's routines for small matrices.

namespace reference {
namespace {

// U diag(S) V^T, singular values in descending order; all columns of U and V.
template <class T>
struct Decomposition {
  MatrixOf<T> u, v;
  std::vector<T> s;

  Decomposition swapped() && { return {std::move(v), std::move(u), s}; }
};

// `inner` in the corner of an identity.
template <class T>
MatrixOf<T> extended(const MatrixOf<T>& inner, int64_t n) {
  MatrixOf<T> out = MatrixOf<T>::identity(n);
  for (int64_t i = 0; i < inner.rows; ++i) {
    for (int64_t j = 0; j < inner.cols; ++j) out(i, j) = inner(i, j);
  }
  return out;
}

template <class T>
void transpose(MatrixOf<T>& a) {
  a = a.transposed();
}

// Reflects from both sides, columns first if there are at least as many rows,
// else rows.
template <class T>
Decomposition<T> by_both_sides(MatrixOf<T> a) {
  const bool upper = a.rows >= a.cols;
  const int64_t m = a.rows, n = a.cols, each = std::min(m, n);
  Reflections<T> left, right;
  Bidiagonal<T> b(each);
  for (int64_t k = 0; k < each; ++k) {
    if (!upper) transpose(a);
    Reflections<T>& first = upper ? left : right;
    first.push_back(column_reflection(a, k, k));
    first.back().apply(a, k);
    b.d(k) = first.back().value;
    transpose(a);
    if (k + 1 < a.rows && k + 1 < each) {
      Reflections<T>& second = upper ? right : left;
      second.push_back(column_reflection(a, k + 1, k));
      second.back().apply(a, k);
      b.e(k) = second.back().value;
    }
    if (upper) transpose(a);
  }
  b.diagonalize(upper);
  Decomposition<T> out{extended(b.u, m), extended(b.v, n), b.values};
  apply_all(left, out.u);
  apply_all(right, out.v);
  return out;
}

template <class T>
Decomposition<T> decomposed(MatrixOf<T> a) {
  // A matrix of many rows, or columns, becomes a triangle first.
  const int64_t m = a.rows, n = a.cols;
  const auto many = [](int64_t x, int64_t than) {
    return x >= static_cast<int64_t>(static_cast<double>(than) * 11 / 6);
  };
  if (m >= n && many(m, n)) {
    const Reflections<T> q = reduce_columns(a);
    MatrixOf<T> r(n, n);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) r(i, j) = a(i, j);
    }
    Decomposition<T> d = by_both_sides(r);
    d.u = extended(d.u, m);
    apply_all(q, d.u);
    return d;
  }
  if (m < n && many(n, m)) {
    MatrixOf<T> t = a.transposed();
    const Reflections<T> q = reduce_columns(t);
    MatrixOf<T> l(m, m);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j <= i; ++j) l(i, j) = t(j, i);
    }
    Decomposition<T> d = by_both_sides(l);
    d.v = extended(d.v, n);
    apply_all(q, d.v);
    return d;
  }
  return by_both_sides(a);
}

template <class T>
MatrixOf<T> first_columns(const MatrixOf<T>& a, int64_t n) {
  MatrixOf<T> out(a.rows, n);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < n; ++j) out(i, j) = a(i, j);
  }
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _linalg_svd(
    const Tensor& A, bool full_matrices, bool compute_uv,
    std::optional<std::string_view>) {
  check_finite("linalg_svd", A);
  const Index batch = batch_of(A);
  const int64_t m = A.size(-2), n = A.size(-1), each = std::min(m, n);
  const int64_t us = full_matrices ? m : each, vs = full_matrices ? n : each;
  const auto make = [&](const Index& sizes) {
    return empty(sizes, A.scalar_type(), A.device());
  };
  const Tensor U = make(compute_uv ? with_last(batch, {m, us}) : Index{0});
  const Tensor S = make(with_last(batch, {each}));
  const Tensor Vh = make(compute_uv ? with_last(batch, {vs, n}) : Index{0});
  visit_floats(A.scalar_type(), [&]<class T>() {
    for_each_place(batch, [&](const Index& at) {
      // Decomposes the transpose, as LAPACK sees a matrix by rows.
      const Decomposition<T> d =
          decomposed(read_matrix<T>(A, at).transposed()).swapped();
      for (int64_t i = 0; i < each; ++i) {
        write(S, with_last(at, {i}), d.s[static_cast<size_t>(i)]);
      }
      if (!compute_uv) return;
      write_matrix(U, at, first_columns(d.u, us));
      write_matrix(Vh, at, first_columns(d.v, vs).transposed());
    });
  });
  return {U, S, Vh};
}

}  // namespace reference
