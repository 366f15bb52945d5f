#pragma once

#include "functors/primitive.cuh"

namespace sy::cuda::functors {
#include "backends/cpu/program/functors/compare.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_COMPARE
#include "backends/cpu/program/functors/list.inc"
