#pragma once

#include "functors/arithmetic.cuh"
#include "functors/compare.cuh"

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_COPIES
#include "aten/program/functors/list.inc"
