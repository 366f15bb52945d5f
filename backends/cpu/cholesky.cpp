#include <cstdlib>

#include "aten/contract/linalg.h"
#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/cholesky_kernels_gen.h"
#include "backends/cpu/support/lapack.h"

namespace sy::cpu {

namespace {

double cube(int64_t n) {
  const auto d = static_cast<double>(n);
  return d * d * d;
}

double solve_work(int64_t n, int64_t k) {
  return static_cast<double>(n) * static_cast<double>(n) *
         static_cast<double>(k);
}

// A symmetric matrix is by columns what it is by rows; its lower triangle by
// rows is the upper one by columns.
char by_columns(bool upper) { return upper ? 'L' : 'U'; }

// The other triangle of symmetric matrices by rows.
template <class T>
void mirror(T* a, int64_t n, bool from_upper) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      if (from_upper) {
        a[i * n + j] = a[j * n + i];
      } else {
        a[j * n + i] = a[i * n + j];
      }
    }
  }
}

// sytrs walks over blocks of one and two rows as the signs of pivots say.
void check_blocks(const char* op, const Tensor& pivots, int64_t n) {
  const auto* all = static_cast<const int32_t*>(pivots.raw_data());
  for (int64_t i = 0; n > 0 && i < pivots.numel() / n; ++i) {
    const int32_t* p = all + i * n;
    for (int64_t k = 0; k < n; ++k) {
      const bool pair = p[k] < 0;
      const bool fits =
          p[k] != INT32_MIN && std::abs(p[k]) >= 1 && std::abs(p[k]) <= n;
      SY_CHECK(fits && (!pair || (k + 1 < n && p[k + 1] == p[k])), Value,
               "[{}] pivots: expected rows counted from 1 up to {}, negated "
               "and twice for a block of two, got {}",
               op, n, p[k]);
      k += pair;
    }
  }
}

}  // namespace

void cholesky_ex_out(const Tensor& self, bool upper, bool check_errors,
                     const Tensor& L, const Tensor& info) {
  const char* op = "linalg_cholesky";
  const LapackApi& api = require_lapack(op);
  const Room codes(info);
  const Matrices a = columns_of(op, transposed(self));
  const int32_t n = a.n(), lead = a.lead();
  const char uplo = by_columns(upper);
  int32_t* failed = codes.data<int32_t>();
  visit_lapack_dtypes(self.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(api, a.count, cube(n) / 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        failed[i] = 0;
        if (n == 0) continue;
        r.potrf(&uplo, &n, a.at<T>(i), &lead, failed + i, 1);
        clear_triangle(a.at<T>(i), n, !upper);
      }
    });
  });
  if (check_errors) check_linalg_info(op, codes.memory());
  a.store(transposed(L));
  codes.store();
}

void cholesky_solve_out(const Tensor& self, const Tensor& input2, bool upper,
                        const Tensor& out) {
  const char* op = "cholesky_solve";
  const LapackApi& api = require_lapack(op);
  const Matrices a = columns_of(op, transposed(input2), batch_of(out));
  const Matrices b = columns_of(op, self, batch_of(out));
  const int32_t n = a.n(), k = b.n(), lead = a.lead();
  const char uplo = by_columns(upper);
  visit_lapack_dtypes(out.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(api, b.count, 2 * solve_work(n, k),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end && n > 0 && k > 0; ++i) {
                    int32_t info = 0;
                    r.potrs(&uplo, &n, &k, a.at<T>(i), &lead, b.at<T>(i), &lead,
                            &info, 1);
                  }
                });
  });
  b.store(out);
}

void cholesky_inverse_out(const Tensor& self, bool upper, const Tensor& out) {
  const char* op = "cholesky_inverse";
  const LapackApi& api = require_lapack(op);
  const Matrices a = columns_of(op, transposed(self));
  const int32_t n = a.n(), lead = a.lead();
  const char uplo = by_columns(upper);
  const Tensor info(make_tensor(batch_of(out), kInt, Device(kCPU)));
  auto* failed = static_cast<int32_t*>(info.raw_data());
  visit_lapack_dtypes(out.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(api, a.count, cube(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        failed[i] = 0;
        if (n == 0) continue;
        r.potri(&uplo, &n, a.at<T>(i), &lead, failed + i, 1);
        mirror(a.at<T>(i), n, upper);
      }
    });
  });
  for (int64_t i = 0; i < a.count; ++i) {
    SY_CHECK(failed[i] == 0, Value,
             "[cholesky_inverse] self: expected no zero on the diagonal, got "
             "one in place {}",
             failed[i]);
  }
  a.store(transposed(out));
}

void ldl_factor_ex_out(const Tensor& self, bool, bool check_errors,
                       const Tensor& LD, const Tensor& pivots,
                       const Tensor& info) {
  const char* op = "linalg_ldl_factor";
  const LapackApi& api = require_lapack(op);
  const Room p(pivots), codes(info);
  const Matrices a = columns_of(op, self);
  const int32_t n = a.n(), lead = a.lead();
  int32_t* failed = codes.data<int32_t>();
  visit_lapack_dtypes(self.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(api, a.count, cube(n) / 3, [&](int64_t begin, int64_t end) {
      T answer = 1;
      const int32_t ask = -1;
      int32_t code = 0;
      r.sytrf("L", &n, nullptr, &lead, nullptr, &answer, &ask, &code, 1);
      const auto work = Work<T>::asked(answer);
      for (int64_t i = begin; i < end; ++i) {
        failed[i] = 0;
        if (n == 0) continue;
        r.sytrf("L", &n, a.at<T>(i), &lead, p.data<int32_t>() + i * n,
                work.data(), work.size(), failed + i, 1);
        // The elements above the diagonal by columns are those below it by
        // rows.
        clear_triangle(a.at<T>(i), n, false);
      }
    });
  });
  if (check_errors) check_linalg_info(op, codes.memory());
  a.store(LD);
  p.store();
  codes.store();
}

void ldl_solve_out(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                   bool, const Tensor& out) {
  const char* op = "linalg_ldl_solve";
  const LapackApi& api = require_lapack(op);
  const IntArrayRef batch = batch_of(out);
  const Matrices a = columns_of(op, LD, batch);
  const Matrices b = columns_of(op, B, batch);
  const int32_t n = a.n(), k = b.n(), lead = a.lead();
  const Tensor given = contiguous_cpu(pivots);
  check_blocks(op, given, n);
  Dims sizes(batch);
  sizes.push_back(n);
  const Tensor p(make_tensor(sizes, kInt, Device(kCPU)));
  copy_cpu(p, given);
  visit_lapack_dtypes(out.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(api, b.count, 2 * solve_work(n, k),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end && n > 0 && k > 0; ++i) {
                    int32_t info = 0;
                    r.sytrs("L", &n, &k, a.at<T>(i), &lead,
                            static_cast<const int32_t*>(p.raw_data()) + i * n,
                            b.at<T>(i), &lead, &info, 1);
                  }
                });
  });
  b.store(out);
}

void solve_triangular_out(const Tensor& self, const Tensor& B, bool upper,
                          bool left, bool unitriangular, const Tensor& out) {
  const char* op = "linalg_solve_triangular";
  const LapackApi& api = require_lapack(op);
  // Each matrix is its transpose by columns: X A = B is A^T X^T = B^T.
  const IntArrayRef batch = batch_of(out);
  const bool shared = count_of(batch_of(self)) == 1;
  const Matrices a = shared ? columns_of(op, transposed(self))
                            : columns_of(op, transposed(self), batch);
  const Matrices b = columns_of(op, transposed(B), batch);
  const int32_t n = b.n(), m = b.m(), lead = a.lead(), rows = b.lead();
  const char side = left ? 'R' : 'L', uplo = by_columns(upper),
             diag = unitriangular ? 'U' : 'N';
  visit_lapack_dtypes(out.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    const T one = 1;
    each_matrix(api, b.count, solve_work(a.n(), left ? m : n),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end && m > 0 && n > 0; ++i) {
                    r.trsm(&side, &uplo, "N", &diag, &m, &n, &one,
                           a.at<T>(shared ? 0 : i), &lead, b.at<T>(i), &rows, 1,
                           1, 1, 1);
                  }
                });
  });
  b.store(transposed(out));
}

}  // namespace sy::cpu
