#pragma once

#include "backends/cpu/tiles/compiled.h"
#include "backends/cpu/tiles/kernels.h"

// How the sources of kernels meet. Each fills its part of the table for one
// instruction set.

namespace sy::cpu::tiles {

using TransposeFn = void (*)(void* dst, int64_t dst_stride, const void* src,
                             int64_t src_stride, int64_t rows, int64_t cols);

struct KernelTable {
  PrimFn prims[static_cast<int>(lang::Prim::kCount)][kNumComputeTypes];
  ConvertFn converts[kNumScalarTypes][kNumScalarTypes];
  ReduceFn reduces[kNumReductions][kNumComputeTypes];
  ReduceRowsFn reduce_rows[kNumReductions][kNumComputeTypes];
  FindFn finds[kNumComputeTypes];
  ChooseRowsFn choose_rows[2]
                          [kNumComputeTypes];  // of the smallest, the largest
  MomentsFn moments[kNumComputeTypes];
  MomentsRowsFn moments_rows[kNumComputeTypes];
  TransposeFn transposes[4];  // of 1, 2, 4 and 8 bytes
  // For Half and BFloat16: all operands are narrow, or the first or the second
  // is float.
  PrimFn narrow_prims[static_cast<int>(lang::Prim::kCount)][2][3];
  PrimFn compiled[program::kNumCompiled][2];                   // of f32, of f64
  ReduceFn mapped_reduces[kNumReduceMaps][kNumReductions][2];  // alike
  ReduceFn narrow_reduces[kNumReductions][2];
  ReduceRowsFn narrow_reduce_rows[kNumReductions][2];

  PrimFn& at(lang::Prim p, ComputeType t) {
    return prims[static_cast<int>(p)][static_cast<int>(t)];
  }
  static constexpr int narrow_index(ScalarType t) {
    return t == ScalarType::Half ? 0 : 1;
  }
  PrimFn* narrow(lang::Prim p, ScalarType t) {
    return narrow_prims[static_cast<int>(p)][narrow_index(t)];
  }
};

// The C++ type of a register's elements.
template <ComputeType>
struct ElementOfType;
#define SY_TILE_ELEMENT(name, T)            \
  template <>                               \
  struct ElementOfType<ComputeType::name> { \
    using type = T;                         \
  };
SY_TILE_ELEMENT(f32, float)
SY_TILE_ELEMENT(f64, double)
SY_TILE_ELEMENT(u8, uint8_t)
SY_TILE_ELEMENT(i8, int8_t)
SY_TILE_ELEMENT(i16, int16_t)
SY_TILE_ELEMENT(i32, int32_t)
SY_TILE_ELEMENT(i64, int64_t)
SY_TILE_ELEMENT(b8, uint8_t)
#undef SY_TILE_ELEMENT
template <ComputeType type>
using ElementOf = typename ElementOfType<type>::type;

void fill_arithmetic(Isa isa, KernelTable& table);
void fill_compare(Isa isa, KernelTable& table);
void fill_compiled(Isa isa, KernelTable& table);
void fill_integer(Isa isa, KernelTable& table);
void fill_division(Isa isa, KernelTable& table);
void fill_power(Isa isa, KernelTable& table);
void fill_math_float(Isa isa, KernelTable& table);
void fill_math_double(Isa isa, KernelTable& table);
void fill_plain(KernelTable& table);
void fill_convert(Isa isa, KernelTable& table);
void fill_reduce(Isa isa, KernelTable& table);
void fill_choose(Isa isa, KernelTable& table);
void fill_moments(Isa isa, KernelTable& table);
void fill_transpose(Isa isa, KernelTable& table);

// Sets the flag that take_error() reads.
void set_error() noexcept;

// Kernels work on blocks of `block` elements. drive(), of loop.inc, cuts a run
// into blocks, spreads uniform operands over a block and pads the last one.
struct BlockLayout {
  uint8_t block;
  uint8_t dst;         // sizes of the elements
  uint8_t operand[3];  // 0: there is none
};
// step[k]: the elements from one block of operand k to the next, `block` or 0.
using BlockFn = void (*)(void* dst, const void* const* operands,
                         const int64_t* steps, int64_t n_blocks);

}  // namespace sy::cpu::tiles
