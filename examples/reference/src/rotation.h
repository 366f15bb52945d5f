#pragma once

#include <cmath>

#include "matrix.h"

namespace reference {

// Givens': takes (f, g) to (r, 0), the cosine not negative.
template <class T>
struct Rotation {
  T c = 1, s = 0, r;

  Rotation(T f, T g) : r(f) {
    if (g == 0) return;
    const T length = std::hypot(f, g);
    r = f == 0 ? length : std::copysign(length, f);
    c = std::abs(f) / length;
    s = g / r;
  }
  Rotation(T cosine, T sine, T length) : c(cosine), s(sine), r(length) {}

  // Rotates columns i and j.
  void apply(MatrixOf<T>& a, int64_t i, int64_t j) const {
    for (int64_t k = 0; k < a.rows; ++k) {
      const T x = a(k, i), y = a(k, j);
      a(k, i) = c * x + s * y;
      a(k, j) = c * y - s * x;
    }
  }
};

template <class T>
void exchange_columns(MatrixOf<T>& a, int64_t i, int64_t j) {
  for (int64_t k = 0; k < a.rows; ++k) std::swap(a(k, i), a(k, j));
}

}  // namespace reference
