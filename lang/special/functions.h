#pragma once

// Special functions of real numbers. The result is NaN where a function has no
// value; poles are infinite. Pure: they touch no state (errno apart) and give
// the same on every thread. test/lang/special states their errors.

namespace sy::special {

// Gamma and what comes of it.
double digamma(double x);
// The n-th derivative of digamma; n is cut to a whole number.
double polygamma(double n, double x);
// The sum of (q + k) ** -s over k >= 0. s > 1; for q < 0 whole s only.
double zeta(double s, double q);
// The lower and upper incomplete gamma functions, divided by gamma(a).
double igamma(double a, double x);
double igammac(double a, double x);

// Error functions.
double erfinv(double y);
double erfcx(double x);  // exp(x ** 2) * erfc(x)
double ndtri(double p);  // the inverse of the normal distribution function

// Bessel functions of order 0 and 1; the e forms are scaled: i0e is
// exp(-|x|) * i0, bessel_k0e is exp(x) * bessel_k0.
double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);
double i0(double x);
double i0e(double x);
double i1(double x);
double i1e(double x);
double bessel_k0(double x);
double bessel_k0e(double x);
double bessel_k1(double x);
double bessel_k1e(double x);
double airy_ai(double x);

// Orthogonal polynomials of degree n, which is cut to a whole number; 0 where
// n < 0. The polynomials of Hermite are NaN from degree 512 on, which
// overflows.
double chebyshev_t(double x, double n);
double chebyshev_u(double x, double n);
double chebyshev_v(double x, double n);
double chebyshev_w(double x, double n);
double hermite_h(double x, double n);
double hermite_he(double x, double n);
double laguerre_l(double x, double n);
double legendre_p(double x, double n);

}  // namespace sy::special
