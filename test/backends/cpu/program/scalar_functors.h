#pragma once

#include "aten/program/compute_type.h"
#include "lang/primitives.h"

// A second reader of functors/list.inc: every functor as a plain function of
// one element. The interpreter's kernels must give the same.

namespace sy::tiles::testing {

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
// Without and with fused products and sums; those that have code of their own
// for AVX-512, as that code. The last may be called on such machines alone.
ScalarFunctors plain_functors();
ScalarFunctors fused_functors();
ScalarFunctors avx512_functors();

}  // namespace sy::tiles::testing
