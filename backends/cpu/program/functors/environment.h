#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

// Note [Scalar functors]
// A primitive of elements is a functor: a struct with `static R f(A...)`, free
// of branches where it can be. A functor whose fast code does not hold for all
// arguments has `special(A...)`, true where it does not, and `slow(A...)`. One
// may have the same for a vector, `v(x)`, where an instruction set has
// something that no C++ expression turns into; its results are f's, to the bit.
// kCostly says that it takes much longer than reading and writing. Bools are
// bytes, 0 or 1.
//
// The files beside are text for whoever compiles it: the interpreter of
// programs, tests, a compiler at run time, a printer of device code. They
// include nothing, stand in no namespace and have no guard. Include each once
// for a target, inside a namespace, after this header and the macros
//
//   SY_FN        before a function that is always inlined
//   SY_FN_SLOW   before one that never is
//   SY_FN_FREE   before one that the compiler may inline
//   SY_FMA       1 where a fused product and sum is an instruction, else 0
//   SY_VECTORS   1 for `v` of AVX-512 by Highway, else 0
//
// list.inc says which functor is which primitive.

#ifndef SY_FN
#define SY_FN inline __attribute__((always_inline))
#define SY_FN_SLOW __attribute__((noinline))
#define SY_FN_FREE
#define SY_FMA 0
#define SY_VECTORS 0
#endif
