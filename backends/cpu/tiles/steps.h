#pragma once

#include <string_view>

#include "backends/cpu/tiles/runner.h"
#include "c10/process/error.h"

// Shared by both ways of running a program.

namespace sy::cpu::tiles {

inline PrimFn kernel(lang::Prim p, ComputeType type) {
  const PrimFn fn = prim_fn(p, type);
  SY_INTERNAL_ASSERT(
      fn != nullptr, "element program: {} has no kernel for compute type {}",
      p < lang::Prim::kCount ? lang::kPrims[static_cast<int>(p)].name
                             : std::string_view("a step"),
      static_cast<int>(type));
  return fn;
}

inline void check_limits(const Program& p) {
  SY_INTERNAL_ASSERT(program::within_limits(p),
                     "element program: too many registers or operands");
}

}  // namespace sy::cpu::tiles
