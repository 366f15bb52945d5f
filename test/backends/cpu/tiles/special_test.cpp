// Kernels of the special functions against the functions themselves.

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "backends/cpu/tiles/kernels.h"
#include "lang/program.h"

namespace sy::cpu::tiles {
namespace {

using lang::Prim;
using lang::Uniform;

constexpr Prim kSpecialPrims[] = {
#define SY_PRIM(...)
#define SY_SPECIAL_PRIM(name, ...) Prim::name,
#include "lang/primitives.inc"
};

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

template <class T>
void check(ComputeType type) {
  std::vector<T> x, y;
  for (double v : {0.1, 0.3, 0.75, 1.0, 2.0, 3.5, 25.0, -0.4, -2.0, 0.0}) {
    for (double w : {0.2, 0.5, 1.0, 4.0, 9.0, -1.5}) {
      x.push_back(static_cast<T>(v));
      y.push_back(static_cast<T>(w));
    }
  }
  const auto n = static_cast<int64_t>(x.size());
  for (const Prim prim : kSpecialPrims) {
    const auto reference = [&](size_t i, size_t j) {
      return static_cast<T>(
          lang::eval_uniform(prim, Uniform::of(static_cast<double>(x[i])),
                             Uniform::of(static_cast<double>(y[j])))
              .d);
    };
    const PrimFn fn = prim_fn(prim, type);
    ASSERT_NE(fn, nullptr);
    // Bit k of the mask: operand k is one element.
    for (uint32_t mask = 0; mask < 4; ++mask) {
      std::vector<T> d(x.size());
      fn(d.data(), x.data(), y.data(), nullptr, mask, n);
      for (size_t i = 0; i < x.size(); ++i) {
        const T want = reference(mask & 1 ? 0 : i, mask & 2 ? 0 : i);
        ASSERT_TRUE(same(d[i], want))
            << lang::kPrims[static_cast<int>(prim)].name << '(' << x[i] << ", "
            << y[i] << ") = " << d[i] << ", want " << want;
      }
    }
    // In place.
    std::vector<T> d(x);
    fn(d.data(), d.data(), y.data(), nullptr, 0, n);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(same(d[i], reference(i, i)));
    }
  }
}

TEST(TileSpecial, KernelsAreTheFunctionsOnEveryElement) {
  check<float>(ComputeType::f32);
  check<double>(ComputeType::f64);
}

}  // namespace
}  // namespace sy::cpu::tiles
