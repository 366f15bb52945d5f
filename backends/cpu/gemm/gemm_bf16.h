#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/support/cpu_features.h"
#include "c10/half.h"

// Products of bfloat16 matrices in memory at any strides, on machines that
// multiply pairs of them (AVX512_BF16): twice as many in a cycle as of float.
// gemm_bf16.cpp cuts them into blocks, gemm_bf16_kernel.cpp multiplies those.

namespace sy::cpu {

// c = alpha * a b + beta * c, or + bias[j] in column j where there is one;
// added up as float and rounded once. All strides in elements; columns of c lie
// close together. With beta 0, c is not read. No overlap of c with the others.
struct GemmBf16 {
  int64_t m, n, k;
  const BFloat16* a;
  int64_t a_row, a_col;
  const BFloat16* b;
  int64_t b_row, b_col;
  void* c;  // of BFloat16, or of float
  int64_t c_row;
  bool c_is_float = false;
  float alpha = 1;
  float beta = 0;
  const BFloat16* bias = nullptr;
  // Memory of bf16_packed_bytes() for b in the layout that is multiplied,
  // aligned to 64 bytes. It is written, or read if it holds b already. nullptr:
  // b is not kept.
  void* packed = nullptr;
  bool is_packed = false;
};
int64_t bf16_packed_bytes(int64_t k, int64_t n);
// Whether a product packs b: with few rows it is read as it lies.
bool packs_bf16(const GemmBf16& g);

// Only where has_bf16_products(). Subnormal elements count as 0. Throws nothing
// but OutOfMemoryError. Results do not depend on the number of threads.
void gemm(const GemmBf16& g);

namespace detail {

// Columns of b in a panel: pairs of rows, of each the pairs of all columns; 0
// where b ends.
constexpr int64_t kBf16Panel = 32;
// Rows of a that are multiplied at a time.
constexpr int64_t kBf16Rows = 12;
inline int64_t bf16_panel_bytes(int64_t k) {
  return (k + 1) / 2 * kBf16Panel * 4;
}

// Rows [row, row + depth) of up to 32 columns from `col` on as a panel.
void pack_bf16_panel(const GemmBf16& g, int64_t row, int64_t depth, int64_t col,
                     int64_t width, void* to);

// Rows of a times one panel, or times rows of b that lie as they are.
struct Bf16Block {
  int64_t rows, k;
  int64_t width;  // columns, at most 32
  const BFloat16* a;
  int64_t a_row;  // columns of a lie close together
  const void* panel;
  const BFloat16* b;  // instead of a panel
  int64_t b_row;
  float* partial;  // sums of the depths before: read unless `first`, written
  int64_t partial_row;  // unless `last`
  bool first, last;
  // Where it is the last: as in GemmBf16, from this block on.
  void* c;
  int64_t c_row;
  bool c_is_float;
  float alpha, beta;
  const BFloat16* bias;
};
void multiply_bf16_block(const Bf16Block& block);

// c as in GemmBf16 for few rows of a (a_col == 1) and columns of b that lie
// close together (b_row == 1): of columns [begin, end).
void multiply_bf16_dots(const GemmBf16& g, int64_t begin, int64_t end);

}  // namespace detail

}  // namespace sy::cpu
