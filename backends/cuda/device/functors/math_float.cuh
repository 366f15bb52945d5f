#pragma once

#include "functors/math64.cuh"

namespace sy::cuda::functors {
#include "aten/program/functors/math_float.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_MATH_FLOAT
#include "aten/program/functors/list.inc"
