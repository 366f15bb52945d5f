// The inner loops of gemm_bf16.cpp. VDPBF16PS adds the products of two pairs to
// a float; Highway 1.0.3 does not have it.

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/tiles/kernels.h"

#define SY_BF16_TARGET                                            \
  __attribute__((                                                 \
      target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma," \
             "avx2,bmi,bmi2")))

namespace sy::cpu {

namespace detail {

namespace {

constexpr int64_t kLanes = 16;

uint32_t pair_at(const BFloat16* p, int64_t step, bool both) {
  const uint32_t second = both ? p[step].bits : 0;
  return p[0].bits | second << 16;
}

SY_BF16_TARGET __mmask32 first_of_32(int64_t n) {
  return n >= 32 ? ~__mmask32{0} : (__mmask32{1} << n) - 1;
}
SY_BF16_TARGET __mmask16 first_of_16(int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1);
}

// Elements i of two rows as pair i: the first 16 pairs, and the others.
SY_BF16_TARGET inline __m512i low_pairs(__m512i row, __m512i next) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(row));
  const __m512i high = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(next));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}
SY_BF16_TARGET inline __m512i high_pairs(__m512i row, __m512i next) {
  return low_pairs(_mm512_castsi256_si512(_mm512_extracti64x4_epi64(row, 1)),
                   _mm512_castsi256_si512(_mm512_extracti64x4_epi64(next, 1)));
}

// `depth` rows that lie close together.
SY_BF16_TARGET void pack_rows(const BFloat16* from, int64_t row, int64_t depth,
                              int64_t width, uint32_t* to) {
  const __mmask32 mask = first_of_32(width);
  for (int64_t p = 0; p < depth; p += 2) {
    const __m512i a = _mm512_maskz_loadu_epi16(mask, from + p * row);
    const __m512i b = p + 1 < depth
                          ? _mm512_maskz_loadu_epi16(mask, from + (p + 1) * row)
                          : _mm512_setzero_si512();
    _mm512_storeu_si512(to, low_pairs(a, b));
    _mm512_storeu_si512(to + kLanes, high_pairs(a, b));
    to += kBf16Panel;
  }
}

// Stores sums in rows of c: scaled, with a bias, added to the elements there.
struct Output {
  const Bf16Block& x;

  SY_BF16_TARGET inline __m512 bias(int64_t col, __mmask16 mask) const {
    return x.bias == nullptr ? _mm512_setzero_ps() : load(x.bias + col, mask);
  }
  SY_BF16_TARGET static inline __m512 load(const BFloat16* p, __mmask16 mask) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, p)), 16));
  }
  SY_BF16_TARGET inline void store(__m512 sum, __m512 bias, int64_t row,
                                   int64_t col, __mmask16 mask) const {
    sum = _mm512_fmadd_ps(sum, _mm512_set1_ps(x.alpha), bias);
    const __m512 beta = _mm512_set1_ps(x.beta);
    if (x.c_is_float) {
      float* const to = static_cast<float*>(x.c) + row * x.c_row + col;
      if (x.beta != 0)
        sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, to), beta, sum);
      _mm512_mask_storeu_ps(to, mask, sum);
    } else {
      BFloat16* const to = static_cast<BFloat16*>(x.c) + row * x.c_row + col;
      if (x.beta != 0) sum = _mm512_fmadd_ps(load(to, mask), beta, sum);
      _mm256_mask_storeu_epi16(
          to, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sum)));
    }
  }
};

// acc += the products of a pair of columns of a (kBoth: else the last is
// single) and of rows of b.
template <int kRows, int kVecs, bool kPacked, bool kBoth>
SY_BF16_TARGET inline __attribute__((always_inline)) void step(
    const Bf16Block& x, const BFloat16* a, const char* panel, const BFloat16* b,
    __m512 (&acc)[kRows][kVecs]) {
  __m512bh pairs[kVecs];
  if constexpr (kPacked) {
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      pairs[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + v * 64));
    }
  } else {
    const __mmask32 columns = first_of_32(x.width);
    const __m512i first = _mm512_maskz_loadu_epi16(columns, b);
    const __m512i second = kBoth
                               ? _mm512_maskz_loadu_epi16(columns, b + x.b_row)
                               : _mm512_setzero_si512();
    pairs[0] = reinterpret_cast<__m512bh>(low_pairs(first, second));
    if constexpr (kVecs == 2) {
      pairs[1] = reinterpret_cast<__m512bh>(high_pairs(first, second));
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    uint32_t pair;
    if constexpr (kBoth) {
      std::memcpy(&pair, a + r * x.a_row, 4);
    } else {
      pair = a[r * x.a_row].bits;
    }
    const auto y =
        reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(pair)));
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) {
      acc[r][v] = _mm512_dpbf16_ps(acc[r][v], y, pairs[v]);
    }
  }
}

// kRows x (kVecs x 16 columns) of c.
template <int kRows, int kVecs, bool kPacked>
SY_BF16_TARGET void block(const Bf16Block& x, int64_t row) {
  __m512 acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVecs; ++v) acc[r][v] = _mm512_setzero_ps();
  }
  const BFloat16* a = x.a + row * x.a_row;
  const auto* panel = static_cast<const char*>(x.panel);
  const BFloat16* b = x.b;
  for (int64_t p = 0; p + 1 < x.k; p += 2) {
    step<kRows, kVecs, kPacked, true>(x, a, panel, b, acc);
    a += 2;
    panel += kBf16Panel * 4;
    b += 2 * x.b_row;
  }
  if (x.k % 2 != 0) step<kRows, kVecs, kPacked, false>(x, a, panel, b, acc);
  const Output out{x};
#pragma GCC unroll 2
  for (int v = 0; v < kVecs; ++v) {
    const __mmask16 mask = first_of_16(x.width - v * kLanes);
    const __m512 bias = x.last ? out.bias(v * kLanes, mask) : acc[0][0];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      float* const partial = x.partial + (row + r) * x.partial_row + v * kLanes;
      __m512 sum = acc[r][v];
      if (!x.first) {
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, partial));
      }
      if (x.last) {
        out.store(sum, bias, row + r, v * kLanes, mask);
      } else {
        _mm512_mask_storeu_ps(partial, mask, sum);
      }
    }
  }
}

template <int kVecs, bool kPacked>
void rows_of(const Bf16Block& x) {
  int64_t row = 0;
  const auto step = [&]<int kRows>() {
    for (; row + kRows <= x.rows; row += kRows) {
      block<kRows, kVecs, kPacked>(x, row);
    }
  };
  step.template operator()<kBf16Rows>();
  step.template operator()<8>();
  step.template operator()<4>();
  step.template operator()<2>();
  step.template operator()<1>();
}

// kRows rows of a times four columns of b.
template <int kRows>
SY_BF16_TARGET void dots(const GemmBf16& g, int64_t col) {
  constexpr int kCols = 4;
  const int64_t cols = std::min<int64_t>(kCols, g.n - col);
  const BFloat16* b[kCols];
  for (int64_t j = 0; j < kCols; ++j) {
    b[j] = g.b + (col + std::min(j, cols - 1)) * g.b_col;
  }
  __m512 acc[kRows][kCols];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int j = 0; j < kCols; ++j) acc[r][j] = _mm512_setzero_ps();
  }
  for (int64_t p = 0; p < g.k; p += 32) {
    const __mmask32 mask = first_of_32(g.k - p);
    __m512bh x[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      x[r] = reinterpret_cast<__m512bh>(
          _mm512_maskz_loadu_epi16(mask, g.a + r * g.a_row + p));
    }
#pragma GCC unroll 4
    for (int j = 0; j < kCols; ++j) {
      const auto y =
          reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16(mask, b[j] + p));
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        acc[r][j] = _mm512_dpbf16_ps(acc[r][j], x[r], y);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t j = 0; j < cols; ++j) {
      const int64_t at = r * g.c_row + col + j;
      float sum = g.alpha * _mm512_reduce_add_ps(acc[r][j]);
      if (g.bias != nullptr) sum += static_cast<float>(g.bias[col + j]);
      if (g.c_is_float) {
        float& to = static_cast<float*>(g.c)[at];
        to = g.beta == 0 ? sum : sum + g.beta * to;
      } else {
        BFloat16& to = static_cast<BFloat16*>(g.c)[at];
        to = g.beta == 0 ? sum : sum + g.beta * static_cast<float>(to);
      }
    }
  }
}

}  // namespace

void pack_bf16_panel(const GemmBf16& g, int64_t row, int64_t depth, int64_t col,
                     int64_t width, void* to) {
  const BFloat16* const from = g.b + row * g.b_row + col * g.b_col;
  auto* const pairs = static_cast<uint32_t*>(to);
  if (g.b_col == 1) return pack_rows(from, g.b_row, depth, width, pairs);
  int64_t done = 0;
  if (width < kBf16Panel) std::memset(to, 0, bf16_panel_bytes(depth));
  if (g.b_row == 1) {
    done = depth / 2 * 2;
    tiles::transpose(4, to, kBf16Panel * 4, from, g.b_col * 2, width,
                     depth / 2);
  }
  for (int64_t p = done; p < depth; p += 2) {
    for (int64_t j = 0; j < width; ++j) {
      pairs[p / 2 * kBf16Panel + j] =
          pair_at(from + p * g.b_row + j * g.b_col, g.b_row, p + 1 < depth);
    }
  }
}

void multiply_bf16_block(const Bf16Block& x) {
  const bool wide = x.width > kLanes;
  if (x.panel != nullptr) {
    return wide ? rows_of<2, true>(x) : rows_of<1, true>(x);
  }
  return wide ? rows_of<2, false>(x) : rows_of<1, false>(x);
}

void multiply_bf16_dots(const GemmBf16& g, int64_t begin, int64_t end) {
  GemmBf16 part = g;
  part.n = end;
  for (int64_t j = begin; j < end; j += 4) {
    switch (g.m) {
      case 1: dots<1>(part, j); break;
      case 2: dots<2>(part, j); break;
      case 3: dots<3>(part, j); break;
      default: dots<4>(part, j); break;
    }
  }
}

}  // namespace detail

}  // namespace sy::cpu
