#pragma once

#include "aten/program/compute_type.h"
#include "lang/primitives.h"

// A second reader of functors/list.inc: every functor as a plain function of
// one element. The interpreter's kernels must give the same.

namespace sy::cpu::tiles::testing {

struct ScalarFunctor {
  lang::Prim prim;
  program::ComputeType type;
  bool is_special;  // one of the special functions, some of which are slow
  void (*run)(void* dst, const void* const* operands);
};

struct ScalarFunctors {
  const ScalarFunctor* first;
  int count;
};
// The functors without and with fused products and sums, and those that have
// code of their own for AVX-512, as that code. Only machines with AVX-512 may
// call the last.
ScalarFunctors plain_functors();
ScalarFunctors fused_functors();
ScalarFunctors avx512_functors();

}  // namespace sy::cpu::tiles::testing
