#pragma once

#include "backends/cpu/tiles/kernels.h"

// Kernels that read, or read and write, Half or BFloat16 and compute in float.
// The results are the same as those of converting, computing and converting
// back, but nothing goes through memory. nullptr if there is none.

namespace sy::cpu::tiles {

// prim on elements of dtype `narrow`. Operand `float_operand` has floats if the
// number is not negative.
PrimFn narrow_prim_fn(lang::Prim prim, ScalarType narrow,
                      int float_operand) noexcept;

// The kernels of ComputeType::f32, for elements of dtype `narrow`.
SY_API ReduceFn narrow_reduce_fn(Reduction r, ScalarType narrow) noexcept;
SY_API ReduceRowsFn narrow_reduce_rows_fn(Reduction r,
                                          ScalarType narrow) noexcept;

}  // namespace sy::cpu::tiles
