#pragma once

#include "functors/math64.cuh"

namespace sy::cuda::functors {
#include "backends/cpu/program/functors/math_double.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_MATH_DOUBLE
#include "backends/cpu/program/functors/list.inc"
