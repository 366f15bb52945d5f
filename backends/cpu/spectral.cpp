#include <algorithm>

#include "aten/contract/linalg.h"
#include "aten/engine/copy.h"
#include "backends/cpu/spectral_kernels_gen.h"
#include "backends/cpu/support/lapack.h"

namespace sy::cpu {

namespace {

constexpr int32_t kAsk = -1;  // for the size of the workspace

Tensor make_info(const Tensor& A) {
  return Tensor(make_tensor(batch_of(A), kInt, Device(kCPU)));
}

template <class T>
void identity(T* a, int64_t count, int64_t n) {
  std::fill_n(a, count * n * n, T(0));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < n; ++k) a[i * n * n + k * (n + 1)] = T(1);
  }
}

// The memory of matrices by rows holds their transposes by columns: V S U^T. So
// LAPACK's U is Vh by rows, and its VT is U.
template <class T>
void decompose(const LapackApi& api, const Matrices& a, char job, T* u, T* s,
               T* vh, int32_t* info) {
  const auto& r = routines<T>(api);
  const int32_t n = a.m(), m = a.n(), lead = a.lead(), each = std::min(m, n);
  const int32_t u_rows = std::max(job == 'A' ? m : each, 1);
  const double work =
      20.0 * static_cast<double>(m) * static_cast<double>(n) * each;
  each_matrix(api, a.count, work, [&](int64_t begin, int64_t end) {
    T answer = 1;
    int32_t code = 0;
    r.gesdd(&job, &n, &m, nullptr, &lead, nullptr, nullptr, &lead, nullptr,
            &u_rows, &answer, &kAsk, nullptr, &code, 1);
    const auto room = Work<T>::asked(answer);
    const Work<int32_t> ints(int64_t{8} * each);
    const int64_t u_size = int64_t{m} * (job == 'A' ? m : each);
    const int64_t v_size = int64_t{n} * (job == 'A' ? n : each);
    for (int64_t i = begin; i < end; ++i) {
      T* const v = vh == nullptr ? nullptr : vh + i * v_size;
      T* const w = u == nullptr ? nullptr : u + i * u_size;
      r.gesdd(&job, &n, &m, a.at<T>(i), &lead, s + i * each, v, &lead, w,
              &u_rows, room.data(), room.size(), ints.data(), info + i, 1);
    }
  });
}

}  // namespace

void svd_out(const Tensor& A, bool full_matrices, bool compute_uv,
             std::optional<std::string_view>, const Tensor& U, const Tensor& S,
             const Tensor& Vh) {
  const char* op = "linalg_svd";
  const LapackApi& api = require_lapack(op);
  check_finite(op, "A", A);
  const Room u(U), s(S), vh(Vh);
  const Tensor info = make_info(A);
  auto* const codes = static_cast<int32_t*>(info.raw_data());
  std::fill_n(codes, info.numel(), 0);
  const Matrices a = columns_of(op, transposed(A));
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    if (a.rows == 0 || a.cols == 0) {
      if (compute_uv && full_matrices) {
        identity(u.data<T>(), a.count, a.cols);
        identity(vh.data<T>(), a.count, a.rows);
      }
      return;
    }
    const char job = !compute_uv ? 'N' : full_matrices ? 'A' : 'S';
    decompose<T>(api, a, job, compute_uv ? u.data<T>() : nullptr, s.data<T>(),
                 compute_uv ? vh.data<T>() : nullptr, codes);
  });
  check_linalg_info(op, info);
  u.store();
  s.store();
  vh.store();
}

void eigh_out(const Tensor& A, std::string_view UPLO, bool compute_v,
              const Tensor& eigenvalues, const Tensor& eigenvectors) {
  const char* op = "linalg_eigh";
  const LapackApi& api = require_lapack(op);
  check_finite(op, "A", A);
  const Room values(eigenvalues);
  const Tensor info = make_info(A);
  auto* const codes = static_cast<int32_t*>(info.raw_data());
  std::fill_n(codes, info.numel(), 0);
  // The lower triangle of a symmetric matrix by rows is the upper by columns.
  const Matrices a = columns_of(op, transposed(A));
  const int32_t n = a.n(), lead = a.lead();
  const char job = compute_v ? 'V' : 'N';
  const char uplo = UPLO == "L" || UPLO == "l" ? 'U' : 'L';
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    if (n == 0) return;
    const auto& r = routines<T>(api);
    const double work = 10.0 * n * static_cast<double>(n) * n;
    each_matrix(api, a.count, work, [&](int64_t begin, int64_t end) {
      T answer = 1;
      int32_t ints_asked = 1, code = 0;
      r.syevd(&job, &uplo, &n, nullptr, &lead, nullptr, &answer, &kAsk,
              &ints_asked, &kAsk, &code, 1, 1);
      const auto room = Work<T>::asked(answer);
      const Work<int32_t> ints(ints_asked);
      for (int64_t i = begin; i < end; ++i) {
        r.syevd(&job, &uplo, &n, a.at<T>(i), &lead, values.data<T>() + i * n,
                room.data(), room.size(), ints.data(), ints.size(), codes + i,
                1, 1);
      }
    });
  });
  check_linalg_info(op, info);
  values.store();
  if (compute_v) a.store(eigenvectors);
}

}  // namespace sy::cpu
