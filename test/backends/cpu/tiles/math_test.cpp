// Elementary functions against libm's long double: the error in units of the
// last place over random arguments of the whole domain, and special values.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "backends/cpu/tiles/kernels.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::cpu::tiles {
namespace {

using lang::Prim;
using testing::Random;
using Real = long double;

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

Real digamma(Real x) {
  if (x < 0) {
    const Real pi = 3.14159265358979323846264338327950288L;
    return digamma(1 - x) - pi / std::tan(pi * (x - std::trunc(x)));
  }
  Real result = 0;
  for (; x < 40; x += 1) result -= 1 / x;
  const Real z = 1 / (x * x);
  return result + std::log(x) - 0.5L / x -
         z * (1 / 12.0L - z * (1 / 120.0L - z * (1 / 252.0L - z / 240)));
}

Real erfinv(Real y) {
  const Real a = std::fabs(y);
  if (!(a < 1)) return a == 1 ? y / 0.0L : std::nanl("");
  // Bisection, then Newton: slow and sure.
  Real low = 0, high = 7;
  for (int i = 0; i < 70; ++i) {
    const Real x = (low + high) / 2;
    (a < 0.5L ? std::erf(x) < a : std::erfc(x) > 1 - a) ? low = x : high = x;
  }
  Real x = a < 1e-4L ? a * 0.88622692545275801364908374167057259L : low;
  for (int i = 0; i < 2; ++i) {
    const Real error = a < 0.5L ? std::erf(x) - a : (1 - a) - std::erfc(x);
    x -= error * 0.88622692545275801364908374167057259L * std::exp(x * x);
  }
  return std::copysign(x, y);
}

struct Case {
  Prim prim;
  Real (*reference)(Real);
  double low, high;  // where most arguments are drawn
  double ulp_float, ulp_double;
};

Real log_gamma(Real x) {
  int sign;
  return lgammal_r(x, &sign);
}

#define SY_LIBM(name) [](Real x) -> Real { return std::name(x); }
const Case kCases[] = {
    {Prim::exp, SY_LIBM(exp), -110, 100, 1.0, 1.0},
    {Prim::exp2, SY_LIBM(exp2), -160, 140, 0.51, 1.2},
    {Prim::expm1, SY_LIBM(expm1), -20, 100, 0.51, 2.4},
    {Prim::log, SY_LIBM(log), 0, 10, 1.0, 1.0},
    {Prim::log2, SY_LIBM(log2), 0, 10, 0.51, 1.2},
    {Prim::log10, SY_LIBM(log10), 0, 10, 0.51, 1.6},
    {Prim::log1p, SY_LIBM(log1p), -1, 10, 1.0, 1.2},
    {Prim::sin, SY_LIBM(sin), -100, 100, 1.5, 1.0},
    {Prim::cos, SY_LIBM(cos), -100, 100, 1.5, 1.0},
    {Prim::tan, SY_LIBM(tan), -100, 100, 0.51, 2.2},
    {Prim::asin, SY_LIBM(asin), -1, 1, 0.51, 2.2},
    {Prim::acos, SY_LIBM(acos), -1, 1, 0.51, 3.0},
    {Prim::atan, SY_LIBM(atan), -10, 10, 0.51, 1.6},
    {Prim::sinh, SY_LIBM(sinh), -20, 20, 0.51, 1.8},
    {Prim::cosh, SY_LIBM(cosh), -20, 20, 0.51, 1.6},
    {Prim::tanh, SY_LIBM(tanh), -10, 10, 1.8, 2.4},
    {Prim::asinh, SY_LIBM(asinh), -100, 100, 0.51, 2.4},
    {Prim::acosh, SY_LIBM(acosh), 1, 100, 0.51, 2.4},
    {Prim::atanh, SY_LIBM(atanh), -1, 1, 0.51, 2.4},
    {Prim::sigmoid, sigmoid, -110, 40, 2.2, 2.0},
    {Prim::erf, SY_LIBM(erf), -5, 5, 1.6, 1.0},
    {Prim::erfc, SY_LIBM(erfc), -5, 11, 0.6, 5.0},
    {Prim::erfinv, erfinv, -1, 1, 0.51, 3.0},
    {Prim::lgamma, log_gamma, 0, 100, 0.6, 5.0},
    {Prim::digamma, digamma, 2, 100, 0.6, 20.0},
};
#undef SY_LIBM

// Units in the last place of T by which `got` misses `want`.
template <class T>
double ulps(T got, Real want) {
  const T rounded = static_cast<T>(want);
  if (rounded != rounded || got != got) {
    return rounded != rounded && got != got ? 0 : 1e30;
  }
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e30;
  const T a = std::fabs(rounded);
  const T unit = std::nextafter(a, std::numeric_limits<T>::infinity()) - a;
  const Real spacing = std::isinf(unit)
                           ? static_cast<Real>(a - std::nextafter(a, T(0)))
                           : static_cast<Real>(unit);
  return static_cast<double>(std::fabs(static_cast<Real>(got) - want) /
                             spacing);
}

template <class T>
T any_bits(Random& random) {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<T>(static_cast<U>(random.bits()));
}

// Half in the named range, a quarter near 0 in it, a quarter anywhere.
template <class T>
std::vector<T> arguments(const Case& c, size_t n) {
  Random random(77);
  std::vector<T> x(n);
  for (size_t i = 0; i < n; ++i) {
    const bool everywhere =
        i % 4 == 0 && c.prim != Prim::digamma && c.prim != Prim::lgamma;
    T v = everywhere ? any_bits<T>(random)
                     : static_cast<T>(random.uniform(c.low, c.high));
    if (i % 4 == 1 && c.low <= 0) v *= static_cast<T>(random.uniform(0, 0.01));
    // Double's sin of the huge is libm's, of the same quality.
    x[i] = v;
  }
  return x;
}

template <class T>
void check(const Case& c, ComputeType type, size_t n, double bound) {
  const std::vector<T> x = arguments<T>(c, n);
  std::vector<Real> want(n);
  for (size_t i = 0; i < n; ++i) want[i] = c.reference(static_cast<Real>(x[i]));
  testing::for_each_isa([&](Isa isa) {
    std::vector<T> y(n);
    prim_fn(c.prim, type)(y.data(), x.data(), nullptr, nullptr, 0,
                          static_cast<int64_t>(n));
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; ++i) {
      if (x[i] != x[i]) {
        ASSERT_TRUE(y[i] != y[i]);
        continue;
      }
      const double u = ulps(y[i], want[i]);
      if (u > worst) {
        worst = u;
        at = i;
      }
    }
    const std::string name(lang::kPrims[static_cast<int>(c.prim)].name);
    ::testing::Test::RecordProperty(name + std::to_string(sizeof(T) * 8) + "_" +
                                        std::to_string(static_cast<int>(isa)),
                                    std::to_string(worst));
    EXPECT_LE(worst, bound)
        << name << "(" << std::hexfloat << x[at] << std::defaultfloat << " = "
        << x[at] << ") = " << y[at] << ", want "
        << static_cast<double>(want[at]) << ", isa " << static_cast<int>(isa);
  });
}

class TileMath : public ::testing::TestWithParam<Case> {};

TEST_P(TileMath, FloatIsWithinItsBound) {
  check<float>(GetParam(), ComputeType::f32, 60000, GetParam().ulp_float);
}
TEST_P(TileMath, DoubleIsWithinItsBound) {
  check<double>(GetParam(), ComputeType::f64, 30000, GetParam().ulp_double);
}

// The scalar form computes an element alone, vectors one among many.
TEST_P(TileMath, OneElementIsTheSameAloneAndAmongOthers) {
  const std::vector<float> x = arguments<float>(GetParam(), 4000);
  testing::for_each_isa([&](Isa isa) {
    const auto f = prim_fn(GetParam().prim, ComputeType::f32);
    std::vector<float> many(x);
    f(many.data(), x.data(), nullptr, nullptr, 0, 4000);
    for (size_t i = 0; i < x.size(); ++i) {
      float one;
      f(&one, &x[i], nullptr, nullptr, 0, 1);
      if (one != one && many[i] != many[i]) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(one), std::bit_cast<uint32_t>(many[i]))
          << "of " << std::hexfloat << x[i] << ", isa "
          << static_cast<int>(isa);
    }
  });
}

template <class T>
void check_specials(const Case& c, ComputeType type) {
  using L = std::numeric_limits<T>;
  const T values[] = {T(0),
                      -T(0),
                      L::infinity(),
                      -L::infinity(),
                      L::quiet_NaN(),
                      L::min(),
                      L::denorm_min(),
                      -L::denorm_min(),
                      L::max(),
                      L::lowest(),
                      T(1),
                      T(-1),
                      T(2),
                      T(-2),
                      T(-3)};
  testing::for_each_isa([&](Isa) {
    for (T x : values) {
      // x stands alone, and in the middle of others.
      for (int64_t n : {1, 40}) {
        std::vector<T> in(static_cast<size_t>(n), T(0.5)), out(in);
        const size_t at = static_cast<size_t>(n) / 2;
        in[at] = x;
        prim_fn(c.prim, type)(out.data(), in.data(), nullptr, nullptr, 0, n);
        Real want = 0;
        if (c.prim == Prim::digamma) {
          want = x == 0 ? std::copysign(L::infinity(), -x)
                 : x < 0 && (x == std::trunc(x)) ? L::quiet_NaN()
                 : std::isinf(x)                 ? x
                                                 : digamma(x);
        } else {
          want = c.reference(static_cast<Real>(x));
        }
        const T got = out[at];
        EXPECT_LE(ulps(got, want), 8)
            << lang::kPrims[static_cast<int>(c.prim)].name << "(" << x
            << ") = " << got << ", want " << static_cast<T>(want)
            << ", n = " << n;
        if (got == 0) {
          EXPECT_EQ(std::signbit(got), std::signbit(static_cast<T>(want)))
              << lang::kPrims[static_cast<int>(c.prim)].name << "(" << x << ")";
        }
      }
    }
  });
}
TEST_P(TileMath, SpecialValuesAreLibms) {
  check_specials<float>(GetParam(), ComputeType::f32);
  check_specials<double>(GetParam(), ComputeType::f64);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, TileMath, ::testing::ValuesIn(kCases),
    [](const ::testing::TestParamInfo<Case>& info) {
      return std::string(lang::kPrims[static_cast<int>(info.param.prim)].name);
    });

Real xlogy(Real x, Real y) { return x == 0 && y == y ? 0 : x * std::log(y); }

template <class T>
void check_binary(Prim prim, ComputeType type, Real (*reference)(Real, Real),
                  double bound, double low, double high) {
  using L = std::numeric_limits<T>;
  const T special[] = {T(0),     -T(0),         T(1),           T(-1),
                       T(2),     T(-2),         T(3),           T(0.5),
                       T(-0.5),  L::infinity(), -L::infinity(), L::quiet_NaN(),
                       L::max(), L::min(),      T(-2.5)};
  Random random(5);
  std::vector<T> x, y;
  for (T a : special) {
    for (T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (int i = 0; i < 20000; ++i) {
    x.push_back(static_cast<T>(random.uniform(low, high)));
    y.push_back(static_cast<T>(random.uniform(-20, 20)));
    if (i % 5 == 0) y.back() = std::trunc(y.back());
  }
  testing::for_each_isa([&](Isa isa) {
    std::vector<T> d(x.size());
    prim_fn(prim, type)(d.data(), x.data(), y.data(), nullptr, 0,
                        static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const Real want = reference(x[i], y[i]);
      ASSERT_LE(ulps(d[i], want), bound)
          << lang::kPrims[static_cast<int>(prim)].name << "(" << x[i] << ", "
          << y[i] << ") = " << d[i] << ", want " << static_cast<double>(want)
          << ", isa " << static_cast<int>(isa);
      if (d[i] == 0) {
        ASSERT_EQ(std::signbit(d[i]), std::signbit(static_cast<T>(want)))
            << lang::kPrims[static_cast<int>(prim)].name << "(" << x[i] << ", "
            << y[i] << ")";
      }
    }
  });
}

TEST(TileMathBinary, PowIsLibms) {
  const auto f = [](Real a, Real b) -> Real { return std::pow(a, b); };
  check_binary<float>(Prim::pow, ComputeType::f32, f, 0.51, 0, 50);
  check_binary<double>(Prim::pow, ComputeType::f64, f, 1, 0, 50);
  check_binary<float>(Prim::pow, ComputeType::f32, f, 0.51, -50, 0);
}
TEST(TileMathBinary, Atan2IsLibms) {
  const auto f = [](Real a, Real b) -> Real { return std::atan2(a, b); };
  check_binary<float>(Prim::atan2, ComputeType::f32, f, 0.51, -20, 20);
  check_binary<double>(Prim::atan2, ComputeType::f64, f, 1, -20, 20);
}
TEST(TileMathBinary, HypotIsLibms) {
  const auto f = [](Real a, Real b) -> Real { return std::hypot(a, b); };
  check_binary<float>(Prim::hypot, ComputeType::f32, f, 0.51, -20, 20);
  check_binary<double>(Prim::hypot, ComputeType::f64, f, 1, -20, 20);
}
TEST(TileMathBinary, XlogyIsZeroAtZeroButNotForNan) {
  check_binary<float>(Prim::xlogy, ComputeType::f32, xlogy, 2.5, -20, 20);
  check_binary<double>(Prim::xlogy, ComputeType::f64, xlogy, 2.5, -20, 20);
}

TEST(TileMathBinary, UniformExponentsThatHaveANameAreComputedByIt) {
  const float x[] = {-4, -0.f, 0.25f, 3, 9};
  const auto power = [&](float exponent) {
    std::vector<float> d(5);
    prim_fn(Prim::pow, ComputeType::f32)(d.data(), x, &exponent, nullptr, 2, 5);
    return d;
  };
  EXPECT_EQ(power(2), (std::vector<float>{16, 0, 0.0625f, 9, 81}));
  EXPECT_EQ(power(3), (std::vector<float>{-64, -0.f, 0.015625f, 27, 729}));
  EXPECT_EQ(power(1), (std::vector<float>(x, x + 5)));
  EXPECT_EQ(power(-1)[4], 1.f / 9);
  EXPECT_EQ(power(-2)[4], 1.f / 81);
  EXPECT_EQ(power(0.5f)[3], std::sqrt(3.f));
  EXPECT_EQ(power(-0.5f)[3], 1 / std::sqrt(3.f));
  EXPECT_TRUE(std::isnan(power(0.5f)[0]));
  EXPECT_EQ(power(4)[3], 81);
}

TEST(TileMathBinary, AUniformOperandEqualsOneRepeated) {
  testing::for_each_isa([](Isa) {
    std::vector<float> x(37), y(37, 1.75f), d(37), e(37);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i);
    for (Prim p : {Prim::atan2, Prim::hypot, Prim::pow, Prim::xlogy}) {
      const PrimFn fn = prim_fn(p, ComputeType::f32);
      fn(d.data(), x.data(), y.data(), nullptr, 0, 37);
      fn(e.data(), x.data(), y.data(), nullptr, 2, 37);
      EXPECT_EQ(d, e);
    }
    // In place, at every length of the rest.
    for (int64_t n = 0; n <= 37; ++n) {
      d = x;
      const PrimFn fn = prim_fn(Prim::tanh, ComputeType::f32);
      fn(e.data(), x.data(), nullptr, nullptr, 0, n);
      fn(d.data(), d.data(), nullptr, nullptr, 0, n);
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) ASSERT_EQ(d[i], e[i]);
    }
  });
}

}  // namespace
}  // namespace sy::cpu::tiles
