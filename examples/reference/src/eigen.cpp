#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reference_kernels.h"
#include "reflection.h"
#include "rotation.h"

// Eigenvalues of symmetric matrices: reflections make them tridiagonal, and
// implicit QL steps diagonal. Steps and signs are those of LAPACK's routines
// for small matrices, so that eigenvectors have its signs.

namespace reference {
namespace {

template <class T>
struct Tridiagonal {
  std::vector<T> d, e;  // diagonal, and beside it
  MatrixOf<T> vectors;  // the columns of Q of Q T Q^T

  explicit Tridiagonal(MatrixOf<T> a) : vectors(MatrixOf<T>::identity(a.rows)) {
    Reflections<T> all;
    for (int64_t k = 0; k + 1 < a.rows; ++k) {
      all.push_back(column_reflection(a, k + 1, k));
      // The reflection acts from both sides, as `a` is symmetric.
      all.back().apply(a);
      a = a.transposed();
      all.back().apply(a);
      e.push_back(all.back().value);
    }
    for (int64_t k = 0; k < a.rows; ++k) d.push_back(a(k, k));
    apply_all(all, vectors);
  }

  // The same with all indices counted from the end.
  void reverse() {
    std::reverse(d.begin(), d.end());
    std::reverse(e.begin(), e.end());
    const int64_t n = vectors.rows;
    const MatrixOf<T> v = vectors;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) vectors(i, j) = v(n - 1 - i, n - 1 - j);
    }
  }
};

// The part of a tridiagonal matrix from `from` to `to`, which may be before it:
// then indices are counted down. Its eigenvalues are found at `from` first.
template <class T>
class Part {
 public:
  Part(Tridiagonal<T>& t, MatrixOf<T>& vectors, int64_t from, int64_t to)
      : t_(t),
        z_(vectors),
        first_(from),
        down_(to < from),
        length_(std::abs(to - from) + 1) {}

  void diagonalize() {
    int64_t tries = 30 * static_cast<int64_t>(t_.d.size());
    int64_t l = 0;
    while (l < length_) {
      int64_t m = l;
      while (m + 1 < length_ && !negligible(m)) ++m;
      if (m + 1 < length_) e(m) = 0;
      if (m == l) {
        ++l;
      } else if (m == l + 1) {
        solve_pair(l);
        l += 2;
      } else {
        SY_CHECK(--tries >= 0, LinAlg,
                 "[linalg_eigh] expected to find all eigenvalues, but some did "
                 "not converge");
        step(l, m);
      }
    }
  }

 private:
  int64_t at(int64_t k) const { return down_ ? first_ - k : first_ + k; }
  T& d(int64_t k) { return t_.d[static_cast<size_t>(at(k))]; }
  T& e(int64_t k) {
    return t_.e[static_cast<size_t>(std::min(at(k), at(k + 1)))];
  }
  bool negligible(int64_t k) {
    constexpr T eps = std::numeric_limits<T>::epsilon() / 2;
    return e(k) * e(k) <= eps * eps * std::abs(d(k)) * std::abs(d(k + 1)) +
                              std::numeric_limits<T>::min();
  }

  // Wilkinson's shift, then the bulge chased from m up to l.
  void step(int64_t l, int64_t m) {
    const T slope = (d(l + 1) - d(l)) / (2 * e(l));
    const T root = std::hypot(slope, T(1));
    T g = d(m) - d(l) + e(l) / (slope + std::copysign(root, slope));
    T s = 1, c = 1, p = 0;
    for (int64_t i = m - 1; i >= l; --i) {
      const T f = s * e(i), b = c * e(i);
      const Rotation<T> turn(g, f);
      c = turn.c;
      s = turn.s;
      if (i != m - 1) e(i + 1) = turn.r;
      g = d(i + 1) - p;
      const T r = (d(i) - g) * s + 2 * c * b;
      p = s * r;
      d(i + 1) = g + p;
      g = c * r - b;
      turn.apply(z_, at(i + 1), at(i));
    }
    d(l) -= p;
    e(l) = g;
  }

  // The two eigenvalues of a block, the one of greater size first.
  void solve_pair(int64_t k) {
    const int64_t i = std::min(at(k), at(k + 1));
    T &a = t_.d[static_cast<size_t>(i)], &b = t_.d[static_cast<size_t>(i) + 1];
    const T off = t_.e[static_cast<size_t>(i)];
    const T sum = a + b, difference = a - b, twice = 2 * off;
    const T root = std::hypot(difference, twice);
    const T sign = sum < 0 ? T(-1) : T(1);
    const T large = sum == 0 ? root / 2 : (sum + sign * root) / 2;
    const T least = std::abs(a) > std::abs(b) ? b : a;
    const T most = std::abs(a) > std::abs(b) ? a : b;
    const T small =
        sum == 0 ? -root / 2 : (most / large) * least - (off / large) * off;
    const T side = difference >= 0 ? T(1) : T(-1);
    const T cs = difference + side * root;
    T c = 1, s = 0;
    if (std::abs(cs) > std::abs(twice)) {
      const T cot = -twice / cs;
      s = 1 / std::sqrt(1 + cot * cot);
      c = cot * s;
    } else if (twice != 0) {
      const T tan = -cs / twice;
      c = 1 / std::sqrt(1 + tan * tan);
      s = tan * c;
    }
    if (sign == side) {
      const T old = c;
      c = -s;
      s = old;
    }
    a = large;
    b = small;
    t_.e[static_cast<size_t>(i)] = 0;
    Rotation<T>(c, s, T(0)).apply(z_, i, i + 1);
  }

  Tridiagonal<T>& t_;
  MatrixOf<T>& z_;
  int64_t first_;
  bool down_;
  int64_t length_;
};

// Diagonal, in ascending order; `z` holds the eigenvectors as columns.
template <class T>
void diagonalize(Tridiagonal<T>& t, MatrixOf<T>& z) {
  const auto n = static_cast<int64_t>(t.d.size());
  const auto d = [&](int64_t i) -> T& { return t.d[static_cast<size_t>(i)]; };
  constexpr T eps = std::numeric_limits<T>::epsilon() / 2;
  for (int64_t begin = 0; begin < n;) {
    int64_t end = begin;
    for (; end + 1 < n; ++end) {
      T& off = t.e[static_cast<size_t>(end)];
      if (std::abs(off) <=
          std::sqrt(std::abs(d(end))) * std::sqrt(std::abs(d(end + 1))) * eps) {
        off = 0;
        break;
      }
    }
    // The search begins at the end of smaller size.
    const bool down = std::abs(d(end)) < std::abs(d(begin));
    Part<T>(t, z, down ? end : begin, down ? begin : end).diagonalize();
    begin = end + 1;
  }
  for (int64_t i = 0; i + 1 < n; ++i) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; ++j) {
      if (d(j) < d(least)) least = j;
    }
    if (least == i) continue;
    std::swap(d(i), d(least));
    exchange_columns(z, i, least);
  }
}

template <class T>
MatrixOf<T> product(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  MatrixOf<T> out(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < b.cols; ++j) {
      for (int64_t k = 0; k < a.cols; ++k) out(i, j) += a(i, k) * b(k, j);
    }
  }
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string_view UPLO,
                                        bool compute_v) {
  check_finite("linalg_eigh", A);
  const Index batch = batch_of(A);
  const int64_t n = A.size(-1);
  const bool lower = UPLO == "L" || UPLO == "l";
  const Tensor values =
      empty(with_last(batch, {n}), A.scalar_type(), A.device());
  const Tensor vectors = empty(compute_v ? A.sizes().vec() : Index{0},
                               A.scalar_type(), A.device());
  visit_floats(A.scalar_type(), [&]<class T>() {
    for_each_place(batch, [&](const Index& at) {
      // Reads the lower triangle from the last row on.
      const MatrixOf<T> given = read_matrix<T>(A, at);
      MatrixOf<T> a(n, n);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const int64_t most = std::max(i, j), least = std::min(i, j);
          if (lower) {
            a(n - 1 - i, n - 1 - j) = given(most, least);
          } else {
            a(i, j) = given(least, most);
          }
        }
      }
      Tridiagonal<T> t(a);
      if (lower) t.reverse();
      MatrixOf<T> z = MatrixOf<T>::identity(n);
      diagonalize(t, z);
      for (int64_t i = 0; i < n; ++i) {
        write(values, with_last(at, {i}), t.d[static_cast<size_t>(i)]);
      }
      if (compute_v) write_matrix(vectors, at, product(t.vectors, z));
    });
  });
  return {values, vectors};
}

}  // namespace reference
