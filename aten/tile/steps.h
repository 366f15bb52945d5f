#pragma once

#include <string_view>

#include "aten/tile/program.h"
#include "c10/error.h"

// What both ways of running a program ask of its steps.

namespace sy::tiles {

inline int arity_of(const Step& s) {
  return lang::arity(lang::kPrims[static_cast<int>(s.op)].type);
}

inline PrimFn kernel(lang::Prim p, TileType type) {
  const PrimFn fn = prim_fn(p, type);
  SY_INTERNAL_ASSERT(
      fn != nullptr, "tile program: ",
      p < lang::Prim::kCount ? lang::kPrims[static_cast<int>(p)].name
                             : std::string_view("a step"),
      " has no kernel for compute type ", static_cast<int>(type));
  return fn;
}

inline void check_limits(const Program& p) {
  SY_INTERNAL_ASSERT(p.n_registers <= 256 && p.n_inputs <= kMaxInputs &&
                         p.n_uniforms <= kMaxUniforms &&
                         p.n_results <= kMaxResults &&
                         p.n_inputs + p.n_uniforms <= p.n_registers,
                     "tile program: too many registers or operands");
}

}  // namespace sy::tiles
