#pragma once

#include "std.cuh"

// The functions that printed programs call: f32::add(a, b) is the primitive add
// on registers of float. The files beside this one define them, each from the
// functors of one file of aten/program/functors, by its list.
//
// They define SY_FUNCTOR for a single namespace, as list.inc asks: bools and
// bytes are one C++ type.

namespace sy::cuda::functors {

// Takes a functor's way for hard arguments where they are (Note [Scalar
// functors] in environment.h).
template <class F, class... A>
SY_FN auto one_of(int, A... a) -> decltype(F::special(a...), F::f(a...)) {
  if (F::special(a...)) return F::slow(a...);
  return F::f(a...);
}
template <class F, class... A>
SY_FN auto one_of(long, A... a) -> decltype(F::f(a...)) {
  return F::f(a...);
}
template <class F, class... A>
SY_FN auto one(A... a) {
  return one_of<F>(0, a...);
}

}  // namespace sy::cuda::functors

#define SY_PRIMITIVE(primitive, type, functor)           \
  namespace sy::cuda::type {                             \
  template <class... A>                                  \
  SY_FN auto primitive(A... a) {                         \
    return functors::one<functors::functor>(a...);       \
  }                                                      \
  }
