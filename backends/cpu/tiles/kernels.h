#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/program/program.h"
#include "c10/macros.h"

// Kernels on contiguous runs of elements, one per primitive and compute type.
// They are compiled for several instruction sets, and the first look-up chooses
// one. All functions here are thread-safe except set_isa. None throws or
// allocates.

namespace sy::cpu::tiles {

using program::compute_type_of;
using program::compute_type_size;
using program::ComputeType;
using program::kNumComputeTypes;
using program::storage_of;

// dst[i] = prim(a[i], b[i], c[i]) for i < n. Operands beyond the primitive's
// arity may be null. Bit k of uniform_mask: operand k is one element, read for
// every i. dst may be an operand; otherwise they must not overlap.
using PrimFn = void (*)(void* dst, const void* a, const void* b, const void* c,
                        uint32_t uniform_mask, int64_t n);
// nullptr if the type is outside the domain of the primitive.
SY_API PrimFn prim_fn(lang::Prim prim, ComputeType type) noexcept;

// dst[i] = T(src[i]), as PyTorch converts on x86. Floats to integers truncate
// to int32, which then wraps to narrower types. To int64, and from double to
// uint8, they truncate to int64. A float that does not fit there gives the
// least value of int32 or int64. Anything to bool is x != 0. Half and BFloat16
// round to nearest even and keep NaN. dst may be src if both types have one
// size; otherwise they must not overlap.
using ConvertFn = void (*)(void* dst, const void* src, int64_t n);
// For from == to it is a copy. nullptr for Undefined.
SY_API ConvertFn convert_fn(ScalarType from, ScalarType to) noexcept;

// Gathers n elements of 1, 2, 4 or 8 bytes from memory with any stride (in
// bytes) to contiguous memory. store_strided() does the reverse.
SY_API void load_strided(size_t element_size, void* dst, const void* src,
                         int64_t stride, int64_t n) noexcept;
SY_API void store_strided(size_t element_size, void* dst, int64_t stride,
                          const void* src, int64_t n) noexcept;

enum class Reduction : uint8_t { sum, prod, max, min, any, all };
inline constexpr int kNumReductions = 6;

// The accumulators of sums and products are i64 for integers and f64 for
// floats, those of any and all are b8. max and min accumulate in the type
// itself.
constexpr ComputeType accumulator_type(Reduction r, ComputeType t) {
  switch (r) {
    case Reduction::sum:
    case Reduction::prod:
      return t == ComputeType::f32 || t == ComputeType::f64 ? ComputeType::f64
                                                            : ComputeType::i64;
    case Reduction::any:
    case Reduction::all: return ComputeType::b8;
    default: return t;
  }
}

// *acc = combine(*acc, x[0], …, x[n-1]). *acc has the accumulator_type; for max
// and min it must hold a value. Floats are summed as a tree within blocks: the
// error is at most that of pairwise summation, and the result is the same on
// every instruction set. max and min propagate NaN; any and all test x != 0.
using ReduceFn = void (*)(void* acc, const void* x, int64_t n);
SY_API ReduceFn reduce_fn(Reduction r, ComputeType type) noexcept;

// The same down the columns of a matrix: acc[j] = combine(acc[j], x[0][j], …,
// x[rows-1][j]) for j < n. Rows are row_stride bytes apart. Each row is read
// once from left to right, a few rows side by side.
using ReduceRowsFn = void (*)(void* acc, const void* x, int64_t row_stride,
                              int64_t rows, int64_t n);
SY_API ReduceRowsFn reduce_rows_fn(Reduction r, ComputeType type) noexcept;

// The place of the first of x[0], …, x[n-1] that equals *v, or that is NaN if
// *v is. n if there is none. For all types but b8.
using FindFn = int64_t (*)(const void* x, int64_t n, const void* v);
SY_API FindFn find_fn(ComputeType type) noexcept;

// Down the columns of a matrix, for r = first, …, first + rows - 1: if row r
// has a larger element than best[j] (a smaller one, if not `max`), or the first
// NaN, best[j] becomes that element and place[j] becomes r. For all types but
// b8.
using ChooseRowsFn = void (*)(void* best, int32_t* place, const void* x,
                              int64_t row_stride, int32_t first, int32_t rows,
                              int64_t n);
SY_API ChooseRowsFn choose_rows_fn(bool max, ComputeType type) noexcept;

// The mean of x[0], …, x[n-1], n > 0, and the sum of squared distances from it,
// in two passes. The same on every instruction set. For f32 and f64.
using MomentsFn = void (*)(double* mean, double* m2, const void* x, int64_t n);
SY_API MomentsFn moments_fn(ComputeType type) noexcept;

// The same down the columns of a matrix, by Welford's update. mean[j] and m2[j]
// are those of the `seen` rows above, and take in `rows` more.
using MomentsRowsFn = void (*)(double* mean, double* m2, const void* x,
                               int64_t row_stride, int64_t seen, int64_t rows,
                               int64_t n);
SY_API MomentsRowsFn moments_rows_fn(ComputeType type) noexcept;

// dst[c][r] = src[r][c] for elements of 1, 2, 4 or 8 bytes. Strides are the
// distances of rows in bytes; a row is contiguous. No overlap. It is best for
// tiles of at most some hundred rows and columns.
SY_API void transpose(size_t element_size, void* dst, int64_t dst_stride,
                      const void* src, int64_t src_stride, int64_t rows,
                      int64_t cols) noexcept;

// memcpy past the caches, for results that are too large to be read from them
// again. Another thread may read them after stream_fence() on this one.
SY_API void stream_copy(void* dst, const void* src, size_t bytes) noexcept;
SY_API void stream_fence() noexcept;
// The fewest bytes of result for which that is faster. A smaller result should
// go to the last-level cache, where it stays until it is read again.
inline constexpr int64_t kStreamBytes = int64_t{32} << 20;

// Whether a kernel divided an integer by zero on this thread since the last
// call. The result of such a division is 0. A parallel engine asks on every
// worker.
SY_API bool take_error() noexcept;

// The instruction sets that kernels are compiled for. The best that the CPU has
// is used. SY_ISA=sse4|avx2|avx512 in the environment sets an upper limit.
enum class Isa : uint8_t { sse4, avx2, avx512 };
SY_API Isa active_isa() noexcept;
// For tests. Returns false, and changes nothing, if the CPU lacks it. No kernel
// may run meanwhile. Function pointers from before keep their instruction set.
SY_API bool set_isa(Isa isa) noexcept;

}  // namespace sy::cpu::tiles
