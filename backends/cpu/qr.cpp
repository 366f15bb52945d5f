#include <limits>

#include "aten/contract/linalg.h"
#include "aten/engine/columns.h"
#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "backends/cpu/qr_kernels_gen.h"
#include "backends/cpu/support/lapack.h"

namespace sy::cpu {

namespace {

double qr_work(int64_t m, int64_t n, int64_t k) {
  return 2 * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

constexpr int32_t kAsk = -1;  // for the size of the workspace

// The problem for gels and its kin: A and B by columns, B with room for the
// solution.
struct LeastSquares {
  Matrices a, b;
  int64_t rhs;
};

template <class T>
class LeastSquaresSolver {
 public:
  LeastSquaresSolver(const LapackRoutines<T>& r, std::string_view driver,
                     T rcond, const LeastSquares& problem)
      : r_(r), driver_(driver), rcond_(rcond), p_(problem) {
    m_ = p_.a.m(), n_ = p_.a.n(), k_ = static_cast<int32_t>(p_.rhs);
    lda_ = p_.a.lead(), ldb_ = p_.b.lead();
  }

  bool has_rank() const { return driver_ != "gels"; }
  bool has_values() const { return driver_ == "gelsd" || driver_ == "gelss"; }

  // Solves for the matrices begin … end-1; rank and values may be nullptr.
  void run(int64_t begin, int64_t end, T* values, int64_t* rank,
           int32_t* info) const {
    T answer = 1;
    int32_t first = 1, code = 0, found = 0;
    call(0, &answer, &kAsk, &first, &answer, &found, &code);
    const auto work = Work<T>::asked(answer);
    const Work<int32_t> ints(std::max(first, n_));
    const int64_t each = std::min(p_.a.rows, p_.a.cols);
    const Work<T> own(each);
    for (int64_t i = begin; i < end; ++i) {
      std::fill_n(ints.data(), n_, 0);  // gelsy: every column is free
      call(i, work.data(), work.size(), ints.data(),
           values == nullptr ? own.data() : values + i * each, &found,
           info + i);
      if (rank != nullptr) rank[i] = found;
    }
  }

 private:
  void call(int64_t i, T* work, const int32_t* lwork, int32_t* ints, T* values,
            int32_t* rank, int32_t* info) const {
    T* const a = p_.a.at<T>(i);
    T* const b = p_.b.at<T>(i);
    if (driver_ == "gels") {
      r_.gels("N", &m_, &n_, &k_, a, &lda_, b, &ldb_, work, lwork, info, 1);
    } else if (driver_ == "gelsd") {
      r_.gelsd(&m_, &n_, &k_, a, &lda_, b, &ldb_, values, &rcond_, rank, work,
               lwork, ints, info);
    } else if (driver_ == "gelss") {
      r_.gelss(&m_, &n_, &k_, a, &lda_, b, &ldb_, values, &rcond_, rank, work,
               lwork, info);
    } else {
      r_.gelsy(&m_, &n_, &k_, a, &lda_, b, &ldb_, ints, &rcond_, rank, work,
               lwork, info);
    }
  }

  const LapackRoutines<T>& r_;
  std::string_view driver_;
  T rcond_;
  const LeastSquares& p_;
  int32_t m_, n_, k_, lda_, ldb_;
};

// Rows first … first + count-1 of the matrices.
Tensor rows_of(const Matrices& a, int64_t first, int64_t count) {
  Dims sizes(a.memory.sizes());
  sizes[sizes.size() - 2] = count;
  return Tensor(a.memory.impl()->alias(sizes, a.memory.strides(),
                                       a.memory.storage_offset() + first));
}

Tensor with_column(const Tensor& t) {
  Dims sizes(t.sizes()), strides(t.strides());
  sizes.push_back(1);
  strides.push_back(1);
  return Tensor(t.impl()->alias(sizes, strides, t.storage_offset()));
}

Tensor empty_cpu(IntArrayRef sizes, ScalarType dtype) {
  return Tensor(make_tensor(sizes, dtype, Device(kCPU)));
}

// The sums of squares of rows n … m-1 of each column: how far B is from what
// A X gives.
template <class T>
void residuals_into(const Matrices& b, int64_t n, int64_t m, T* out) {
  for (int64_t i = 0; i < b.count; ++i) {
    for (int64_t k = 0; k < b.cols; ++k) {
      const T* column = b.at<T>(i) + k * b.rows;
      T sum = 0;
      for (int64_t r = n; r < m; ++r) sum += column[r] * column[r];
      *out++ = sum;
    }
  }
}

}  // namespace

void geqrf_out(const Tensor& self, const Tensor& a, const Tensor& tau) {
  const LapackApi& api = require_lapack("geqrf");
  const Room t(tau);
  const Matrices x = columns_of("geqrf", self);
  const int32_t m = x.m(), n = x.n(), lead = x.lead();
  const int64_t each = std::min(x.rows, x.cols);
  visit_lapack_dtypes(self.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    each_matrix(
        api, x.count, qr_work(m, n, each), [&](int64_t begin, int64_t end) {
          if (each == 0) return;
          T answer = 1;
          int32_t info = 0;
          r.geqrf(&m, &n, nullptr, &lead, nullptr, &answer, &kAsk, &info);
          const auto work = Work<T>::asked(answer);
          for (int64_t i = begin; i < end; ++i) {
            r.geqrf(&m, &n, x.at<T>(i), &lead, t.data<T>() + i * each,
                    work.data(), work.size(), &info);
          }
        });
  });
  x.store(a);
  t.store();
}

void householder_product_out(const Tensor& input, const Tensor& tau,
                             const Tensor& out) {
  const char* op = "linalg_householder_product";
  const LapackApi& api = require_lapack(op);
  const Tensor factors = contiguous_cpu(tau);
  const Matrices x = columns_of(op, input);
  const int32_t m = x.m(), n = x.n(), lead = x.lead();
  const auto k = static_cast<int32_t>(tau.sizes().back());
  visit_lapack_dtypes(input.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    const T* t = static_cast<const T*>(factors.raw_data());
    each_matrix(
        api, x.count, qr_work(m, n, k), [&](int64_t begin, int64_t end) {
          if (m == 0 || n == 0) return;
          T answer = 1;
          int32_t info = 0;
          r.orgqr(&m, &n, &k, nullptr, &lead, nullptr, &answer, &kAsk, &info);
          const auto work = Work<T>::asked(answer);
          for (int64_t i = begin; i < end; ++i) {
            r.orgqr(&m, &n, &k, x.at<T>(i), &lead, t + i * k, work.data(),
                    work.size(), &info);
          }
        });
  });
  x.store(out);
}

void ormqr_out(const Tensor& self, const Tensor& input2, const Tensor& input3,
               bool left, bool transpose, const Tensor& out) {
  const LapackApi& api = require_lapack("ormqr");
  const Tensor factors = contiguous_cpu(input2);
  const Matrices a = columns_of("ormqr", self);
  const Matrices c = columns_of("ormqr", input3);
  const int32_t m = c.m(), n = c.n(), lda = a.lead(), ldc = c.lead();
  const auto k = static_cast<int32_t>(input2.sizes().back());
  const char side = left ? 'L' : 'R', trans = transpose ? 'T' : 'N';
  visit_lapack_dtypes(self.dtype(), [&]<class T>() {
    const auto& r = routines<T>(api);
    const T* t = static_cast<const T*>(factors.raw_data());
    each_matrix(
        api, c.count, 2 * qr_work(m, n, k), [&](int64_t begin, int64_t end) {
          if (m == 0 || n == 0 || k == 0) return;
          T answer = 1;
          int32_t info = 0;
          r.ormqr(&side, &trans, &m, &n, &k, nullptr, &lda, nullptr, nullptr,
                  &ldc, &answer, &kAsk, &info, 1, 1);
          const auto work = Work<T>::asked(answer);
          for (int64_t i = begin; i < end; ++i) {
            r.ormqr(&side, &trans, &m, &n, &k, a.at<T>(i), &lda, t + i * k,
                    c.at<T>(i), &ldc, work.data(), work.size(), &info, 1, 1);
          }
        });
  });
  c.store(out);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(
    const Tensor& self, const Tensor& b, std::optional<double> rcond,
    std::optional<std::string_view> driver) {
  const char* op = "linalg_lstsq";
  const LapackApi& api = require_lapack(op);
  const bool vector = is_vector_beside(self, b);
  const Tensor rhs = vector ? with_column(b) : b;
  const Dims batch = broadcast_sizes(op, batch_of(self), batch_of(rhs));
  check_finite(op, "self", self);
  check_finite(op, "b", b);
  const Matrices a = columns_of(op, self, batch);
  const int64_t m = a.rows, n = a.cols, k = rhs.sizes().back();
  LeastSquares problem{
      a, make_columns(op, self.dtype(), batch, std::max(m, n), k), k};
  copy_cpu(rows_of(problem.b, 0, m), rhs);

  const int64_t each = std::min(m, n);
  Dims value_sizes(batch);
  value_sizes.push_back(each);
  const std::string_view name = driver.value_or("gelsy");
  const Tensor info = empty_cpu(batch, kInt);
  Tensor rank = empty_cpu(IntArrayRef(int64_t{0}), kLong);
  Tensor values = empty_cpu(IntArrayRef(int64_t{0}), self.dtype());
  Tensor residuals = values;
  bool full = true;
  visit_lapack_dtypes(self.dtype(), [&]<class T>() {
    const double smallest =
        std::numeric_limits<T>::epsilon() * static_cast<double>(std::max(m, n));
    const LeastSquaresSolver<T> solver(routines<T>(api), name,
                                       static_cast<T>(rcond.value_or(smallest)),
                                       problem);
    if (solver.has_rank()) rank = empty_cpu(batch, kLong);
    if (solver.has_values()) values = empty_cpu(value_sizes, self.dtype());
    auto* const ranks =
        solver.has_rank() ? static_cast<int64_t*>(rank.raw_data()) : nullptr;
    auto* const found =
        solver.has_values() ? static_cast<T*>(values.raw_data()) : nullptr;
    auto* const codes = static_cast<int32_t*>(info.raw_data());
    std::fill_n(codes, a.count, 0);
    if (m == 0 || n == 0 || k == 0) {
      if (m == 0) {
        std::fill_n(problem.b.at<T>(0), problem.b.memory.numel(), T(0));
      }
      if (ranks != nullptr) std::fill_n(ranks, a.count, int64_t{0});
      if (found != nullptr) std::fill_n(found, values.numel(), T(0));
    } else {
      each_matrix(api, a.count, qr_work(m, n, each) * 2,
                  [&](int64_t begin, int64_t end) {
                    solver.run(begin, end, found, ranks, codes);
                  });
    }
    check_linalg_info(op, info);
    for (int64_t i = 0; ranks != nullptr && i < a.count; ++i) {
      full = full && ranks[i] == n;
    }
    if (m > n && full && name != "gelsy") {
      Dims sizes(batch);
      sizes.push_back(k);
      residuals = empty_cpu(sizes, self.dtype());
      residuals_into(problem.b, n, m, static_cast<T*>(residuals.raw_data()));
    }
  });
  Dims sizes(batch);
  sizes.push_back(n);
  if (!vector) sizes.push_back(k);
  const Tensor solution = new_by_columns(self, sizes, self.dtype());
  copy_cpu(vector ? with_column(solution) : solution, rows_of(problem.b, 0, n));
  return {solution, residuals, rank, values};
}

}  // namespace sy::cpu
