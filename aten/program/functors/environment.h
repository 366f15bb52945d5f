#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

// Note [Scalar functors]
// A primitive on elements is a functor: a struct with `static R f(A...)`, free
// of branches if possible. The fast code of a functor may not hold for all
// arguments. Such a functor also has `special(A...)`, which is true for the
// other arguments, and `slow(A...)`, which computes them. A functor may have
// the same for a vector, `v(x)`, if an instruction set has something that no
// C++ expression turns into. Its results are those of f, bit by bit. kCostly
// says that a functor takes much longer than reading and writing. Bools are
// bytes, 0 or 1.
//
// The files beside this one are text for whoever compiles it: the interpreter
// of programs, tests, a compiler at run time, a printer of device code. They
// include lang/primitives.inc at most, are in no namespace and have no guard.
// Include each once for a target, inside a namespace, after this header and the
// macros
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
