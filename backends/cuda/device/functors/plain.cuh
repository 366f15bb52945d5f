#pragma once

#include "functors/arithmetic.cuh"
#include "functors/integer.cuh"
#include "functors/math_double.cuh"

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_PLAIN
#include "aten/program/functors/list.inc"
