#pragma once

#include "functors/primitive.cuh"

namespace sy::cuda::functors {
#include "backends/cpu/program/functors/integer.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_INTEGER
#include "backends/cpu/program/functors/list.inc"
