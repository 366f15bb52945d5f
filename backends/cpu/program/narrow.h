#pragma once

#include "backends/cpu/program/kernels.h"

// Kernels that read, or read and write, Half or BFloat16 and compute in float:
// the same results as converting, computing and converting back, without
// passing by memory. nullptr where there is none.

namespace sy::tiles {

// prim on elements of `narrow` throughout, or with operand `float_operand`, if
// not negative, floats.
PrimFn narrow_prim_fn(lang::Prim prim, ScalarType narrow,
                      int float_operand) noexcept;

// Those of ComputeType::f32, reading `narrow`.
SY_API ReduceFn narrow_reduce_fn(Reduction r, ScalarType narrow) noexcept;
SY_API ReduceRowsFn narrow_reduce_rows_fn(Reduction r,
                                          ScalarType narrow) noexcept;

}  // namespace sy::tiles
