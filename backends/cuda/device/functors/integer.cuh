#pragma once

#include "functors/primitive.cuh"

namespace sy::cuda::functors {
#include "aten/program/functors/integer.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_INTEGER
#include "aten/program/functors/list.inc"
