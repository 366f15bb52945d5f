#pragma once

#include <cstdint>

#include "backends/cpu/program/runner.h"

// Whole programs of a few cheap steps that have one kernel: taken step by step
// they would pass over their tiles once for each, which is all that they cost.

namespace sy::tiles {

struct Chain {
  static constexpr int kMaxSteps = 4;
  uint8_t n_inputs, n_uniforms, n_steps;
  Step steps[kMaxSteps];
};

// As the compiler of expressions numbers registers: inputs, uniforms in the
// order of their use, temporaries. The last step makes the result.
inline constexpr Chain kChains[] = {
    // where(self > u0, self, self * u1): leaky_relu
    {1,
     2,
     3,
     {{lang::Prim::gt, 3, 0, 1},
      {lang::Prim::mul, 4, 0, 2},
      {lang::Prim::select, 4, 3, 0, 4}}},
    // where(self > u0, grad, grad * u1): its derivative
    {2,
     2,
     3,
     {{lang::Prim::gt, 4, 1, 2},
      {lang::Prim::mul, 5, 0, 3},
      {lang::Prim::select, 5, 4, 0, 5}}},
    // clamp(self + u0, u1, u2) / u2: hardsigmoid
    {1,
     3,
     3,
     {{lang::Prim::add, 4, 0, 1},
      {lang::Prim::clamp, 4, 4, 2, 3},
      {lang::Prim::div, 4, 4, 3}}},
    // self * (clamp(self + u0, u1, u2) / u2): hardswish
    {1,
     3,
     4,
     {{lang::Prim::add, 4, 0, 1},
      {lang::Prim::clamp, 4, 4, 2, 3},
      {lang::Prim::div, 4, 4, 3},
      {lang::Prim::mul, 4, 0, 4}}},
    // where(self <= u0, u1, self): threshold
    {1, 2, 2, {{lang::Prim::le, 3, 0, 1}, {lang::Prim::select, 4, 3, 2, 0}}},
    // where(self <= u0, u1, grad): the derivative of relu
    {2, 2, 2, {{lang::Prim::le, 4, 1, 2}, {lang::Prim::select, 5, 4, 3, 0}}},
    // where(isnan(self), u0, self): the map of nansum
    {1, 1, 2, {{lang::Prim::isnan, 2, 0}, {lang::Prim::select, 3, 2, 1, 0}}},
};
inline constexpr int kNumChains = sizeof(kChains) / sizeof(kChains[0]);
inline constexpr int kNumbersChain = kNumChains - 1;  // the map of nansum
static_assert(kChains[kNumbersChain].steps[0].op == lang::Prim::isnan);

// Which of them the program is, or -1.
int find_chain(const Program& program) noexcept;

// dst = the program's result: a and b its inputs, b not looked at if it has
// one; c its uniforms, as an array. Nor is the mask: no input is one element.
// dst may be an input. nullptr where the program or the type has none.
PrimFn chain_fn(const Program& program, ComputeType type) noexcept;

// Maps of one element that reductions do as they read: a NaN is 0, the
// magnitude, the square.
enum class ReduceMap : uint8_t { numbers, abs, square };
inline constexpr int kNumReduceMaps = 3;
// reduce_fn(r, type) of what the program makes of each element. nullptr where
// there is none.
SY_API ReduceFn mapped_reduce_fn(Reduction r, const Program& map,
                                 const Uniform* uniforms,
                                 ComputeType type) noexcept;

}  // namespace sy::tiles
