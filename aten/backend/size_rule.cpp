#include "aten/backend/size_rule.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sy::capture {

namespace {

// c / n, if that gives both.
template <class T>
bool next_quotient(const SizeRule& r, T v1, T v2, T* v) {
  for (const double c : {std::round(double{v1} * double(r.n1)),
                         double{v1} * double(r.n1), double{v2} * double(r.n2)}) {
    if (static_cast<T>(c / double(r.n1)) != v1) continue;
    if (static_cast<T>(c / double(r.n2)) != v2) continue;
    *v = static_cast<T>(c / double(r.n));
    return std::isfinite(*v);
  }
  return false;
}

template <class T>
bool next_real(const SizeRule& r, T v1, T v2, T* v) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  if (std::bit_cast<Bits>(v1) == std::bit_cast<Bits>(v2)) {
    *v = v1;
    return true;
  }
  if (!std::isfinite(v1) || !std::isfinite(v2)) return false;
  constexpr T kMost = 1 << 24;  // whole numbers up to there
  const auto is_whole = [](T x) {
    return std::abs(x) <= kMost && x == std::trunc(x);
  };
  int64_t whole = 0;
  if (is_whole(v1) && is_whole(v2) &&
      r.next(static_cast<int64_t>(v1), static_cast<int64_t>(v2), &whole)) {
    *v = static_cast<T>(whole);
    return true;
  }
  return next_quotient(r, v1, v2, v);
}

}  // namespace

bool SizeRule::next(int64_t v1, int64_t v2, int64_t* v) const {
  constexpr int64_t kSmall = 16;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (v1 == v2) {
    *v = v1;
    return true;
  }
  if (v1 > kMost || v2 > kMost || v1 < -kMost || v2 < -kMost) return false;
  const auto factor = [&](int64_t of1, int64_t of2, int64_t to) {
    if (of1 == 0 || of2 == 0 || v1 % of1 != 0 || v2 % of2 != 0 ||
        v1 / of1 != v2 / of2) {
      return false;
    }
    *v = v1 / of1 * to;
    return true;
  };
  if (factor(n1, n2, n) || factor(n1 * n1, n2 * n2, n * n)) return true;
  const int64_t step = n2 - n1;
  if (step == 0 || (v2 - v1) % step != 0) return false;
  const int64_t a = (v2 - v1) / step, b = v1 - a * n1;
  if (b > kSmall || b < -kSmall) return false;
  *v = a * n + b;
  return true;
}

bool SizeRule::next(double v1, double v2, double* v) const {
  return next_real(*this, v1, v2, v);
}

bool SizeRule::next(float v1, float v2, float* v) const {
  return next_real(*this, v1, v2, v);
}

bool SizeRule::next(IntArrayRef v1, IntArrayRef v2,
                    std::vector<int64_t>* v) const {
  if (v1.size() != v2.size()) return false;
  v->resize(v1.size());
  for (size_t i = 0; i < v1.size(); ++i) {
    if (!next(v1[i], v2[i], &(*v)[i])) return false;
  }
  return true;
}

}  // namespace sy::capture
