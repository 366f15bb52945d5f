#pragma once

#include "functors/primitive.cuh"

namespace sy::cuda::functors {

// A shell has the variable that says it: see SY_DIVISION.
SY_FN void set_error() {}

#include "aten/program/functors/division.inc"

}  // namespace sy::cuda::functors

// Divisions of integers always take the functor's way for all arguments, since
// the machine divides integers and a double's division takes longer. `divided`
// becomes 1 where the divisor is 0.
#define SY_DIVISION(primitive, type, functor)                        \
  namespace sy::cuda::type {                                         \
  template <class T>                                                 \
  SY_FN T primitive(T a, T b, int& divided) {                        \
    if (b == 0) divided = 1;                                         \
    return functors::functor::slow(a, b);                            \
  }                                                                  \
  }
#define SY_DIVISION_f32 SY_PRIMITIVE
#define SY_DIVISION_f64 SY_PRIMITIVE
#define SY_DIVISION_u8 SY_DIVISION
#define SY_DIVISION_i8 SY_DIVISION
#define SY_DIVISION_i16 SY_DIVISION
#define SY_DIVISION_i32 SY_DIVISION
#define SY_DIVISION_i64 SY_DIVISION
#define SY_DIVISION_b8 SY_DIVISION
#define SY_FUNCTOR(p, t, F) SY_DIVISION_##t(p, t, F)
#define SY_LIST_DIVISION
#include "aten/program/functors/list.inc"
