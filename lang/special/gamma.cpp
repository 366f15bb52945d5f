#include <cmath>
#include <limits>
#include <numbers>

#include "lang/special/functions.h"

namespace sy::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// std::lgamma writes the global signgam: a race.
double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// B(2k) / (2k)! of the Bernoulli numbers, from k = 1.
constexpr double kBernoulli[] = {
    1.0 / 12,
    -1.0 / 720,
    1.0 / 30240,
    -1.0 / 1209600,
    1.0 / 47900160,
    -691.0 / 1307674368000,
    1.0 / 74724249600,
    -3617.0 / 10670622842880000,
    43867.0 / 5109094217170944000,
    -174611.0 / 802857662698291200000.0,
};

// q > 0, s > 1: some terms, then the Euler-Maclaurin formula for the rest
// (DLMF 25.11.5 and 2.10.1).
double zeta_positive(double s, double q) {
  constexpr int kTerms = 10;
  double sum = 0;
  for (int k = 0; k < kTerms; ++k) {
    const double term = std::pow(q + k, -s);
    sum += term;
    if (term <= 0.1 * kEpsilon * sum && term * q < 1e-3 * kEpsilon * sum * s) {
      return sum;
    }
  }
  const double w = q + kTerms;
  const double last = std::pow(w, -s);
  sum += std::pow(w, 1 - s) / (s - 1) + 0.5 * last;
  if (last == 0) return sum;
  double factor = last * s / w;
  double rising = s;
  for (const double b : kBernoulli) {
    const double term = b * factor;
    sum += term;
    if (std::fabs(term) < 0.1 * kEpsilon * sum) break;
    factor *= (rising + 1) / w * ((rising + 2) / w);
    rising += 2;
  }
  return sum;
}

// log(gamma(1 + a)) for |a| < 0.1, exact near 0: DLMF 5.7.3.
double log_gamma_1p(double a) {
  // zeta(k) / k, from k = 2.
  constexpr double kZeta[] = {
      0.822467033424113218, 0.400685634386531429, 0.270580808427784548,
      0.207385551028673985, 0.169557176997408190, 0.144049896768846118,
      0.125509669524743042, 0.111334265869564690, 0.100099457512781808,
      0.090954017145829042, 0.083353840546109004, 0.076932516411352191,
      0.071432946295361336, 0.066668705882420469, 0.062500955141213040};
  double sum = 0;
  for (int k = 14; k >= 0; --k) sum = kZeta[k] - a * sum;
  return a * (a * sum - std::numbers::egamma);
}

// x ** a * exp(-x) / gamma(a).
double density(double a, double x) {
  if (a < 20) {
    if (x < 700) return std::pow(x, a) * std::exp(-x) / std::tgamma(a);
    return std::exp(a * std::log(x) - x - log_gamma(a));
  }
  // Uses Stirling's series, with d = x / a - 1 - log(x / a) near 0 from
  // log(1 + m) = 2 atanh(m / (2 + m)).
  const double m = (x - a) / a;
  double d;
  if (std::fabs(m) < 0.5) {
    const double r = m / (2 + m), r2 = r * r;
    double sum = 0;
    for (int k = 35; k >= 3; k -= 2) sum = sum * r2 + 1.0 / k;
    d = m * r - 2 * r * r2 * sum;
  } else {
    d = m - std::log(x / a);
  }
  const double z = 1 / (a * a);
  const double stirling =
      (1.0 / 12 -
       z * (1.0 / 360 -
            z * (1.0 / 1260 -
                 z * (1.0 / 1680 - z * (1.0 / 1188 - z * 691.0 / 360360))))) /
      a;
  return std::sqrt(a * 0.5 * std::numbers::inv_pi) *
         std::exp(-a * d - stirling);
}

constexpr int kMaxTerms = 100000;

// The lower function's power series, DLMF 8.11.4.
double lower_series(double a, double x) {
  const double scale = density(a, x) / a;
  if (scale == 0) return 0;
  double term = 1, sum = 1;
  for (int k = 1; k < kMaxTerms; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < 0.1 * kEpsilon * sum) break;
  }
  return scale * sum;
}

// The upper function's continued fraction, DLMF 8.9.2, by Lentz's method.
double upper_fraction(double a, double x) {
  const double scale = density(a, x);
  if (scale == 0) return 0;
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a;
  double d = 1 / (b == 0 ? kTiny : b);
  double c = 1 / kTiny;
  double f = d;
  for (int k = 1; k < kMaxTerms; ++k) {
    const double n = -k * (k - a);
    b += 2;
    d = n * d + b;
    d = 1 / (d == 0 ? kTiny : d);
    c = b + n / c;
    if (c == 0) c = kTiny;
    const double step = c * d;
    f *= step;
    if (std::fabs(step - 1) < kEpsilon) break;
  }
  return scale * f;
}

// The upper function for small a and x, where 1 - lower cancels.
double upper_series(double a, double x) {
  double term = 1, sum = 0;
  for (int k = 1; k < 100; ++k) {
    term *= -x / k;
    const double t = term / (a + k);
    sum += t;
    if (std::fabs(t) < 0.1 * kEpsilon * std::fabs(sum)) break;
  }
  const double g = a < 0.1 ? log_gamma_1p(a) : log_gamma(1 + a);
  const double e = a * std::log(x) - g;
  return -std::expm1(e) - std::exp(e) * a * sum;
}

// Both functions for large a and x near a: the leading terms of Temme's
// uniform expansion, DLMF 8.12.3 and 8.12.7 to 8.12.10. `sign` is 1 for the
// upper one.
double uniform(double a, double x, double sign) {
  const double m = (x - a) / a;
  // eta ** 2 / 2 = m - log(1 + m).
  const double eta =
      m * std::sqrt(1 - m * (2.0 / 3 -
                             m * (1.0 / 2 -
                                  m * (2.0 / 5 - m * (1.0 / 3 - m * 2 / 7)))));
  const double c0 =
      -1.0 / 3 +
      eta * (1.0 / 12 -
             eta * (2.0 / 135 -
                    eta * (1.0 / 864 +
                           eta * (1.0 / 2835 - eta * 139.0 / 777600))));
  const double c1 = -1.0 / 540 - eta * (1.0 / 288 - eta / 378);
  const double rest = std::exp(-0.5 * a * eta * eta) /
                      std::sqrt(2 * std::numbers::pi * a) *
                      (c0 + (c1 + 25.0 / 6048 / a) / a);
  return 0.5 * std::erfc(sign * eta * std::sqrt(0.5 * a)) + sign * rest;
}

// Results at the ends of the domain, where the other argument may be NaN, or
// -1.
double edge(double a, double x, double upper) {
  if (x < 0 || a < 0) return kNan;
  if (a == 0) return x > 0 ? upper : kNan;
  if (x == 0) return 1 - upper;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1 - upper;
  if (std::isinf(x)) return upper;
  return a != a || x != x ? kNan : -1;
}

bool is_uniform(double a, double x) {
  return a > 1e6 && std::fabs(x - a) < 0.01 * a &&
         std::fabs(x - a) < 10 * std::sqrt(a);
}

}  // namespace

// The asymptotic series from 10 up, recurrence below, reflection below 0.
double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  double result = 0;
  if (x < 0) {
    if (x == std::trunc(x)) return kNan;
    result =
        -std::numbers::pi / std::tan(std::numbers::pi * (x - std::rint(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  // Bernoulli numbers B(2k) / 2k.
  const double series =
      z *
      (1. / 12 -
       z * (1. / 120 -
            z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 -
                                                                 z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

double zeta(double s, double q) {
  if (s == 1) return kInf;
  if (!(s > 1) || q != q) return kNan;
  if (q > 0) return zeta_positive(s, q);
  if (q == std::floor(q)) return kInf;
  if (s != std::floor(s)) return kNan;
  // The terms below 0 are those of 1 - q, -q - 1, …, with the sign of
  // (-1) ** s; what is left begins between 0 and 1.
  const double part = -q - std::floor(-q);
  const double below = zeta_positive(s, part) - zeta_positive(s, 1 - q);
  const double above = zeta_positive(s, 1 - part);
  return std::fmod(s, 2) == 0 ? above + below : above - below;
}

double polygamma(double n, double x) {
  n = std::trunc(n);
  if (!(n >= 0)) return kNan;
  if (n == 0) return digamma(x);
  const double sum = zeta(n + 1, x);
  const double size =
      n < 170 ? std::tgamma(n + 1) * sum
              : std::copysign(
                    std::exp(log_gamma(n + 1) + std::log(std::fabs(sum))), sum);
  return std::fmod(n, 2) == 0 ? -size : size;
}

double igamma(double a, double x) {
  if (const double e = edge(a, x, 1); e != -1) return e;
  if (is_uniform(a, x)) return uniform(a, x, -1);
  return x > 1 && x > a ? 1 - upper_fraction(a, x) : lower_series(a, x);
}

double igammac(double a, double x) {
  if (const double e = edge(a, x, 0); e != -1) return e;
  if (is_uniform(a, x)) return uniform(a, x, 1);
  if (x > 1.1) return x < a ? 1 - lower_series(a, x) : upper_fraction(a, x);
  const bool small = x <= 0.5 ? -0.4 / std::log(x) >= a : x * 1.1 >= a;
  return small ? upper_series(a, x) : 1 - lower_series(a, x);
}

}  // namespace sy::special
