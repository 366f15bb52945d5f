#pragma once

#include "functors/math64.cuh"

namespace sy::cuda::functors {
#include "backends/cpu/program/functors/power.inc"
}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_POWER
#include "backends/cpu/program/functors/list.inc"
