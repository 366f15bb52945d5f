#include <cmath>

#include "backends/cpu/determinant_kernels_gen.h"
#include "backends/cpu/lu.h"

namespace sy::cpu {

namespace {

Tensor make_info(IntArrayRef sizes) {
  return Tensor(make_tensor(sizes, kInt, Device(kCPU)));
}

// For each matrix: f(i, sign of the exchanges, its diagonal's first element,
// steps between them).
template <class T, class F>
void each_diagonal(const Matrices& a, const int32_t* pivots, const F& f) {
  const int64_t n = a.rows;
  for (int64_t i = 0; i < a.count; ++i) {
    bool odd = false;
    for (int64_t k = 0; k < n; ++k) odd ^= pivots[i * n + k] != k + 1;
    f(i, odd ? T(-1) : T(1), a.at<T>(i), n + 1);
  }
}

}  // namespace

void det_out(const Tensor& A, const Tensor& result, const Tensor& LU,
             const Tensor& pivots) {
  const char* op = "linalg_det";
  const LapackApi& api = require_lapack(op);
  const Room p(pivots), det(result);
  const Tensor info = make_info(batch_of(A));
  const Matrices a = factored(op, api, A, p.data<int32_t>(),
                              static_cast<int32_t*>(info.raw_data()));
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    each_diagonal<T>(a, p.data<int32_t>(),
                     [&](int64_t i, T sign, const T* x, int64_t step) {
                       T product = sign;
                       for (int64_t k = 0; k < a.rows; ++k) {
                         product *= x[k * step];
                       }
                       det.data<T>()[i] = product;
                     });
  });
  a.store(LU);
  p.store();
  det.store();
}

void slogdet_out(const Tensor& A, const Tensor& sign, const Tensor& logabsdet,
                 const Tensor& LU, const Tensor& pivots) {
  const char* op = "linalg_slogdet";
  const LapackApi& api = require_lapack(op);
  const Room p(pivots), signs(sign), logs(logabsdet);
  const Tensor info = make_info(batch_of(A));
  const Matrices a = factored(op, api, A, p.data<int32_t>(),
                              static_cast<int32_t*>(info.raw_data()));
  visit_lapack_dtypes(A.dtype(), [&]<class T>() {
    each_diagonal<T>(
        a, p.data<int32_t>(), [&](int64_t i, T s, const T* x, int64_t step) {
          T sum = 0;
          for (int64_t k = 0; k < a.rows; ++k) {
            const T v = x[k * step];
            s *= v > 0 ? T(1) : v < 0 ? T(-1) : v;  // 0 and NaN stay
            sum += std::log(std::abs(v));
          }
          signs.data<T>()[i] = s;
          logs.data<T>()[i] = sum;
        });
  });
  a.store(LU);
  p.store();
  signs.store();
  logs.store();
}

}  // namespace sy::cpu
