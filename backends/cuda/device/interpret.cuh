#pragma once

#include "functors/arithmetic.cuh"
#include "functors/compare.cuh"
#include "functors/copies.cuh"
#include "functors/division.cuh"
#include "functors/integer.cuh"
#include "functors/math_double.cuh"
#include "functors/math_float.cuh"
#include "functors/plain.cuh"
#include "functors/power.cuh"
#include "number.cuh"
#if SY_SPECIAL
#include "functors/special.cuh"
#endif

// One step of any program, for kernels that interpret programs. A source that
// includes this is compiled with SY_TYPE_f32 defined, or the same of another
// compute type, and with SY_SPECIAL: 1 if it is to know special functions too,
// which take the compiler long.

// The lines of the list of functors that are of the type become steps.
#ifdef SY_TYPE_f32
#define SY_TYPE f32
#define SY_STEP_f32 SY_STEP
#else
#define SY_STEP_f32(primitive, functor)
#endif
#ifdef SY_TYPE_f64
#define SY_TYPE f64
#define SY_STEP_f64 SY_STEP
#else
#define SY_STEP_f64(primitive, functor)
#endif
#ifdef SY_TYPE_u8
#define SY_TYPE u8
#define SY_STEP_u8 SY_STEP
#else
#define SY_STEP_u8(primitive, functor)
#endif
#ifdef SY_TYPE_i8
#define SY_TYPE i8
#define SY_STEP_i8 SY_STEP
#else
#define SY_STEP_i8(primitive, functor)
#endif
#ifdef SY_TYPE_i16
#define SY_TYPE i16
#define SY_STEP_i16 SY_STEP
#else
#define SY_STEP_i16(primitive, functor)
#endif
#ifdef SY_TYPE_i32
#define SY_TYPE i32
#define SY_STEP_i32 SY_STEP
#else
#define SY_STEP_i32(primitive, functor)
#endif
#ifdef SY_TYPE_i64
#define SY_TYPE i64
#define SY_STEP_i64 SY_STEP
#else
#define SY_STEP_i64(primitive, functor)
#endif
#ifdef SY_TYPE_b8
#define SY_TYPE b8
#define SY_STEP_b8 SY_STEP
#else
#define SY_STEP_b8(primitive, functor)
#endif

namespace sy::cuda {

enum class Prim : uint8_t {
#define SY_PRIM(name, ...) name,
#include "lang/primitives.inc"
};
// The types of lang/primitives.h.
enum class PrimType { T_T, TT_T, TTT_T, T_B, TT_B, B_B, BB_B, BTT_T, B_T };

SY_FN constexpr PrimType type_of(Prim p) {
  constexpr PrimType kTypes[] = {
#define SY_PRIM(name, type, ...) PrimType::type,
#include "lang/primitives.inc"
  };
  return kTypes[static_cast<int>(p)];
}
SY_FN constexpr bool is_division(Prim p) {
  return p == Prim::trunc_div || p == Prim::floor_div || p == Prim::fmod ||
         p == Prim::remainder;
}

namespace stepped {
using f32 = float;
using f64 = double;
using u8 = uint8_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using b8 = bool8;
}  // namespace stepped
// The C++ type of registers.
using Stepped = stepped::SY_TYPE;

template <Prim kPrim, class F>
__device__ __forceinline__ Number apply_step(Number a, Number b, Number c,
                                             int& divided) {
  using T = Stepped;
  using functors::one;
  constexpr PrimType kType = type_of(kPrim);
  const T x = static_cast<T>(a.SY_TYPE), y = static_cast<T>(b.SY_TYPE),
          z = static_cast<T>(c.SY_TYPE);
  Number r;
  r.i64 = 0;
  if constexpr (is_division(kPrim) && T(0.5) == T(0)) {
    if (y == 0) divided = 1;
    r.SY_TYPE = F::slow(x, y);
  } else if constexpr (kType == PrimType::T_T) {
    r.SY_TYPE = one<F>(x);
  } else if constexpr (kType == PrimType::TT_T) {
    r.SY_TYPE = one<F>(x, y);
  } else if constexpr (kType == PrimType::TTT_T) {
    r.SY_TYPE = one<F>(x, y, z);
  } else if constexpr (kType == PrimType::T_B) {
    r.b8 = one<F>(x);
  } else if constexpr (kType == PrimType::TT_B) {
    r.b8 = one<F>(x, y);
  } else if constexpr (kType == PrimType::B_B) {
    r.b8 = one<F>(a.b8);
  } else if constexpr (kType == PrimType::BB_B) {
    r.b8 = one<F>(a.b8, b.b8);
  } else if constexpr (kType == PrimType::BTT_T) {
    r.SY_TYPE = one<F>(a.b8, y, z);
  } else {
    r.SY_TYPE = one<F>(a.b8);
  }
  return r;
}

// The result of a step on registers; those beyond its arity are not read.
// `divided` becomes 1 where an integer is divided by 0.
__device__ __noinline__ Number run_step(Prim op, Number a, Number b, Number c,
                                        int& divided) {
  using namespace functors;
#define SY_STEP(primitive, functor) \
  case Prim::primitive:             \
    return apply_step<Prim::primitive, functor>(a, b, c, divided);
#define SY_FUNCTOR(primitive, type, functor) SY_STEP_##type(primitive, functor)
  switch (op) {
#define SY_LIST_ARITHMETIC
#define SY_LIST_COMPARE
#define SY_LIST_COPIES
#define SY_LIST_DIVISION
#define SY_LIST_INTEGER
#define SY_LIST_MATH_DOUBLE
#define SY_LIST_MATH_FLOAT
#define SY_LIST_PLAIN
#define SY_LIST_POWER
#if SY_SPECIAL
#define SY_LIST_SPECIAL
#endif
#include "aten/program/functors/list.inc"
    default: return a;
  }
#undef SY_STEP
}

}  // namespace sy::cuda
