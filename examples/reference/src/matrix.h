#pragma once

#include <cmath>

#include "elements.h"

namespace reference {

template <class T>
class MatrixOf {
 public:
  int64_t rows, cols;

  MatrixOf(int64_t m, int64_t n)
      : rows(m), cols(n), v_(static_cast<size_t>(m * n)) {}
  static MatrixOf identity(int64_t n) {
    MatrixOf a(n, n);
    for (int64_t i = 0; i < n; ++i) a(i, i) = 1;
    return a;
  }
  T& operator()(int64_t i, int64_t j) {
    return v_[static_cast<size_t>(i * cols + j)];
  }
  T operator()(int64_t i, int64_t j) const {
    return v_[static_cast<size_t>(i * cols + j)];
  }
  MatrixOf transposed() const {
    MatrixOf t(cols, rows);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) t(j, i) = (*this)(i, j);
    }
    return t;
  }

 private:
  std::vector<T> v_;
};
using Matrix = MatrixOf<double>;

inline Index batch_of(const Tensor& t, int64_t dims = 2) {
  Index sizes = t.sizes().vec();
  sizes.resize(sizes.size() - static_cast<size_t>(dims));
  return sizes;
}
inline Index with_last(Index sizes, std::initializer_list<int64_t> last) {
  sizes.insert(sizes.end(), last);
  return sizes;
}

// The matrix at an index of the batch, which may be broadcast.
template <class T = double>
MatrixOf<T> read_matrix(const Tensor& t, const Index& batch) {
  MatrixOf<T> a(t.size(-2), t.size(-1));
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.cols; ++j) {
      a(i, j) = read<T>(t, with_last(batch, {i, j}));
    }
  }
  return a;
}
template <class T>
void write_matrix(const Tensor& t, const Index& batch, const MatrixOf<T>& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.cols; ++j) {
      write(t, with_last(batch, {i, j}), a(i, j));
    }
  }
}

// f.operator()<T>() for float or double.
template <class F>
void visit_floats(ScalarType dtype, const F& f) {
  dtype == sy::kDouble ? f.template operator()<double>()
                       : f.template operator()<float>();
}

inline void check_finite(const char* op, const Tensor& A) {
  for_each_place(A.sizes(), [&](const Index& at) {
    SY_CHECK(std::isfinite(read<double>(A, at)), Value,
             "[{}] A: expected finite elements, got NaN or infinity", op);
  });
}

}  // namespace reference
