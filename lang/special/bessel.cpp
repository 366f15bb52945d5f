#include <cmath>
#include <limits>
#include <numbers>

#include "lang/special/functions.h"

namespace sy::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmall = 1e-17;  // beside 1

// The power series of I, DLMF 10.25.2; x >= 0. All terms are positive.
double i0_series(double x) {
  const double q = 0.25 * x * x;
  double term = 1, sum = 1;
  for (int k = 1; term > kSmall * sum; ++k) {
    term *= q / (k * k);
    sum += term;
  }
  return sum;
}
double i1_series(double x) {
  const double q = 0.25 * x * x;
  double term = 1, sum = 1;
  for (int k = 1; term > kSmall * sum; ++k) {
    term *= q / (k * (k + 1));
    sum += term;
  }
  return 0.5 * x * sum;
}

// The asymptotic series gives all digits from here on.
constexpr double kLarge = 20;

// I(nu, x) * exp(-x) for large x, DLMF 10.40.1; `order` is 4 nu ** 2.
double i_asymptotic(double order, double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const int odd = 2 * k - 1;
    term *= (odd * odd - order) / (k * 8 * x);
    sum += term;
    if (std::fabs(term) < kSmall) break;
  }
  return sum / std::sqrt(2 * std::numbers::pi * x);
}

// exp(x) overflows before what it is multiplied with makes it small again.
double times_exp(double value, double x) {
  if (x < 700) return value * std::exp(x);
  const double half = std::exp(0.5 * x);
  return value * half * half;
}

// K(nu, x) * exp(x) is the integral of exp(-s ** 2) / sqrt(s ** 2 + 2 x) over
// all s, for nu = 1 times 1 + s ** 2 / x (DLMF 10.32.9 with s = sqrt(2 x)
// sinh(t / 2)). The trapezoidal rule converges exponentially; with steps of a
// quarter it gives all digits from 1.2 on.
constexpr double kSeriesEnd = 1.2;
struct Nodes {
  static constexpr int kCount = 26;
  double square[kCount], weight[kCount];  // s ** 2 / 2
  Nodes() {
    for (int i = 0; i < kCount; ++i) {
      square[i] = i * i / 32.0;
      weight[i] = std::exp(-2 * square[i]) * (i == 0 ? 0.25 : 0.5) /
                  std::numbers::sqrt2;
    }
  }
};
double k_integral(double x, double inverse) {
  static const Nodes nodes;
  double sum = 0;
  for (int i = Nodes::kCount - 1; i >= 0; --i) {
    const double s2 = nodes.square[i];
    sum += nodes.weight[i] * (1 + 2 * s2 * inverse) / std::sqrt(s2 + x);
  }
  return sum;
}

// DLMF 10.31.2.
double k0_series(double x) {
  const double q = 0.25 * x * x;
  double term = 1, harmonic = 0, sum = 0;
  for (int k = 1; k < 20; ++k) {
    term *= q / (k * k);
    harmonic += 1.0 / k;
    sum += term * harmonic;
  }
  return sum - (std::log(0.5 * x) + std::numbers::egamma) * i0_series(x);
}
// DLMF 10.31.1 with n = 1.
double k1_series(double x) {
  const double q = 0.25 * x * x;
  double term = 1, psi = 1 - 2 * std::numbers::egamma, sum = psi;
  for (int k = 1; k < 20; ++k) {
    term *= q / (k * (k + 1));
    psi += 1.0 / k + 1.0 / (k + 1);
    sum += term * psi;
  }
  return 1 / x + std::log(0.5 * x) * i1_series(x) - 0.25 * x * sum;
}

// Ai and its derivative at -11, -10, …, 11.
struct Value {
  double value, slope;
};
constexpr int kLastNode = 11;
constexpr Value kAiry[2 * kLastNode + 1] = {
    {-0.00875958925570238129, -1.027327873664579421},
    {0.04024123848644319069, 0.9962650441327900559},
    {-0.02213372154734140367, -0.9756639809263315947},
    {-0.05270505035638620262, 0.935560938198306551},
    {0.1842808352505056373, -0.7710081684101265477},
    {-0.3291451736298231052, 0.3459354872813428949},
    {0.3507610090241143198, 0.3271928185544431368},
    {-0.0702655329492895151, -0.7906285753685813803},
    {-0.3788142936776580743, 0.3145837692165988137},
    {0.227407428201685576, 0.6182590207416910414},
    {0.5355608832923521188, -0.0101605671166452094},
    {0.3550280538878172393, -0.2588194037928067984},
    {0.1352924163128814155, -0.1591474412967932128},
    {0.03492413042327437914, -0.0530903844336536317},
    {0.006591139357460719144, -0.01191297670595131847},
    {0.0009515638512048018736, -0.0019586409502041789},
    {0.0001083444281360744173, -0.000247413890868462476},
    {9.94769436025288957e-6, -0.00002476520039703495475},
    {7.492128863997167081e-7, -2.008150894738791991e-6},
    {4.692207616099231626e-8, -1.341439297906786574e-7},
    {2.471168430872489843e-9, -7.480641389658946413e-9},
    {1.104753255289868593e-10, -3.520633676738923637e-10},
    {4.226275864960359591e-12, -1.411144124662851734e-11},
};

// Taylor's series around a node; y'' = x y gives its coefficients.
double airy_series(double x) {
  // The series goes towards 0 from a larger x, where Ai grows and errors do
  // not.
  const double node = x > 0 ? std::ceil(x) : std::rint(x);
  const Value& at = kAiry[static_cast<int>(node) + kLastNode];
  const double h = x - node;
  double a = at.value, b = at.slope * h, c = 0.5 * node * a * h * h;
  double sum = a + b + c;
  for (int k = 3; k < 60; ++k) {
    const double next = (node * b + a * h) * h * h / (k * (k - 1));
    a = b;
    b = c;
    c = next;
    sum += next;
    if (std::fabs(b) + std::fabs(c) < 1e-18 * std::fabs(sum)) break;
  }
  return sum;
}

// u(k) z ** -k of DLMF 9.7.2, summed over even and odd k with alternating
// signs, or over all.
struct AirySums {
  double all = 1, even = 1, odd = 0;
  explicit AirySums(double zeta) {
    double term = 1;
    for (int k = 1; k < 40; ++k) {
      term *= (6.0 * k - 5) * (6 * k - 3) * (6 * k - 1) /
              (216.0 * k * (2 * k - 1) * zeta);
      all += k % 2 == 0 ? term : -term;
      double& part = k % 2 == 0 ? even : odd;
      part += k % 4 < 2 ? term : -term;
      if (term < kSmall) break;
    }
  }
};

}  // namespace

double bessel_j0(double x) { return std::isinf(x) ? kNan : ::j0(x); }
double bessel_j1(double x) { return std::isinf(x) ? kNan : ::j1(x); }
double bessel_y0(double x) { return std::isinf(x) ? kNan : ::y0(x); }
double bessel_y1(double x) { return std::isinf(x) ? kNan : ::y1(x); }

double i0e(double x) {
  x = std::fabs(x);
  if (x < kLarge) return i0_series(x) * std::exp(-x);
  return i_asymptotic(0, x);
}
double i0(double x) {
  x = std::fabs(x);
  if (x < kLarge) return i0_series(x);
  return std::isinf(x) ? kNan : times_exp(i_asymptotic(0, x), x);
}
double i1e(double x) {
  const double a = std::fabs(x);
  if (a < kLarge) return i1_series(x) * std::exp(-a);
  return std::copysign(i_asymptotic(4, a), x);
}
double i1(double x) {
  const double a = std::fabs(x);
  if (a < kLarge) return i1_series(x);
  if (std::isinf(x)) return kNan;
  return std::copysign(times_exp(i_asymptotic(4, a), a), x);
}

double bessel_k0(double x) {
  if (!(x > 0)) return x == 0 ? kInf : kNan;
  if (x < kSeriesEnd) return k0_series(x);
  return std::exp(-x) * k_integral(x, 0);
}
double bessel_k0e(double x) {
  if (!(x > 0)) return x == 0 ? kInf : kNan;
  if (x < kSeriesEnd) return k0_series(x) * std::exp(x);
  return k_integral(x, 0);
}
double bessel_k1(double x) {
  if (!(x > 0)) return x == 0 ? kInf : kNan;
  if (x < kSeriesEnd) return k1_series(x);
  return std::exp(-x) * k_integral(x, 1 / x);
}
double bessel_k1e(double x) {
  if (!(x > 0)) return x == 0 ? kInf : kNan;
  if (x < kSeriesEnd) return k1_series(x) * std::exp(x);
  return k_integral(x, 1 / x);
}

double airy_ai(double x) {
  if (std::isinf(x) || std::isnan(x)) return kNan;
  if (std::fabs(x) <= kLastNode) return airy_series(x);
  // zeta = 2 / 3 * |x| ** 1.5, and what rounding takes from it: far out its
  // last digits decide.
  const double a = std::fabs(x);
  const double root = std::sqrt(a);
  const double cube = a * root;
  const double zeta = 2 * cube / 3;
  const double cube_rest =
      std::fma(a, root, -cube) + a * std::fma(-root, root, a) / (2 * root);
  const double rest = (std::fma(-3, zeta, 2 * cube) + 2 * cube_rest) / 3;
  const AirySums sums(zeta);
  const double scale = 1 / std::sqrt(std::numbers::pi * root);
  // DLMF 9.7.5 and 9.7.9.
  if (x > 0) return 0.5 * std::exp(-zeta) * (1 - rest) * scale * sums.all;
  const double c =
      std::cos(zeta) * std::cos(rest) - std::sin(zeta) * std::sin(rest);
  const double s =
      std::sin(zeta) * std::cos(rest) + std::cos(zeta) * std::sin(rest);
  // c + s and s - c are the cosine and the sine of zeta - pi / 4, times
  // sqrt(2).
  return scale / std::numbers::sqrt2 *
         ((c + s) * sums.even + (s - c) * sums.odd);
}

}  // namespace sy::special
