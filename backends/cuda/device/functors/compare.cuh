#pragma once

#include "functors/primitive.cuh"

namespace sy::cuda::functors {
#include "aten/program/functors/compare.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_COMPARE
#include "aten/program/functors/list.inc"
