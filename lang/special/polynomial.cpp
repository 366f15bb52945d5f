#include <cmath>
#include <cstdint>
#include <limits>

#include "lang/special/functions.h"

namespace sy::special {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A number that no integer holds counts as a degree below 0.
int64_t degree(double n) {
  return n > -1 && n < 9.2e18 ? static_cast<int64_t>(n) : -1;
}

// Chebyshev's polynomials share a recurrence, p(k + 1) = 2 x p(k) - p(k - 1),
// and begin with 1 and `first`. It is the faster way up to these degrees,
// within [-1, 1] and beyond; then cos(n acos(x)) and the like are.
constexpr int64_t kInner = 8, kOuter = 1000;

double chebyshev(double x, double first, int64_t n) {
  double p = 1, q = first;
  if (n == 0) return p;
  for (int64_t k = 1; k < n && q == q; ++k) {
    const double r = (x + x) * q - p;
    p = q;
    q = r;
  }
  return q;
}

double sign_of(int64_t n) { return n % 2 == 0 ? 1 : -1; }

bool is_inner(double x, int64_t n) { return n > kInner && std::fabs(x) < 1; }
bool is_outer(double x, int64_t n) { return n > kOuter && std::fabs(x) > 1; }

}  // namespace

double chebyshev_t(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 ? 1 : sign_of(n);
  if (is_inner(x, n)) {
    return std::cos(static_cast<double>(n) * std::acos(x));
  }
  if (is_outer(x, n)) {
    const double value =
        std::cosh(static_cast<double>(n) * std::acosh(std::fabs(x)));
    return x > 0 ? value : sign_of(n) * value;
  }
  return chebyshev(x, x, n);
}

double chebyshev_u(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  const double next = static_cast<double>(n) + 1;
  if (std::fabs(x) == 1) {
    return x > 0 ? next : sign_of(n) * next;
  }
  if (is_inner(x, n)) {
    const double angle = std::acos(x);
    return std::sin(next * angle) / std::sin(angle);
  }
  if (is_outer(x, n)) {
    const double angle = std::acosh(std::fabs(x));
    const double value = std::sinh(next * angle) / std::sinh(angle);
    return x > 0 ? value : sign_of(n) * value;
  }
  return chebyshev(x, x + x, n);
}

double chebyshev_v(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  const double twice = 2 * static_cast<double>(n) + 1;
  if (std::fabs(x) == 1) {
    return x > 0 ? 1 : sign_of(n) * twice;
  }
  if (is_inner(x, n)) {
    const double half = 0.5 * std::acos(x);
    return std::cos(twice * half) / std::cos(half);
  }
  if (is_outer(x, n)) {
    if (x < 0) return sign_of(n) * chebyshev_w(-x, degree_of);
    const double half = 0.5 * std::acosh(x);
    return std::cosh(twice * half) / std::cosh(half);
  }
  return chebyshev(x, x + x - 1, n);
}

double chebyshev_w(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  const double twice = 2 * static_cast<double>(n) + 1;
  if (std::fabs(x) == 1) return x > 0 ? twice : sign_of(n);
  if (is_inner(x, n)) {
    const double half = 0.5 * std::acos(x);
    return std::sin(twice * half) / std::sin(half);
  }
  if (is_outer(x, n)) {
    if (x < 0) return sign_of(n) * chebyshev_v(-x, degree_of);
    const double half = 0.5 * std::acosh(x);
    return std::sinh(twice * half) / std::sinh(half);
  }
  return chebyshev(x, x + x + 1, n);
}

double hermite_h(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (n > 512) return kNan;
  double p = 1, q = x + x;
  if (n == 0) return p;
  for (int64_t k = 1; k < n; ++k) {
    const double r = (x + x) * q - static_cast<double>(2 * k) * p;
    p = q;
    q = r;
  }
  return q;
}

double hermite_he(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (n > 512) return kNan;
  double p = 1, q = x;
  if (n == 0) return p;
  for (int64_t k = 1; k < n; ++k) {
    const double r = x * q - static_cast<double>(k) * p;
    p = q;
    q = r;
  }
  return q;
}

namespace {

// The recurrences of Laguerre and Legendre take long from this degree on, and
// expansions for large degrees are used. Their error relative to the amplitude
// is below 1e-6 for Laguerre and 1e-9 for Legendre.
constexpr int64_t kLarge = 100'000;

// exp(x / 2) sqrt(z / (2 x z')) J0(z), where z(x) is the phase of the
// differential equation (4 n + 2) / x - 1; with I0 instead for x < 0.
double laguerre_large(double x, int64_t n) {
  const double nu = 4 * static_cast<double>(n) + 2;
  const double s = std::fabs(x) / nu;
  if (x > 0 && s >= 1) {  // beyond all zeros
    return sign_of(n) * std::numeric_limits<double>::infinity();
  }
  const double root = std::sqrt(s), rest = std::sqrt(x < 0 ? 1 + s : 1 - s);
  const double z =
      nu / 2 * (root * rest + (x < 0 ? std::asinh(root) : std::asin(root)));
  // z / (2 x z'), in which nu and x cancel.
  const double amplitude = std::sqrt(z / (nu * root * rest));
  if (x > 0) return std::exp(x / 2) * (amplitude * bessel_j0(z));
  return std::exp(x / 2 + z) * (amplitude * i0e(z));
}

// sqrt(t / sin t) (J0(m t) + (t cot t - 1) / (8 t m) J1(m t)), where x = cos t
// and m = n + 1/2; with cosh, I0 and I1 for x > 1.
double legendre_large(double x, int64_t n) {
  const double m = static_cast<double>(n) + 0.5, y = std::fabs(x);
  const double sign = x < 0 ? sign_of(n) : 1;
  const bool inner = y < 1;
  // acos(y) without its rounding near 1
  const double half = std::sqrt((inner ? 1 - y : y - 1) / 2);
  const double t = 2 * (inner ? std::asin(half) : std::asinh(half));
  const double sine = inner ? std::sin(t) : std::sinh(t);
  const double cosine = inner ? std::cos(t) : std::cosh(t);
  const double scale = std::sqrt(t / sine);
  // (t cot t - 1) / t, whose terms cancel where t is small
  const double slope =
      t < 1e-3 ? (inner ? -t / 3 : t / 3) : (t * cosine / sine - 1) / t;
  if (inner) {
    return sign * scale *
           (bessel_j0(m * t) + slope / (8 * m) * bessel_j1(m * t));
  }
  return sign * std::exp(m * t) * scale *
         (i0e(m * t) + slope / (8 * m) * i1e(m * t));
}

}  // namespace

double laguerre_l(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (x == 0 || n == 0) return 1;
  if (n > kLarge) return laguerre_large(x, n);
  double p = 1, q = 1 - x;
  for (int64_t i = 1; i < n && q == q; ++i) {
    const auto k = static_cast<double>(i);
    const double r = ((2 * k + 1 - x) * q - k * p) / (k + 1);
    p = q;
    q = r;
  }
  return q;
}

double legendre_p(double x, double degree_of) {
  const int64_t n = degree(degree_of);
  if (n < 0) return 0;
  if (std::fabs(x) == 1) return x > 0 ? 1 : sign_of(n);
  if (n > kLarge) return legendre_large(x, n);
  double p = 1, q = x;
  if (n == 0) return p;
  for (int64_t i = 1; i < n && q == q; ++i) {
    const auto k = static_cast<double>(i);
    const double r = ((2 * k + 1) * x * q - k * p) / (k + 1);
    p = q;
    q = r;
  }
  return q;
}

}  // namespace sy::special
