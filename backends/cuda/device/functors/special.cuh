#pragma once

#include "functors/primitive.cuh"

// The special functions: see annotate.py. They are called, as they are long.

#define SY_FN_SPECIAL __device__ __noinline__

namespace sy::cuda::functors {

namespace special {
#include "functors/special_error.inc"
#include "functors/special_gamma.inc"
// The functions of polynomials call these.
#include "functors/special_bessel.inc"
#include "functors/special_polynomial.inc"
}  // namespace special

#include "aten/program/functors/special.inc"

}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_SPECIAL
#include "aten/program/functors/list.inc"
