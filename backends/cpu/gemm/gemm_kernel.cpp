// The inner loops of gemm.cpp: a block of accumulators in registers, rows of b
// read as vectors, elements of a spread over one.

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/gemm_kernel.cpp"
#include "hwy/foreach_target.h"

#include <type_traits>

#include "backends/cpu/gemm/gemm.h"
#include "c10/tensor/half.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "backends/cpu/kernel/lanes.inc"
#include "backends/cpu/kernel/narrow_lanes.inc"

constexpr int kVectors = 2;
// 12 x 2 accumulators of 32 registers, 6 x 2 of 16.
#if HWY_TARGET <= HWY_AVX3
constexpr int kMaxRows = 12;
#else
constexpr int kMaxRows = 6;
#endif

// kRows x (kVecs vectors) of c, the last vector with `tail` lanes (kTail) or
// all.
template <class T, int kRows, int kVecs, bool kTail>
void block(const Gemm<T>& g, int64_t row, int64_t col, int64_t tail) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::Zero(d);
  }
  const T* a = g.a + row * g.a_row;
  const T* b = g.b + col;
  const int64_t a_row = g.a_row;
  for (int64_t p = 0; p < g.k; ++p) {
    V x[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      x[v] = kTail && v == kVecs - 1 ? load_first(d, b + v * lanes, tail)
                                     : hn::LoadU(d, b + v * lanes);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V y = hn::Set(d, a[r * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) {
        acc[r][v] = hn::MulAdd(y, x[v], acc[r][v]);
      }
    }
    a += g.a_col;
    b += g.b_row;
  }
  const V alpha = hn::Set(d, g.alpha), beta = hn::Set(d, g.beta);
#pragma GCC unroll 4
  for (int v = 0; v < kVecs; ++v) {
    const bool part = kTail && v == kVecs - 1;
    const int64_t at = col + v * lanes;
    V bias = hn::Zero(d);
    if (g.bias != nullptr) {
      bias =
          part ? load_first(d, g.bias + at, tail) : hn::LoadU(d, g.bias + at);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      T* to = g.c + (row + r) * g.c_row + at;
      V sum = hn::MulAdd(acc[r][v], alpha, bias);
      if (g.beta != 0) {
        const V old = part ? load_first(d, to, tail) : hn::LoadU(d, to);
        sum = hn::MulAdd(old, beta, sum);
      }
      if (part) {
        store_first(sum, d, to, tail);
      } else {
        hn::StoreU(sum, d, to);
      }
    }
  }
}

template <class T, int kRows>
void row_block(const Gemm<T>& g, int64_t row) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t col = 0;
  for (; col + kVectors * lanes <= g.n; col += kVectors * lanes) {
    block<T, kRows, kVectors, false>(g, row, col, 0);
  }
  const int64_t rest = g.n - col;
  if (rest == 0) return;
  if (rest > lanes) {
    block<T, kRows, 2, true>(g, row, col, rest - lanes);
  } else if (rest == lanes) {
    block<T, kRows, 1, false>(g, row, col, 0);
  } else {
    block<T, kRows, 1, true>(g, row, col, rest);
  }
}

template <class T>
void run(const Gemm<T>& g) {
  int64_t row = 0;
  for (; row + kMaxRows <= g.m; row += kMaxRows) {
    row_block<T, kMaxRows>(g, row);
  }
  const auto step = [&]<int kRows>() {
    if constexpr (kRows < kMaxRows) {
      while (row + kRows <= g.m) {
        row_block<T, kRows>(g, row);
        row += kRows;
      }
    }
  };
  step.template operator()<8>();
  step.template operator()<4>();
  step.template operator()<2>();
  step.template operator()<1>();
}

// Adds pairs of lanes within each block of 16 bytes, those of a to the even
// ones, those of b to the odd ones.
template <class D, class V>
HWY_INLINE V add_pairs(D d, V a, V b) {
  return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
}
template <class D>
HWY_INLINE auto sum_of_blocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(
        half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// kRows rows of c in `cols` columns, at most as many as 16 bytes hold: products
// of vectors, where rows of a and columns of b lie close together.
template <class T, int kRows>
void dot_block(const Gemm<T>& g, int64_t row, int64_t col, int64_t cols) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kN = 16 / sizeof(T);
  V acc[kRows][kN];
  const T* b[kN];
  const T* const a = g.a + row * g.a_row;
#pragma GCC unroll 4
  for (int v = 0; v < kN; ++v) {
    b[v] = g.b + (col + (v < cols ? v : 0)) * g.b_col;
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) acc[r][v] = hn::Zero(d);
  }
  int64_t p = 0;
  for (; p + lanes <= g.k; p += lanes) {
    V x[kN];
#pragma GCC unroll 4
    for (int v = 0; v < kN; ++v) x[v] = hn::LoadU(d, b[v] + p);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V y = hn::LoadU(d, a + r * g.a_row + p);
#pragma GCC unroll 4
      for (int v = 0; v < kN; ++v) acc[r][v] = hn::MulAdd(y, x[v], acc[r][v]);
    }
  }
  if (p < g.k) {
    V x[kN];
#pragma GCC unroll 4
    for (int v = 0; v < kN; ++v) x[v] = load_first(d, b[v] + p, g.k - p);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const V y = load_first(d, a + r * g.a_row + p, g.k - p);
#pragma GCC unroll 4
      for (int v = 0; v < kN; ++v) acc[r][v] = hn::MulAdd(y, x[v], acc[r][v]);
    }
  }
  const hn::FixedTag<T, kN> block;
  const auto alpha = hn::Set(block, g.alpha), beta = hn::Set(block, g.beta);
  auto bias = hn::Zero(block);
  if (g.bias != nullptr) bias = load_first(block, g.bias + col, cols);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    T* const to = g.c + (row + r) * g.c_row + col;
    // Lane i of each block: the sum of acc[r][i] there.
    V sums;
    if constexpr (kN == 4) {
      sums = add_pairs(d, add_pairs(d, acc[r][0], acc[r][2]),
                       add_pairs(d, acc[r][1], acc[r][3]));
    } else {
      sums = add_pairs(d, acc[r][0], acc[r][1]);
    }
    auto sum = sum_of_blocks(d, sums);
    sum = hn::MulAdd(sum, alpha, bias);
    if (g.beta != 0) sum = hn::MulAdd(load_first(block, to, cols), beta, sum);
    if (cols == kN) {
      hn::StoreU(sum, block, to);
    } else {
      store_first(sum, block, to, cols);
    }
  }
}

template <class T>
void run_by_dots(const Gemm<T>& g) {
  constexpr int64_t kN = 16 / sizeof(T);
  for (int64_t col = 0; col < g.n; col += kN) {
    const int64_t cols = g.n - col < kN ? g.n - col : kN;
    int64_t row = 0;
#if HWY_TARGET <= HWY_AVX3
    for (; row + 4 <= g.m; row += 4) dot_block<T, 4>(g, row, col, cols);
#endif
    for (; row + 2 <= g.m; row += 2) dot_block<T, 2>(g, row, col, cols);
    if (row < g.m) dot_block<T, 1>(g, row, col, cols);
  }
}

// kRows products of rows of E with the vector, two vectors of each at a time.
template <class T, class E, int kRows>
void dot_rows(const Dots<T>& g, int64_t row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V acc[kRows][2];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = hn::Zero(d);
  const E* a = static_cast<const E*>(g.matrix) + row * g.row_stride;
  int64_t p = 0;
  for (; p + 2 * lanes <= g.k; p += 2 * lanes) {
    const V x = hn::LoadU(d, g.vector + p);
    const V y = hn::LoadU(d, g.vector + p + lanes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const E* from = a + r * g.row_stride + p;
      acc[r][0] = hn::MulAdd(load_as(d, from), x, acc[r][0]);
      acc[r][1] = hn::MulAdd(load_as(d, from + lanes), y, acc[r][1]);
    }
  }
  for (; p < g.k; p += lanes) {
    const int64_t n = g.k - p < lanes ? g.k - p : lanes;
    const V x = load_first(d, g.vector + p, n);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      acc[r][0] =
          hn::MulAdd(load_as(d, a + r * g.row_stride + p, n), x, acc[r][0]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const int64_t i = row + r;
    T* const to = g.out + i * g.out_stride;
    T sum =
        g.alpha * hn::GetLane(hn::SumOfLanes(d, hn::Add(acc[r][0], acc[r][1])));
    if (g.bias != nullptr) sum += g.bias[i * g.bias_stride];
    if (g.beta != 0) sum += g.beta * *to;
    *to = sum;
  }
}

template <class T, class E>
void dots(const Dots<T>& g) {
  int64_t row = 0;
  for (; row + 4 <= g.rows; row += 4) dot_rows<T, E, 4>(g, row);
  for (; row < g.rows; ++row) dot_rows<T, E, 1>(g, row);
}

}  // namespace

template <class T>
cpu::detail::GemmKernel<T> kernel() {
  const hn::ScalableTag<T> d;
  cpu::detail::GemmKernel<T> k{};
  k.run = &run<T>;
  k.run_by_dots = &run_by_dots<T>;
  k.dots = &dots<T, T>;
  if constexpr (std::is_same_v<T, float>) {
    k.half_dots = &dots<T, Half>;
    k.bfloat16_dots = &dots<T, BFloat16>;
  }
  k.panel = kVectors * static_cast<int64_t>(hn::Lanes(d));
  k.rows = kMaxRows;
  return k;
}
template cpu::detail::GemmKernel<float> kernel<float>();
template cpu::detail::GemmKernel<double> kernel<double>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu::detail {

template <class T>
const GemmKernel<T>& gemm_kernel() {
  SY_TILE_RETURN(GemmKernel<T>, kernel<T>())
}
template const GemmKernel<float>& gemm_kernel<float>();
template const GemmKernel<double>& gemm_kernel<double>();

}  // namespace sy::cpu::detail
#endif
