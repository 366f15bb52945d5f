// The special functions against values of mpmath, in units in the last place,
// and at the ends of their domains.

#include "lang/special/functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace sy::special {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Point {
  std::string_view function;
  double x, y;
  long double value;
};
constexpr Point kPoints[] = {
#include "test/lang/special/points.inc"
};

// Errors are in ulps of the value, or of `scale` where that is larger: near a
// root the argument's own rounding is all that is left.
struct Function {
  std::string_view name;
  double (*unary)(double);
  double (*binary)(double, double);
  double bound, scale;
};
const Function kFunctions[] = {
    {"digamma", digamma, nullptr, 4, 1},
    {"erfinv", erfinv, nullptr, 2, 0},
    {"erfcx", erfcx, nullptr, 4, 0},
    {"ndtri", ndtri, nullptr, 4, 0},
    {"i0", i0, nullptr, 12, 0},
    {"i0e", i0e, nullptr, 12, 0},
    {"i1", i1, nullptr, 12, 0},
    {"i1e", i1e, nullptr, 12, 0},
    {"bessel_k0", bessel_k0, nullptr, 6, 0},
    {"bessel_k0e", bessel_k0e, nullptr, 6, 0},
    {"bessel_k1", bessel_k1, nullptr, 6, 0},
    {"bessel_k1e", bessel_k1e, nullptr, 6, 0},
    {"bessel_j0", bessel_j0, nullptr, 6, 0.01},
    {"bessel_j1", bessel_j1, nullptr, 6, 0.01},
    {"bessel_y0", bessel_y0, nullptr, 6, 0.01},
    {"bessel_y1", bessel_y1, nullptr, 6, 0.01},
    {"airy_ai", airy_ai, nullptr, 10, 0},
    {"zeta", nullptr, zeta, 6, 0},
    {"polygamma", nullptr, polygamma, 10, 0},
    // Far out their logarithm is in the hundreds, and its error counts.
    {"igamma", nullptr, igamma, 40, 0},
    {"igammac", nullptr, igammac, 2500, 0},
    {"chebyshev_t", nullptr, chebyshev_t, 40, 1},
    {"chebyshev_u", nullptr, chebyshev_u, 80, 1},
    {"chebyshev_v", nullptr, chebyshev_v, 80, 1},
    {"chebyshev_w", nullptr, chebyshev_w, 80, 1},
    {"hermite_h", nullptr, hermite_h, 100, 1},
    {"hermite_he", nullptr, hermite_he, 100, 1},
    {"laguerre_l", nullptr, laguerre_l, 100, 1},
    {"legendre_p", nullptr, legendre_p, 20, 1},
};

double ulps(double got, long double want, double scale) {
  const double size = std::max(std::fabs(static_cast<double>(want)), scale);
  const double unit = std::nextafter(size, kInf) - size;
  return static_cast<double>(std::fabs(got - want) / unit);
}

class SpecialFunctions : public ::testing::TestWithParam<Function> {};

TEST_P(SpecialFunctions, AreWithinTheirBounds) {
  const Function& f = GetParam();
  int points = 0;
  double worst = 0;
  for (const Point& p : kPoints) {
    if (p.function != f.name) continue;
    ++points;
    const double got = f.unary ? f.unary(p.x) : f.binary(p.x, p.y);
    const double error = ulps(got, p.value, f.scale);
    EXPECT_LE(error, f.bound) << f.name << '(' << p.x << ", " << p.y
                              << ") = " << got << ", want " << p.value;
    worst = std::max(worst, error);
  }
  EXPECT_EQ(points, 14);
  RecordProperty("worst", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(All, SpecialFunctions, ::testing::ValuesIn(kFunctions),
                         [](const ::testing::TestParamInfo<Function>& info) {
                           return std::string(info.param.name);
                         });

void expect_same(double got, double want, const char* what) {
  if (want != want) {
    EXPECT_TRUE(got != got) << what << " = " << got;
  } else {
    EXPECT_EQ(got, want) << what;
  }
}
#define EXPECT_VALUE(call, want) expect_same(call, want, #call)

TEST(SpecialFunctionEdges, Gamma) {
  EXPECT_VALUE(digamma(0), -kInf);
  EXPECT_VALUE(digamma(-0.0), kInf);
  EXPECT_VALUE(digamma(-3), kNan);
  EXPECT_VALUE(digamma(kInf), kInf);
  EXPECT_VALUE(zeta(1, 3), kInf);
  EXPECT_VALUE(zeta(0.5, 3), kNan);
  EXPECT_VALUE(zeta(2, -3), kInf);
  EXPECT_VALUE(zeta(2.5, -3.5), kNan);
  EXPECT_VALUE(zeta(kNan, 1), kNan);
  EXPECT_VALUE(zeta(2, kNan), kNan);
  EXPECT_VALUE(zeta(kInf, 1), 1);
  EXPECT_VALUE(zeta(kInf, 2), 0);
  EXPECT_VALUE(zeta(2, 1e300), 1e-300);
  // Far below 0 too: the sum of both sides, pi ** 2 for a half.
  EXPECT_NEAR(zeta(2, -1e15 - 0.5), M_PI * M_PI, 1e-14);
  EXPECT_VALUE(polygamma(-1, 2), kNan);
  EXPECT_VALUE(polygamma(0, 2), digamma(2));
  EXPECT_VALUE(polygamma(1, 0), kInf);
  EXPECT_VALUE(polygamma(2, 0), -kInf);
}

TEST(SpecialFunctionEdges, IncompleteGamma) {
  for (double a : {0.0, 1e-3, 0.7, 30.0, 1e5, 3e6, 1e15}) {
    EXPECT_VALUE(igamma(a, kInf), 1);
    EXPECT_VALUE(igammac(a, kInf), 0);
    EXPECT_VALUE(igamma(a, -1), kNan);
    EXPECT_VALUE(igammac(a, -1), kNan);
    for (double x : {1e-5, 0.4, 1.05, 20.0, 28.0, 31.0, 40.0, 1e5, 3e6, 1e15}) {
      EXPECT_NEAR(igamma(a, x) + igammac(a, x), 1, 1e-14) << a << ", " << x;
    }
    if (a == 0) continue;
    EXPECT_VALUE(igamma(a, 0), 0);
    EXPECT_VALUE(igammac(a, 0), 1);
  }
  EXPECT_VALUE(igamma(0, 0), kNan);
  EXPECT_VALUE(igamma(-1, 1), kNan);
  EXPECT_VALUE(igamma(kInf, 1), 0);
  EXPECT_VALUE(igamma(kInf, kInf), kNan);
  EXPECT_VALUE(igammac(kInf, 1), 1);
  EXPECT_VALUE(igamma(kInf, kNan), 0);
  EXPECT_VALUE(igammac(kNan, kInf), 0);
  EXPECT_VALUE(igamma(kNan, 2), kNan);
  EXPECT_VALUE(igammac(2, kNan), kNan);
  // The two ways of large a meet.
  EXPECT_NEAR(igamma(999999, 999900), igamma(1000001, 999902), 1e-7);
}

TEST(SpecialFunctionEdges, Errors) {
  EXPECT_VALUE(erfinv(1), kInf);
  EXPECT_VALUE(erfinv(-1), -kInf);
  EXPECT_VALUE(erfinv(1.5), kNan);
  EXPECT_VALUE(erfcx(0), 1);
  EXPECT_VALUE(erfcx(kInf), 0);
  EXPECT_VALUE(erfcx(-kInf), kInf);
  EXPECT_VALUE(erfcx(-30), kInf);
  EXPECT_VALUE(erfcx(kNan), kNan);
  EXPECT_VALUE(ndtri(0), -kInf);
  EXPECT_VALUE(ndtri(1), kInf);
  EXPECT_VALUE(ndtri(0.5), 0);
  EXPECT_VALUE(ndtri(-0.1), kNan);
  EXPECT_VALUE(ndtri(kNan), kNan);
  // erfcx and ndtri go on where erfc and 1 - p have no digits left.
  for (double p : {1e-300, 1e-200, 1e-50, 1e-17}) {
    EXPECT_NEAR(0.5 * std::erfc(-ndtri(p) / M_SQRT2) / p, 1, 1e-12) << p;
  }
}

TEST(SpecialFunctionEdges, Bessel) {
  for (auto* f :
       {bessel_j0, bessel_j1, bessel_y0, bessel_y1, i0, i1, airy_ai}) {
    EXPECT_VALUE(f(kInf), kNan);
    EXPECT_VALUE(f(kNan), kNan);
  }
  EXPECT_VALUE(bessel_y0(0), -kInf);
  EXPECT_VALUE(bessel_y1(0), -kInf);
  EXPECT_VALUE(bessel_y0(-1), kNan);
  EXPECT_VALUE(i0(0), 1);
  EXPECT_VALUE(i1(0), 0);
  EXPECT_VALUE(i1(-2), -i1(2));
  EXPECT_VALUE(i0e(kInf), 0);
  EXPECT_VALUE(i1e(-kInf), 0);
  EXPECT_TRUE(std::isfinite(i0(713)));
  EXPECT_VALUE(i0(720), kInf);
  for (auto* f : {bessel_k0, bessel_k0e, bessel_k1, bessel_k1e}) {
    EXPECT_VALUE(f(0), kInf);
    EXPECT_VALUE(f(-1), kNan);
    EXPECT_VALUE(f(kNan), kNan);
    EXPECT_VALUE(f(kInf), 0);
  }
  EXPECT_GT(bessel_k0e(1e308), 0);
  EXPECT_VALUE(airy_ai(200), 0);
  // So far out zeta has no digits after the point.
  EXPECT_NEAR(airy_ai(-0x1p31), -2.2576e-3, 1e-6);
  EXPECT_LT(std::fabs(airy_ai(-0x1p63)), 1.1e-5);
}

TEST(SpecialFunctionEdges, Polynomials) {
  for (auto* f : {chebyshev_t, chebyshev_u, chebyshev_v, chebyshev_w, hermite_h,
                  hermite_he, laguerre_l, legendre_p}) {
    EXPECT_VALUE(f(0.3, -1), 0);
    EXPECT_VALUE(f(0.3, kNan), 0);
    EXPECT_VALUE(f(0.3, kInf), 0);
    EXPECT_VALUE(f(0.3, 0), 1);
    EXPECT_VALUE(f(0.3, -0.9), 1);
    EXPECT_VALUE(f(0.3, 3.9), f(0.3, 3));
    EXPECT_VALUE(f(kNan, 3), kNan);
  }
  EXPECT_VALUE(chebyshev_u(1, 9), 10);
  EXPECT_VALUE(chebyshev_u(-1, 9), -10);
  EXPECT_VALUE(chebyshev_v(-1, 4), 9);
  EXPECT_VALUE(chebyshev_w(-1, 4), 1);
  EXPECT_VALUE(legendre_p(-1, 5), -1);
  EXPECT_VALUE(laguerre_l(0, 50), 1);
  EXPECT_VALUE(hermite_h(0.3, 513), kNan);
  // Values of any degree come at once. The numbers are from the recurrence in
  // long double.
  EXPECT_NEAR(laguerre_l(0.5, 100001), 0.0459091913614739, 1e-9);
  EXPECT_NEAR(laguerre_l(10, 1000003) / -1.44357149244731, 1, 1e-9);
  EXPECT_NEAR(laguerre_l(-0.01, 100001) / 1.46719583968816e+26, 1, 1e-8);
  EXPECT_NEAR(legendre_p(0.3, 100001), 0.00142586924607737, 1e-12);
  EXPECT_NEAR(legendre_p(-0.9999999, 100001), -0.119166897217821, 1e-12);
  EXPECT_NEAR(legendre_p(1.000000001, 1000003) / 1.58193282716888e+18, 1, 1e-9);
  for (double n : {2147483648.0, 9e18}) {
    EXPECT_LT(std::fabs(legendre_p(0.3, n)), 1e-4);
    EXPECT_LT(std::fabs(laguerre_l(0.3, n)), 1e-2);
    EXPECT_VALUE(legendre_p(1.5, n), kInf);
    EXPECT_VALUE(laguerre_l(-2, n), kInf);
    EXPECT_VALUE(laguerre_l(kNan, n), kNan);
    EXPECT_VALUE(legendre_p(kNan, n), kNan);
  }
  // Values of any degree come at once: by recurrence and by the closed form.
  for (auto* f : {chebyshev_t, chebyshev_u, chebyshev_v, chebyshev_w}) {
    for (double x : {1.01, -1.01}) {
      EXPECT_NEAR(f(x, 1001) / (2 * x * f(x, 1000) - f(x, 999)), 1, 1e-11);
    }
    EXPECT_VALUE(std::fabs(f(1.5, 1e18)), kInf);
    EXPECT_LE(std::fabs(f(0.5, 1e18)), 2);
  }
}

}  // namespace
}  // namespace sy::special
