#include <gtest/gtest.h>

#include "aten/program/op_desc.h"
#include "lang/program.h"

namespace sy {
namespace {

using lang::Prim;
using lang::RegClass;

TEST(ViewOf, PointsToTheProgramsOwnArrays) {
  lang::Program p;
  p.inputs = {{"mask", RegClass::kBool}, {"self"}};
  p.scalars = {{"alpha"}};
  p.constants = {lang::Uniform::of(2.5)};
  p.uniform_steps = {{Prim::mul, 0, 1}};
  p.uniforms = {{2, RegClass::kValue}, {0, RegClass::kBool}};
  p.steps = {{Prim::mul, 4, 1, 2}, {Prim::select, 4, 0, 4, 1}};
  p.results = {{4, false}, {0, true}};
  p.n_registers = 5;
  const uint8_t index[] = {7};

  const ElementProgram view = view_of(p, index);
  EXPECT_EQ(view.body.steps, p.steps.data());
  EXPECT_EQ(view.body.results, p.results.data());
  EXPECT_EQ(view.body.bool_inputs, 1u);
  EXPECT_EQ(view.body.bool_uniforms, 2u);
  EXPECT_EQ(view.body.n_steps, 2);
  EXPECT_EQ(view.body.n_registers, 5);
  EXPECT_EQ(view.body.n_inputs, 2);
  EXPECT_EQ(view.body.n_uniforms, 2);
  EXPECT_EQ(view.body.n_results, 2);
  EXPECT_EQ(view.constants, p.constants.data());
  EXPECT_EQ(view.uniform_steps, p.uniform_steps.data());
  EXPECT_EQ(view.uniforms, p.uniforms.data());
  EXPECT_EQ(view.scalar_index, index);
  EXPECT_EQ(view.n_scalars, 1);
  EXPECT_EQ(view.n_constants, 1);
  EXPECT_EQ(view.n_uniform_steps, 1);
}

TEST(ViewOf, WhatIsEmptyIsNull) {
  const ElementProgram view = view_of(lang::Program());
  EXPECT_EQ(view.body.steps, nullptr);
  EXPECT_EQ(view.constants, nullptr);
  EXPECT_EQ(view.body.n_results, 0);
}

}  // namespace
}  // namespace sy
