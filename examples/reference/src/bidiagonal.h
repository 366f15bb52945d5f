#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rotation.h"

namespace reference {

// The singular values of a square bidiagonal matrix by implicit QR steps:
// J. Demmel, W. Kahan, "Accurate singular values of bidiagonal matrices", 1990.
template <class T>
class Bidiagonal {
 public:
  MatrixOf<T> u, v;  // left and right vectors, as columns
  std::vector<T> values;

  explicit Bidiagonal(int64_t n)
      : u(MatrixOf<T>::identity(n)),
        v(MatrixOf<T>::identity(n)),
        values(static_cast<size_t>(n)),
        beside_(static_cast<size_t>(n)),
        n_(n) {}

  T& d(int64_t i) { return values[static_cast<size_t>(i)]; }
  T& e(int64_t i) { return beside_[static_cast<size_t>(i)]; }

  // `upper`: e(i) is above d(i + 1), else left of it.
  void diagonalize(bool upper) {
    std::vector<Rotation<T>> turns;
    for (int64_t i = 0; !upper && i + 1 < n_; ++i) {
      const Rotation<T> turn(d(i), e(i));
      d(i) = turn.r;
      e(i) = turn.s * d(i + 1);
      d(i + 1) *= turn.c;
      turns.push_back(turn);
    }
    if (n_ == 0) return;
    if (n_ == 1) {
      u(0, 0) = std::copysign(T(1), d(0));
      d(0) = std::abs(d(0));
      return;
    }
    find();
    for (int64_t i = 0; i < n_; ++i) {
      if (d(i) >= 0) continue;
      d(i) = -d(i);
      for (int64_t k = 0; k < n_; ++k) v(k, i) = -v(k, i);
    }
    sort();
    u = u.transposed();
    for (int64_t j = n_ - 1; j-- > 0 && !upper;) {
      const Rotation<T>& turn = turns[static_cast<size_t>(j)];
      Rotation<T>(turn.c, -turn.s, T(0)).apply(u, j, j + 1);
    }
    u = u.transposed();
  }

 private:
  static constexpr T kEps = std::numeric_limits<T>::epsilon() / 2;

  // Rows from `low` to `high`, between which no e is 0. Counted down (`up` is
  // false) the matrix is its transpose, and so left vectors are right ones.
  struct Block {
    Bidiagonal& b;
    int64_t low, high;
    bool up;

    int64_t at(int64_t k) const { return up ? low + k : high - k; }
    int64_t last() const { return high - low; }
    T& d(int64_t k) const { return b.d(at(k)); }
    T& e(int64_t k) const { return b.e(std::min(at(k), at(k + 1))); }
    void turn_right(const Rotation<T>& r, int64_t k) const {
      r.apply(up ? b.v : b.u, at(k), at(k + 1));
    }
    void turn_left(const Rotation<T>& r, int64_t k) const {
      r.apply(up ? b.u : b.v, at(k), at(k + 1));
    }
  };

  void find() {
    const T tol = tolerance();
    T mu = std::abs(d(0)), least = mu;
    for (int64_t i = 1; i < n_ && least != 0; ++i) {
      mu = std::abs(d(i)) * (mu / (mu + std::abs(e(i - 1))));
      least = std::min(least, mu);
    }
    const auto n = static_cast<T>(n_);
    const T threshold = std::max(tol * least / std::sqrt(n),
                                 6 * n * n * std::numeric_limits<T>::min());
    int64_t tries = 6 * n_ * n_, high = n_ - 1;
    int64_t old_low = -1, old_high = -1;
    bool up = true;
    while (high > 0) {
      SY_CHECK(--tries >= 0, LinAlg,
               "[linalg_svd] expected to find all singular values, but some "
               "did not converge");
      int64_t low = high;
      while (low > 0 && std::abs(e(low - 1)) > threshold) --low;
      if (low > 0) e(low - 1) = 0;
      if (low == high) {
        --high;
        continue;
      }
      if (low + 1 == high) {
        solve_pair(low);
        high -= 2;
        continue;
      }
      // A new block is worked on towards its end of smaller size.
      if (low > old_high || high < old_low) {
        up = std::abs(d(low)) >= std::abs(d(high));
      }
      const Block block{*this, low, high, up};
      T smallest = 0;
      if (deflates(block, tol, &smallest)) continue;
      old_low = low;
      old_high = high;
      const T shift = shift_of(block, tol, smallest);
      shift == 0 ? step(block) : step(block, shift);
      T& end = block.e(block.last() - 1);
      if (std::abs(end) <= threshold) end = 0;
    }
  }

  static T tolerance() {
    const T root = std::pow(kEps, T(-0.125));
    return std::max(T(10), std::min(T(100), root)) * kEps;
  }

  // Whether an e is so small that it counts as 0, which it is made; else a
  // lower bound of the singular values.
  static bool deflates(const Block& b, T tol, T* smallest) {
    T& end = b.e(b.last() - 1);
    if (std::abs(end) <= tol * std::abs(b.d(b.last()))) {
      end = 0;
      return true;
    }
    T mu = std::abs(b.d(0));
    *smallest = mu;
    for (int64_t k = 0; k < b.last(); ++k) {
      if (std::abs(b.e(k)) <= tol * mu) {
        b.e(k) = 0;
        return true;
      }
      mu = std::abs(b.d(k + 1)) * (mu / (mu + std::abs(b.e(k))));
      *smallest = std::min(*smallest, mu);
    }
    return false;
  }

  // The shift; 0 where it would cost accuracy.
  T shift_of(const Block& b, T tol, T smallest) const {
    T largest = 0;
    for (int64_t k = 0; k <= b.last(); ++k) {
      largest = std::max(largest, std::abs(b.d(k)));
      if (k < b.last()) largest = std::max(largest, std::abs(b.e(k)));
    }
    if (static_cast<T>(n_) * tol * (smallest / largest) <=
        std::max(kEps, tol / 100)) {
      return 0;
    }
    const int64_t k = b.last() - 1;
    const T shift = smaller_value(b.d(k), b.e(k), b.d(k + 1));
    const T first = std::abs(b.d(0));
    return first > 0 && shift / first * (shift / first) < kEps ? 0 : shift;
  }

  // The smaller singular value of [f g; 0 h].
  static T smaller_value(T f, T g, T h) {
    f = std::abs(f);
    g = std::abs(g);
    h = std::abs(h);
    const T least = std::min(f, h), most = std::max(f, h);
    if (least == 0) return 0;
    const T ratio = 1 + least / most, gap = (most - least) / most;
    const T x = g / most;
    return least * 2 /
           (std::sqrt(ratio * ratio + x * x) + std::sqrt(gap * gap + x * x));
  }

  static void step(const Block& b) {
    Rotation<T> right(T(1), T(0), T(0)), left(T(1), T(0), T(0));
    for (int64_t k = 0; k < b.last(); ++k) {
      right = Rotation<T>(b.d(k) * right.c, b.e(k));
      if (k > 0) b.e(k - 1) = left.s * right.r;
      left = Rotation<T>(left.c * right.r, b.d(k + 1) * right.s);
      b.d(k) = left.r;
      b.turn_right(right, k);
      b.turn_left(left, k);
    }
    const T h = b.d(b.last()) * right.c;
    b.d(b.last()) = h * left.c;
    b.e(b.last() - 1) = h * left.s;
  }

  static void step(const Block& b, T shift) {
    T f = (std::abs(b.d(0)) - shift) *
          (std::copysign(T(1), b.d(0)) + shift / b.d(0));
    T g = b.e(0);
    for (int64_t k = 0; k < b.last(); ++k) {
      const Rotation<T> right(f, g);
      if (k > 0) b.e(k - 1) = right.r;
      f = right.c * b.d(k) + right.s * b.e(k);
      b.e(k) = right.c * b.e(k) - right.s * b.d(k);
      g = right.s * b.d(k + 1);
      b.d(k + 1) *= right.c;
      const Rotation<T> left(f, g);
      b.d(k) = left.r;
      f = left.c * b.e(k) + left.s * b.d(k + 1);
      b.d(k + 1) = left.c * b.d(k + 1) - left.s * b.e(k);
      if (k + 1 < b.last()) {
        g = left.s * b.e(k + 1);
        b.e(k + 1) *= left.c;
      }
      b.turn_right(right, k);
      b.turn_left(left, k);
    }
    b.e(b.last() - 1) = f;
  }

  // The block of rows k and k + 1: the larger value first, with signs.
  void solve_pair(int64_t k) {
    const T f = d(k), g = e(k), h = d(k + 1);
    const bool swap = std::abs(h) > std::abs(f);
    const T ft = swap ? h : f, ht = swap ? f : h;
    const T fa = std::abs(ft), ha = std::abs(ht), ga = std::abs(g);
    T cl = 1, sl = 0, cr = 1, sr = 0, large = fa, small = ha;
    const bool huge = ga > fa && fa / ga < kEps;
    if (huge) {
      large = ga;
      small = ha > 1 ? fa / (ga / ha) : fa / ga * ha;
      cl = 1;
      sl = ht / g;
      sr = 1;
      cr = ft / g;
    } else if (ga != 0) {
      const T gap = fa - ha, l = gap == fa ? T(1) : gap / fa;
      const T m = g / ft, t = 2 - l;
      const T s = std::sqrt(t * t + m * m), r = std::hypot(l, m);
      const T a = (s + r) / 2;
      small = ha / a;
      large = fa * a;
      T slope;
      if (m * m == 0) {
        slope = l == 0 ? std::copysign(T(2), ft) * std::copysign(T(1), g)
                       : g / std::copysign(gap, ft) + m / t;
      } else {
        slope = (m / (s + t) + m / (r + l)) * (1 + a);
      }
      const T length = std::sqrt(slope * slope + 4);
      cr = 2 / length;
      sr = slope / length;
      cl = (cr + sr * m) / a;
      sl = (ht / ft) * sr / a;
    }
    const bool from_g = ga != 0 && ga > fa;
    if (swap) {
      std::swap(cl, sr);
      std::swap(sl, cr);
    }
    const auto sign = [](T x) { return std::copysign(T(1), x); };
    const T first = from_g ? sign(sr) * sign(cl) * sign(g)
                    : swap ? sign(sr) * sign(sl) * sign(h)
                           : sign(cr) * sign(cl) * sign(f);
    d(k) = std::copysign(large, first);
    d(k + 1) = std::copysign(small, first * sign(f) * sign(h));
    e(k) = 0;
    Rotation<T>(cr, sr, T(0)).apply(v, k, k + 1);
    Rotation<T>(cl, sl, T(0)).apply(u, k, k + 1);
  }

  // Descending: the smallest to the end, then that of the others.
  void sort() {
    for (int64_t end = n_ - 1; end > 0; --end) {
      int64_t least = 0;
      for (int64_t j = 1; j <= end; ++j) {
        if (d(j) <= d(least)) least = j;
      }
      if (least == end) continue;
      std::swap(d(least), d(end));
      exchange_columns(u, least, end);
      exchange_columns(v, least, end);
    }
  }

  std::vector<T> beside_;
  int64_t n_;
};

}  // namespace reference
