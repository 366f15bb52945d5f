#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/program/program.h"
#include "c10/macros.h"

// Kernels on contiguous runs of elements, one per primitive and compute type,
// compiled for several instruction sets; the first look-up chooses. Every
// function here is safe to call from several threads at once, set_isa apart,
// and none throws or allocates.

namespace sy::tiles {

using program::compute_type_of;
using program::compute_type_size;
using program::ComputeType;
using program::kNumComputeTypes;
using program::storage_of;

// dst[i] = prim(a[i], b[i], c[i]) for i < n. Operands beyond the primitive's
// arity may be null. Bit k of uniform_mask: operand k is one element, read for
// every i. dst may be an operand; else they do not overlap.
using PrimFn = void (*)(void* dst, const void* a, const void* b, const void* c,
                        uint32_t uniform_mask, int64_t n);
// nullptr where the primitive's domain leaves the type out.
SY_API PrimFn prim_fn(lang::Prim prim, ComputeType type) noexcept;

// dst[i] = T(src[i]), as PyTorch converts on x86: floats to integers truncate
// (modulo 2^n where they do not fit int32, for int64 and uint8 int64), anything
// to bool is x != 0, to Half and BFloat16 rounds to nearest even and keeps NaN.
// dst may be src where both types have one size; else they do not overlap.
using ConvertFn = void (*)(void* dst, const void* src, int64_t n);
// Also for from == to, a copy. nullptr for Undefined.
SY_API ConvertFn convert_fn(ScalarType from, ScalarType to) noexcept;

// Gathers n elements of 1, 2, 4 or 8 bytes at any stride (in bytes) to
// contiguous memory, and back.
SY_API void load_strided(size_t element_size, void* dst, const void* src,
                         int64_t stride, int64_t n) noexcept;
SY_API void store_strided(size_t element_size, void* dst, int64_t stride,
                          const void* src, int64_t n) noexcept;

enum class Reduction : uint8_t { sum, prod, max, min, any, all };
inline constexpr int kNumReductions = 6;

// Sums and products of integers accumulate in i64, of floats in f64; any and
// all in b8; max and min in the type itself.
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

// *acc = combine(*acc, x[0], …, x[n-1]); *acc is of accumulator_type, and for
// max and min a value, not empty. Floats are summed as a tree within blocks:
// the error is that of pairwise summation or less, the result is the same on
// every instruction set. max and min propagate NaN; any and all test x != 0.
using ReduceFn = void (*)(void* acc, const void* x, int64_t n);
SY_API ReduceFn reduce_fn(Reduction r, ComputeType type) noexcept;

// The same down the columns of a matrix: acc[j] = combine(acc[j], x[0][j], …,
// x[rows-1][j]) for j < n, its rows row_stride bytes apart. Reads each row once
// from left to right, a few rows side by side.
using ReduceRowsFn = void (*)(void* acc, const void* x, int64_t row_stride,
                              int64_t rows, int64_t n);
SY_API ReduceRowsFn reduce_rows_fn(Reduction r, ComputeType type) noexcept;

// The place of the first of x[0], …, x[n-1] that equals *v, or is NaN if *v is;
// n if none does. All types but b8.
using FindFn = int64_t (*)(const void* x, int64_t n, const void* v);
SY_API FindFn find_fn(ComputeType type) noexcept;

// Down the columns of a matrix: where row r has a larger element than best[j]
// (a smaller one, if not `max`), or the first NaN, best[j] becomes it and
// place[j] becomes r, for r = first, …, first + rows - 1. All types but b8.
using ChooseRowsFn = void (*)(void* best, int32_t* place, const void* x,
                              int64_t row_stride, int32_t first, int32_t rows,
                              int64_t n);
SY_API ChooseRowsFn choose_rows_fn(bool max, ComputeType type) noexcept;

// The mean of x[0], …, x[n-1], n > 0, and the sum of squared distances from it,
// in two passes. The same on every instruction set. f32 and f64.
using MomentsFn = void (*)(double* mean, double* m2, const void* x, int64_t n);
SY_API MomentsFn moments_fn(ComputeType type) noexcept;

// The same down the columns of a matrix, by Welford's update: mean[j] and m2[j]
// are of `seen` rows above and are updated by `rows` more.
using MomentsRowsFn = void (*)(double* mean, double* m2, const void* x,
                               int64_t row_stride, int64_t seen, int64_t rows,
                               int64_t n);
SY_API MomentsRowsFn moments_rows_fn(ComputeType type) noexcept;

// dst[c][r] = src[r][c] for elements of 1, 2, 4 or 8 bytes; strides in bytes
// are those of the rows, columns lie close together. No overlap. Best called
// on tiles of at most some hundred rows and columns.
SY_API void transpose(size_t element_size, void* dst, int64_t dst_stride,
                      const void* src, int64_t src_stride, int64_t rows,
                      int64_t cols) noexcept;

// memcpy past the caches, for results too large to be read from them again.
// Another thread may read them after stream_fence() on this one.
SY_API void stream_copy(void* dst, const void* src, size_t bytes) noexcept;
SY_API void stream_fence() noexcept;
// From how many bytes of result on that is the faster way: what stays in the
// last cache until it is read again should be written to it.
inline constexpr int64_t kStreamBytes = int64_t{32} << 20;

// Whether a kernel divided an integer by zero on this thread since the last
// call. Such elements are 0. A parallel engine asks on every worker.
SY_API bool take_error() noexcept;

// The instruction sets kernels are compiled for; the best that the CPU has is
// used. SY_ISA=sse4|avx2|avx512 in the environment sets an upper limit.
enum class Isa : uint8_t { sse4, avx2, avx512 };
SY_API Isa active_isa() noexcept;
// For tests: false, and no change, if the CPU lacks it. Not while kernels run;
// function pointers got before keep their instruction set.
SY_API bool set_isa(Isa isa) noexcept;

}  // namespace sy::tiles
