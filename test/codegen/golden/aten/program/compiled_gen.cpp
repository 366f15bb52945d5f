// Generated from schemas/ops by sygen. Do not edit.
#include "aten/program/compiled_gen.h"

namespace sy::program {

namespace {

using lang::Prim;

// test/codegen/testdata/sample.yaml:13
//   u0 = select((mode == 'half'), 0.5, 1)
//   t0 = mul(self, slope)
//   t0 = mul(weight, t0)
//   t0 = mul(t0, u0)
//   return t0
//   has the loop of soften
constexpr lang::Step kSoftenSteps[] = {
    {Prim::mul, 4, 0, 2, 0},
    {Prim::mul, 4, 1, 4, 0},
    {Prim::mul, 4, 4, 3, 0},
};
constexpr lang::Result kSoftenResults[] = {{4, false}};

}  // namespace

constexpr Program kCompiled[kNumCompiled] = {
    {
        .steps = kSoftenSteps,
        .results = kSoftenResults,
        .n_steps = 3,
        .n_registers = 5,
        .n_inputs = 2,
        .n_uniforms = 2,
        .n_results = 1,
        .compiled = 1,
    },
};

}  // namespace sy::program
