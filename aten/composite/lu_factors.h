#pragma once

#include <tuple>

#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/lu.h"
#include "aten/ops/math.h"
#include "aten/ops/view.h"

namespace sy::composite {

// The LU factors of A. If A is contiguous they are the factors of its
// transpose, which then is column-major. ATen gives the same factors to its
// callers.
struct LuFactors {
  bool transposed;
  Tensor LU, pivots, info;

  explicit LuFactors(const Tensor& A) : transposed(A.is_contiguous()) {
    std::tie(LU, pivots, info) =
        sy::linalg_lu_factor_ex(transposed ? A.mT() : A);
  }
  Tensor diagonal() const { return LU.diagonal(0, -2, -1); }
  // 1, or -1 for an odd number of row exchanges.
  Tensor sign() const {
    const Tensor own = sy::arange(1, pivots.size(-1) + 1, pivots.options());
    const Tensor exchanges = pivots.ne(own).sum({-1}).to(LU.scalar_type());
    return 1 - sy::fmod(exchanges, 2) * 2;
  }
};

}  // namespace sy::composite
