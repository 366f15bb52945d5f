#pragma once

#include "functors/primitive.cuh"

// The parts that the elementary functions of both float types are made of.

namespace sy::cuda::functors {
#include "aten/program/functors/math64.inc"
}  // namespace sy::cuda::functors
