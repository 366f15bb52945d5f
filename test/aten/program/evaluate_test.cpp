#include "aten/program/evaluate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "backends/cpu/tiles/kernels.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::program {
namespace {

using cpu::tiles::testing::Random;
using cpu::tiles::testing::Signature;
using cpu::tiles::testing::signature;
using lang::Prim;

constexpr ComputeType kWhole[] = {ComputeType::u8,  ComputeType::i8,
                                  ComputeType::i16, ComputeType::i32,
                                  ComputeType::i64, ComputeType::b8};

Uniform operand(Random& random, ComputeType type) {
  const uint64_t bits = random.bits();
  const auto small = static_cast<int64_t>(bits % 41) - 20;
  return make_uniform(type, false,
                      (bits >> 40) % 2 ? small : static_cast<int64_t>(bits));
}

TEST(Evaluate, GivesWhatKernelsOfIntegersGive) {
  Random random(11);
  for (int p = 0; p < static_cast<int>(Prim::kCount); ++p) {
    const auto prim = static_cast<Prim>(p);
    const Signature s = signature(prim);
    for (const ComputeType type : kWhole) {
      const cpu::tiles::PrimFn kernel = cpu::tiles::prim_fn(prim, type);
      if (kernel == nullptr) continue;
      for (int round = 0; round < 300; ++round) {
        Uniform in[3] = {}, want = {};
        for (int k = 0; k < s.arity; ++k) {
          in[k] = operand(random, s.bool_operand[k] ? ComputeType::b8 : type);
        }
        kernel(&want, &in[0], &in[1], &in[2], 0, 1);
        const Uniform got = evaluate(prim, type, in[0], in[1], in[2]);
        const size_t size = s.bool_result ? 1 : compute_type_size(type);
        ASSERT_EQ(std::memcmp(&got, &want, size), 0)
            << lang::kPrims[p].name << " of type " << static_cast<int>(type)
            << ": " << in[0].i64 << ", " << in[1].i64 << ", " << in[2].i64;
      }
    }
  }
  cpu::tiles::take_error();
}

TEST(Evaluate, GivesThePowersOfKernels) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double e : {0.5, -0.5, 2.0, 3.0, -1.0, -2.0, 1.0, 0.0, kInf}) {
    for (const double x : {-kInf, -0.0, 0.0, kInf, -1.0, 1.0, 4.0}) {
      Uniform a = {}, b = {}, want = {};
      a.f64 = x;
      b.f64 = e;
      cpu::tiles::prim_fn(Prim::pow, ComputeType::f64)(&want, &a, &b, nullptr,
                                                       2, 1);
      const double got = evaluate(Prim::pow, ComputeType::f64, a, b).f64;
      EXPECT_TRUE(std::memcmp(&got, &want, sizeof got) == 0 ||
                  (got != got && want.f64 != want.f64))
          << x << " to " << e << ": " << got << ", not " << want.f64;
    }
  }
}

TEST(Evaluate, RoundsFloatsOnce) {
  Uniform a = {}, b = {};
  a.f32 = 1.5f;
  b.f32 = 0.25f;
  EXPECT_EQ(evaluate(Prim::sub, ComputeType::f32, a, b).f32, 1.25f);
  EXPECT_EQ(evaluate(Prim::lt, ComputeType::f32, a, b).u8, 0);
  a.f64 = 2;
  EXPECT_DOUBLE_EQ(evaluate(Prim::sqrt, ComputeType::f64, a).f64,
                   1.4142135623730951);
}

}  // namespace
}  // namespace sy::program
