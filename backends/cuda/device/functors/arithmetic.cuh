#pragma once

#include "functors/primitive.cuh"

namespace sy::cuda::functors {

// The text has it as a function of the host, as nvcc sees it.
#define Nextafter NextafterOnHost
#include "aten/program/functors/arithmetic.inc"
#undef Nextafter
struct Nextafter {
  template <class T>
  static SY_FN_FREE T f(T a, T b) {
    return std::nextafter(a, b);
  }
};

}  // namespace sy::cuda::functors

#define SY_FUNCTOR(p, t, F) SY_PRIMITIVE(p, t, F)
#define SY_LIST_ARITHMETIC
#include "aten/program/functors/list.inc"
