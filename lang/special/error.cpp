#include <cmath>
#include <limits>
#include <numbers>

#include "lang/special/functions.h"

namespace sy::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHalfSqrtPi = 0.88622692545275801365;

// exp(x * x), with what rounding takes from the square.
double exp_square(double x) {
  const double square = x * x;
  if (square > 720) return kInf;
  const double e = std::exp(square);
  return e + e * std::fma(x, x, -square);
}

// The x >= 0 whose erfc is q, for 0 < q < 1: Newton's method on the logarithm
// of erfcx(x) * exp(-x ** 2), which is concave, so that every step but the
// first comes from the same side.
double erfc_inverse(double q) {
  const double l = std::log(q);
  double x = std::sqrt(-l);
  // The root of l + log(x * sqrt(pi)) + x ** 2, one step on.
  if (x > 1.5) x = std::sqrt(-l - std::log(2 * kHalfSqrtPi * x));
  for (int i = 0; i < 8; ++i) {
    const double scaled = erfcx(x);
    const double step = (std::log(scaled) - x * x - l) * kHalfSqrtPi * scaled;
    x += step;
    if (std::fabs(step) < 1e-9 * x) break;
  }
  return x;
}

}  // namespace

// Halley's method on erf(x) = y, or on erfc(x) = 1 - y where that is exact,
// from an approximation by elementary functions (Winitzki, 2008).
double erfinv(double y) {
  const double a = std::fabs(y);
  if (!(a < 1)) return a == 1 ? std::copysign(kInf, y) : kNan;
  if (a < 1e-8) return y * kHalfSqrtPi;
  double x = a * (kHalfSqrtPi + 0.2320136665346544 * a * a);
  if (a > 1e-3) {
    const double l = std::log1p(-a * a);
    const double t = 2 / (std::numbers::pi * 0.147) + 0.5 * l;
    x = std::sqrt(std::sqrt(t * t - l / 0.147) - t);
  }
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(x) - a : (1 - a) - std::erfc(x);
    const double u = error * kHalfSqrtPi * std::exp(x * x);
    x -= u / (1 + x * u);
  }
  return std::copysign(x, y);
}

double erfcx(double x) {
  if (x < 25) return exp_square(x) * std::erfc(x);
  // The asymptotic series, DLMF 7.12.1.
  const double z = 0.5 / (x * x);
  double sum = 1;
  for (int k = 15; k > 0; k -= 2) sum = 1 - k * z * sum;
  return 0.5 / kHalfSqrtPi / x * sum;
}

double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInf : p == 1 ? kInf : kNan;
  if (p > 0.1 && p < 0.9) return std::numbers::sqrt2 * erfinv(2 * p - 1);
  const double x =
      std::numbers::sqrt2 * erfc_inverse(p < 0.5 ? 2 * p : 2 * (1 - p));
  return p < 0.5 ? -x : x;
}

}  // namespace sy::special
