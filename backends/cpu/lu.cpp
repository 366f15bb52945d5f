#include <numeric>

#include "aten/contract/linalg.h"
#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "backends/cpu/lu.h"
#include "backends/cpu/lu_kernels_gen.h"
#include "backends/cpu/support/lapack.h"

namespace sy::cpu {

namespace {

double lu_work(int64_t m, int64_t n) {
  return static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(std::min(m, n));
}

// Factors in place. `pivots` and `info` are contiguous.
template <class T>
void factor(const LapackApi& api, const Matrices& a, int32_t* pivots,
            int32_t* info) {
  const auto& r = routines<T>(api);
  const int32_t m = a.m(), n = a.n(), lead = a.lead();
  const int64_t each = std::min(a.rows, a.cols);
  each_matrix(api, a.count, lu_work(m, n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      info[i] = 0;
      if (each > 0) {
        r.getrf(&m, &n, a.at<T>(i), &lead, pivots + i * each, info + i);
      }
    }
  });
}

// b = the solution, by factors of as many matrices.
template <class T>
void solve(const LapackApi& api, char trans, const Matrices& a,
           const int32_t* pivots, const Matrices& b) {
  const auto& r = routines<T>(api);
  const int32_t n = a.n(), k = b.n(), lead = a.lead();
  if (n == 0 || k == 0) return;
  each_matrix(api, b.count, lu_work(n, n) + lu_work(n, k) * 2,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  int32_t info = 0;
                  r.getrs(&trans, &n, &k, a.at<T>(i), &lead, pivots + i * n,
                          b.at<T>(i), &lead, &info, 1);
                }
              });
}

// Returns pivots for as many matrices as `batch` says.
Tensor pivots_of(const TensorBase& pivots, IntArrayRef batch) {
  Dims sizes(batch);
  sizes.push_back(pivots.sizes().back());
  if (pivots.is_contiguous() && pivots.sizes() == IntArrayRef(sizes)) {
    return Tensor(pivots);
  }
  Tensor all(make_tensor(sizes, kInt, Device(kCPU)));
  copy_cpu(all, pivots);
  return all;
}

void check_pivots(const char* op, const Tensor& pivots, int64_t rows) {
  const auto* p = static_cast<const int32_t*>(pivots.raw_data());
  for (int64_t i = 0; i < pivots.numel(); ++i) {
    SY_CHECK(p[i] >= 1 && p[i] <= rows, Value,
             "[{}] pivots: expected rows counted from 1 up to {}, got {}", op,
             rows, p[i]);
  }
}

// out = X of A X = B, or of X A = B, which is A^T X^T = B^T. `factors` are
// those of A, or (trans) of what A or A^T in that equation is the transpose of.
void solve_into(const char* op, const LapackApi& api, const Matrices& factors,
                const Tensor& pivots, const Tensor& B, bool left, bool trans,
                const Tensor& out) {
  const IntArrayRef batch = batch_of(out);
  const bool wide = batch != batch_of(factors.memory);
  const Matrices a = wide ? columns_of(op, factors.memory, batch) : factors;
  const Tensor p = pivots_of(pivots, batch);
  const Tensor target = left ? out : transposed(out);
  const Matrices b = columns_of(op, left ? B : transposed(B), batch);
  visit_lapack_dtypes(out.dtype(), [&]<class T>() {
    solve<T>(api, trans ? 'T' : 'N', a,
             static_cast<const int32_t*>(p.raw_data()), b);
  });
  b.store(target);
}

}  // namespace

Matrices factored(const char* op, const LapackApi& api, const Tensor& A,
                  int32_t* pivots, int32_t* info) {
  Matrices a = columns_of(op, by_transpose(A) ? transposed(A) : A);
  visit_lapack_dtypes(A.dtype(),
                      [&]<class T>() { factor<T>(api, a, pivots, info); });
  return a;
}

namespace {

// Matrix i of a batch.
Tensor matrix_at(const Tensor& t, int64_t i) {
  int64_t offset = t.storage_offset();
  for (int64_t d = t.dim() - 3; d >= 0; --d) {
    offset += i % t.size(d) * t.strides()[static_cast<size_t>(d)];
    i /= t.size(d);
  }
  const auto batch = static_cast<size_t>(t.dim() - 2);
  return Tensor(t.impl()->alias(t.sizes().slice(batch, 2),
                                t.strides().slice(batch, 2), offset));
}

// Stores the inverse that the factors of A itself give if a pivot is 0:
// infinities and NaN. Returns which pivot it is.
int32_t divide_by_zero(const char* op, const LapackApi& api, const Tensor& A,
                       const Tensor& inverse, int64_t i) {
  const Matrices a = columns_of(op, matrix_at(A, i));
  const Matrices x = make_columns(op, A.dtype(), {}, a.rows, a.rows);
  const Work<int32_t> pivots(a.rows);
  int32_t info = 0;
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    std::fill_n(x.at<T>(0), a.rows * a.rows, T(0));
    for (int64_t k = 0; k < a.rows; ++k) x.at<T>(0)[k * (a.rows + 1)] = 1;
    factor<T>(api, a, pivots.data(), &info);
    solve<T>(api, 'N', a, pivots.data(), x);
  });
  x.store(matrix_at(inverse, i));
  return info;
}

}  // namespace

void lu_factor_ex_out(const Tensor& A, bool, bool check_errors,
                      const Tensor& LU, const Tensor& pivots,
                      const Tensor& info) {
  const LapackApi& api = require_lapack("linalg_lu_factor");
  const Room p(pivots), codes(info);
  const Matrices a = columns_of("linalg_lu_factor", A);
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    factor<T>(api, a, p.data<int32_t>(), codes.data<int32_t>());
  });
  // A matrix that is not square gives no solution anyway.
  if (check_errors && a.rows == a.cols) {
    check_linalg_info("linalg_lu_factor", codes.memory());
  }
  a.store(LU);
  p.store();
  codes.store();
}

void lu_permutation_out(const Tensor& pivots, int64_t rows, const Tensor& out) {
  const Tensor p = contiguous_cpu(pivots);
  check_pivots("lu_unpack", p, rows);
  const Room room(out);
  const int64_t each = pivots.sizes().back();
  const int64_t count = rows == 0 ? 0 : out.numel() / rows;
  const auto* from = static_cast<const int32_t*>(p.raw_data());
  for (int64_t i = 0; i < count; ++i) {
    int64_t* order = room.data<int64_t>() + i * rows;
    std::iota(order, order + rows, int64_t{0});
    for (int64_t k = 0; k < each; ++k) {
      std::swap(order[k], order[from[i * each + k] - 1]);
    }
  }
  room.store();
}

void lu_solve_out(const Tensor& LU, const Tensor& pivots, const Tensor& B,
                  bool left, bool adjoint, const Tensor& out) {
  const char* op = "linalg_lu_solve";
  const LapackApi& api = require_lapack(op);
  const Tensor p = contiguous_cpu(pivots);
  check_pivots(op, p, LU.sizes().back());
  solve_into(op, api, columns_of(op, LU), p, B, left, adjoint == left, out);
}

void solve_ex_out(const Tensor& A, const Tensor& B, bool left,
                  bool check_errors, const Tensor& result, const Tensor& LU,
                  const Tensor& pivots, const Tensor& info) {
  const char* op = "linalg_solve";
  const LapackApi& api = require_lapack(op);
  const Room p(pivots), codes(info);
  // The factors are those of A itself, not of its transpose as elsewhere:
  // ATen's callers see them.
  Matrices a = columns_of(op, A);
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    factor<T>(api, a, p.data<int32_t>(), codes.data<int32_t>());
  });
  if (check_errors) check_linalg_info(op, codes.memory());
  const bool vector = is_vector_beside(A, B);
  // X of X A = B is row-major, as ATen has it; it is fresh here.
  if (!left) result.impl()->set_sizes_contiguous(Dims(result.sizes()));
  const auto as_matrix = [&](const Tensor& t) {
    if (!vector) return t;
    Dims sizes(t.sizes()), strides(t.strides());
    sizes.push_back(1);
    strides.push_back(1);
    return Tensor(t.impl()->alias(sizes, strides, t.storage_offset()));
  };
  solve_into(op, api, a, p.memory(), as_matrix(B), left, !left,
             as_matrix(result));
  a.store(LU);
  p.store();
  codes.store();
}

void inv_ex_out(const Tensor& A, bool check_errors, const Tensor& inverse,
                const Tensor& info) {
  const char* op = "linalg_inv";
  const LapackApi& api = require_lapack(op);
  const Room codes(info);
  // The inverse of the transpose is that of the matrix, by rows.
  const Matrices a = columns_of(op, transposed(A));
  const int32_t n = a.n(), lead = a.lead();
  int32_t* failed = codes.data<int32_t>();
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(
        api, a.count, 3 * lu_work(n, n), [&](int64_t begin, int64_t end) {
          T answer = 1;
          const int32_t ask = -1;
          int32_t code = 0;
          r.getri(&n, nullptr, &lead, nullptr, &answer, &ask, &code);
          const auto work = Work<T>::asked(answer);
          const Work<int32_t> pivots(n);
          for (int64_t i = begin; i < end; ++i) {
            failed[i] = 0;
            if (n == 0) continue;
            r.getrf(&n, &n, a.at<T>(i), &lead, pivots.data(), failed + i);
            if (failed[i] != 0) continue;
            r.getri(&n, a.at<T>(i), &lead, pivots.data(), work.data(),
                    work.size(), failed + i);
          }
        });
  });
  if (check_errors) check_linalg_info(op, codes.memory());
  a.store(transposed(inverse));
  for (int64_t i = 0; i < a.count; ++i) {
    if (failed[i] != 0) failed[i] = divide_by_zero(op, api, A, inverse, i);
  }
  codes.store();
}

}  // namespace sy::cpu
