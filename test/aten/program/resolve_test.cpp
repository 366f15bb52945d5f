#include "aten/program/resolve.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/cpu/tiles/runner.h"
#include "test/backends/cpu/tiles/reference.h"

namespace sy::program {
namespace {

using cpu::tiles::run_contiguous;
using cpu::tiles::testing::Random;
using lang::Prim;

Uniform number(int64_t v) { return make_uniform(ComputeType::i32, false, v); }
Uniform truth(bool v) {
  return make_uniform(ComputeType::i32, true, int64_t{v});
}

// clamp with bounds that may be absent: register 0 is the element, 1 and 2 the
// bounds, 3 and 4 whether each is absent.
constexpr Step kClamp[] = {
    {Prim::maximum, 5, 0, 1, 0}, {Prim::minimum, 6, 0, 2, 0},
    {Prim::clamp, 7, 0, 1, 2},   {Prim::select, 6, 3, 6, 7},
    {Prim::select, 5, 4, 5, 6},
};
constexpr Result kResult[] = {{5, false}};
constexpr Program kProgram = {.steps = kClamp,
                              .results = kResult,
                              .bool_uniforms = 12,
                              .n_steps = 5,
                              .n_registers = 8,
                              .n_inputs = 1,
                              .n_uniforms = 4};

TEST(Resolved, OnlyWhatIsChosenIsLeft) {
  const auto left = [](bool no_low, bool no_high) {
    const Uniform uniforms[] = {number(-1), number(1), truth(no_low),
                                truth(no_high)};
    Resolved resolved;
    const Program& p = *resolved.resolve(kProgram, uniforms);
    EXPECT_EQ(p.n_steps, 1);
    EXPECT_EQ(p.n_registers, 6);
    EXPECT_EQ(p.results[0].reg, p.steps[0].dst);
    return p.steps[0].op;
  };
  EXPECT_EQ(left(false, false), Prim::clamp);
  EXPECT_EQ(left(true, false), Prim::minimum);
  EXPECT_EQ(left(false, true), Prim::maximum);
}

TEST(Resolved, AResultMayBeAnOperand) {
  constexpr Step kSteps[] = {{Prim::neg, 2, 0, 0, 0},
                             {Prim::select, 2, 1, 0, 2}};
  constexpr Result kOut[] = {{2, false}};
  const Program program = {.steps = kSteps,
                           .results = kOut,
                           .bool_uniforms = 1,
                           .n_steps = 2,
                           .n_registers = 3,
                           .n_inputs = 1,
                           .n_uniforms = 1};
  for (const bool same : {true, false}) {
    const Uniform uniforms[] = {truth(same)};
    Resolved resolved;
    const Program& p = *resolved.resolve(program, uniforms);
    EXPECT_EQ(p.n_steps, same ? 0 : 1);
    int32_t in = 7, out = 0;
    const void* const from[] = {&in};
    void* const to[] = {&out};
    run_contiguous(p, ComputeType::i32, from, 0, uniforms, to, 1);
    EXPECT_EQ(out, same ? 7 : -7);
  }
}

TEST(Resolved, ProgramsWithoutSuchChoicesStayAsTheyAre) {
  Program plain = kProgram;
  plain.bool_uniforms = 0;
  const Uniform uniforms[4] = {};
  Resolved resolved;
  EXPECT_EQ(resolved.resolve(plain, uniforms), &plain);
  plain.bool_uniforms = 12;
  plain.n_steps = 3;
  EXPECT_EQ(resolved.resolve(plain, uniforms), &plain);
}

// Registers 0 and 1 are elements, 2 and 3 numbers, 4 and 5 choices, 6 to 9 are
// written again and again, 10 holds bools.
TEST(Resolved, RandomProgramsGiveTheSame) {
  Random random(5);
  constexpr Prim kBinary[] = {Prim::add, Prim::sub, Prim::mul, Prim::maximum};
  int shorter = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Step> steps;
    std::vector<uint8_t> live = {0, 1, 2, 3};
    const auto any = [&] { return live[random.bits() % live.size()]; };
    for (uint64_t i = 1 + random.bits() % 15; i > 0; --i) {
      const auto dst = static_cast<uint8_t>(6 + random.bits() % 4);
      const uint8_t a = any(), b = any();
      const auto choice = static_cast<uint8_t>(4 + random.bits() % 2);
      const uint64_t kind = random.bits() % 6;
      if (kind == 0) {
        steps.push_back({Prim::lt, 10, a, b, 0});
        steps.push_back({Prim::select, dst, 10, any(), any()});
      } else if (kind <= 2) {
        steps.push_back({Prim::select, dst, choice, a, b});
      } else {
        steps.push_back({kBinary[random.bits() % 4], dst, a, b, 0});
      }
      live.push_back(dst);
    }
    const Result results[] = {{any(), false}, {steps.back().dst, false}};
    const Program program = {.steps = steps.data(),
                             .results = results,
                             .bool_uniforms = 12,
                             .n_steps = static_cast<uint16_t>(steps.size()),
                             .n_registers = 11,
                             .n_inputs = 2,
                             .n_uniforms = 4,
                             .n_results = 2};
    const Uniform uniforms[] = {number(3), number(-2),
                                truth(random.bits() % 2 != 0),
                                truth(random.bits() % 2 != 0)};
    Resolved resolved;
    const Program& p = *resolved.resolve(program, uniforms);
    shorter += p.n_steps < program.n_steps;
    int32_t x[70], y[70], got[2][70], want[2][70];
    for (int i = 0; i < 70; ++i) {
      x[i] = static_cast<int32_t>(random.bits() % 9) - 4;
      y[i] = static_cast<int32_t>(random.bits() % 9) - 4;
    }
    const void* const in[] = {x, y};
    void* const to[] = {got[0], got[1]};
    void* const expected[] = {want[0], want[1]};
    run_contiguous(p, ComputeType::i32, in, 0, uniforms, to, 70);
    run_contiguous(program, ComputeType::i32, in, 0, uniforms, expected, 70);
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < 70; ++i) ASSERT_EQ(got[k][i], want[k][i]) << round;
    }
  }
  EXPECT_GT(shorter, 300);
}

}  // namespace
}  // namespace sy::program
