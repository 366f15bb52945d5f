#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/support/cpu_features.h"
#include "c10/tensor/half.h"

// Products of bfloat16 matrices in memory at any strides, on machines that
// multiply pairs of bfloat16 (AVX512_BF16), twice as many per cycle as float.
// gemm_bf16.cpp cuts them into blocks, and gemm_bf16_kernel.cpp multiplies the
// blocks.

namespace sy::cpu {

// c = alpha * a b + beta * c or, with a bias, c = alpha * a b + bias[j] in
// column j. Sums are float and rounded once. All strides are in elements; rows
// of c are contiguous. With beta 0, c is not read. c must not overlap the
// others.
struct GemmBf16 {
  int64_t m, n, k;
  const BFloat16* a;
  int64_t a_row, a_col;
  const BFloat16* b;
  int64_t b_row, b_col;
  void* c;  // BFloat16 or float
  int64_t c_row;
  bool c_is_float = false;
  float alpha = 1;
  float beta = 0;
  const BFloat16* bias = nullptr;
  // bf16_packed_bytes() of memory for b in its packed layout, aligned to 64
  // bytes. If is_packed, the memory holds b already; else the product fills it.
  // nullptr: the packed b is not kept.
  void* packed = nullptr;
  bool is_packed = false;
};
int64_t bf16_packed_bytes(int64_t k, int64_t n);
// Whether a product packs b. A product with few rows reads b as it lies.
bool packs_bf16(const GemmBf16& g);

// Only for has_bf16_products(). Subnormal elements count as 0. Throws only
// OutOfMemoryError. Results do not depend on the number of threads.
void gemm(const GemmBf16& g);

namespace detail {

// How many columns of b are in a panel. A panel has pairs of rows, and for each
// the pairs of all columns. It is 0 beyond the end of b.
constexpr int64_t kBf16Panel = 32;
// How many rows of a are multiplied at a time.
constexpr int64_t kBf16Rows = 12;
inline int64_t bf16_panel_bytes(int64_t k) {
  return (k + 1) / 2 * kBf16Panel * 4;
}

// Packs rows [row, row + depth) of up to 32 columns from `col` on into a panel.
void pack_bf16_panel(const GemmBf16& g, int64_t row, int64_t depth, int64_t col,
                     int64_t width, void* to);

// Multiplies rows of a by one panel, or by rows of b as they lie.
struct Bf16Block {
  int64_t rows, k;
  int64_t width;  // columns, at most 32
  const BFloat16* a;
  int64_t a_row;  // rows of a are contiguous
  const void* panel;
  const BFloat16* b;  // instead of a panel
  int64_t b_row;
  // The sums of the depths before. Read unless `first`, written unless `last`.
  float* partial;
  int64_t partial_row;
  bool first, last;
  // For the last block: as in GemmBf16, from this block on.
  void* c;
  int64_t c_row;
  bool c_is_float;
  float alpha, beta;
  const BFloat16* bias;
};
void multiply_bf16_block(const Bf16Block& block);

// c as in GemmBf16, for few rows of a (a_col == 1) and contiguous columns of b
// (b_row == 1). Computes the columns [begin, end).
void multiply_bf16_dots(const GemmBf16& g, int64_t begin, int64_t end);

}  // namespace detail

}  // namespace sy::cpu
