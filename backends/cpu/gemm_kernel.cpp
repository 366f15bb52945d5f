// The inner loops of gemm.cpp: a block of accumulators in registers, rows of b
// read as vectors, elements of a spread over one.

#include "aten/tile/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm_kernel.cpp"
#include "hwy/foreach_target.h"

#include <type_traits>

#include "backends/cpu/gemm.h"
#include "c10/half.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "backends/cpu/lanes.inc"

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

// The first n elements of E as T, 0 in the other lanes.
template <class E, class D>
HWY_INLINE hn::Vec<D> load_as(D d, const E* p, int64_t n) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<E, T>) {
    return load_first(d, p, n);
  } else {
    // Stored as bits: vectors of 16-bit floats are only converted.
    using F = std::conditional_t<std::is_same_v<E, Half>, hwy::float16_t,
                                 hwy::bfloat16_t>;
    const hn::Rebind<uint16_t, D> bits;
    const hn::Rebind<F, D> small;
    return hn::PromoteTo(d, hn::BitCast(small, load_first(bits, &p->bits, n)));
  }
}
template <class E, class D>
HWY_INLINE hn::Vec<D> load_as(D d, const E* p) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<E, T>) {
    return hn::LoadU(d, p);
  } else {
    using F = std::conditional_t<std::is_same_v<E, Half>, hwy::float16_t,
                                 hwy::bfloat16_t>;
    const hn::Rebind<uint16_t, D> bits;
    const hn::Rebind<F, D> small;
    return hn::PromoteTo(d, hn::BitCast(small, hn::LoadU(bits, &p->bits)));
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
  static const GemmKernel<T> k[] = {N_SSE4::kernel<T>(), N_AVX2::kernel<T>(),
                                    N_AVX3::kernel<T>()};
  return k[static_cast<int>(tile::active_isa())];
}
template const GemmKernel<float>& gemm_kernel<float>();
template const GemmKernel<double>& gemm_kernel<double>();

}  // namespace sy::cpu::detail
#endif
