#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix.h"

namespace reference {

// Householder's: 1 - tau v v^T on elements from `first` on, v[0] = 1. It takes
// a vector to (value, 0, 0 …), away from its first element.
template <class T>
struct Reflection {
  int64_t first;
  std::vector<T> v;
  T tau = 0, value;

  Reflection(int64_t from, std::vector<T> x)
      : first(from), v(std::move(x)), value(v[0]) {
    // LAPACK rounds so: norms in more digits, and quotients by the inverse.
    long double squares = 0;
    for (size_t i = 1; i < v.size(); ++i) {
      squares += static_cast<long double>(v[i]) * v[i];
    }
    if (squares > 0) {
      const T rest = static_cast<T>(std::sqrt(squares));
      const T most = std::max(std::abs(v[0]), rest);
      const T ratio = std::min(std::abs(v[0]), rest) / most;
      value = -std::copysign(most * std::sqrt(1 + ratio * ratio), v[0]);
      tau = (value - v[0]) / value;
      const T inverse = 1 / (v[0] - value);
      for (size_t i = 1; i < v.size(); ++i) v[i] *= inverse;
    }
    v[0] = 1;
  }

  // Reflects rows of `a`, in its columns from `column` on.
  void apply(MatrixOf<T>& a, int64_t column = 0) const {
    for (int64_t j = column; j < a.cols; ++j) {
      T dot = 0;
      for (size_t i = 0; i < v.size(); ++i)
        dot = std::fma(v[i], a(row(i), j), dot);
      for (size_t i = 0; i < v.size(); ++i)
        a(row(i), j) = std::fma(-tau * dot, v[i], a(row(i), j));
    }
  }

 private:
  int64_t row(size_t i) const { return first + static_cast<int64_t>(i); }
};

// The reflection of column j of `a` from row i on.
template <class T>
Reflection<T> column_reflection(const MatrixOf<T>& a, int64_t i, int64_t j) {
  std::vector<T> x;
  for (int64_t k = i; k < a.rows; ++k) x.push_back(a(k, j));
  return {i, std::move(x)};
}

template <class T>
using Reflections = std::vector<Reflection<T>>;

// The product of all on `a`, the last one first.
template <class T>
void apply_all(const Reflections<T>& all, MatrixOf<T>& a) {
  for (size_t k = all.size(); k-- > 0;) all[k].apply(a);
}

// Q R = a, where R is what is left on and above the diagonal.
template <class T>
Reflections<T> reduce_columns(MatrixOf<T>& a) {
  Reflections<T> all;
  for (int64_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    all.push_back(column_reflection(a, k, k));
    all.back().apply(a, k);
    for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) = 0;
  }
  return all;
}

}  // namespace reference
