#include <algorithm>
#include <bit>
#include <type_traits>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/row_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/kernel/row_kernel.h"
#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Plain loops: the compiler makes vectors of them. Sums of integers wrap.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                std::type_identity<T>>::type;

template <class T>
void add(const T* __restrict from, int64_t n, T* __restrict to) {
  using W = Wrapping<T>;
  for (int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<T>(static_cast<W>(to[i]) + static_cast<W>(from[i]));
  }
}

template <class T>
void add_scaled(const T* __restrict from, T weight, int64_t n,
                T* __restrict to) {
  using W = Wrapping<T>;
  for (int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<T>(static_cast<W>(to[i]) +
                           static_cast<W>(weight) * static_cast<W>(from[i]));
  }
}

// kStep is 0 where it is known at run time only.
template <class T, int kStep, class Index = IndexAsWide<T>>
void max_step(const T* __restrict from, int64_t step, int64_t n, Index first,
              Index index_step, T* __restrict best, Index* __restrict at) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = from[i * (kStep == 0 ? step : kStep)];
    const Index here = first + static_cast<Index>(i) * index_step;
    const bool take = (v > best[i]) | (v != v);
    best[i] = take ? v : best[i];
    at[i] = take ? here : at[i];
  }
}

template <class T, class Index = IndexAsWide<T>>
void max(const T* from, int64_t step, int64_t n, Index first, Index index_step,
         T* best, Index* at) {
  switch (step) {
    case 1: return max_step<T, 1>(from, step, n, first, index_step, best, at);
    case 2: return max_step<T, 2>(from, step, n, first, index_step, best, at);
    default: return max_step<T, 0>(from, step, n, first, index_step, best, at);
  }
}

template <int kStep, class T>
void largest_step(const T* __restrict from, int64_t step, int64_t n,
                  T* __restrict best) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = from[i * (kStep == 0 ? step : kStep)];
    best[i] = ((v > best[i]) | (v != v)) ? v : best[i];
  }
}

template <class T>
void largest(const T* from, int64_t step, int64_t n, T* best) {
  switch (step) {
    case 1: return largest_step<1>(from, step, n, best);
    case 2: return largest_step<2>(from, step, n, best);
    default: return largest_step<0>(from, step, n, best);
  }
}

// Four rows, added to what is there unless they are the first.
template <bool kFirst, class T>
void combine_four(const T* const* rows, const T* weights, int64_t n,
                  T* __restrict to) {
  const T* __restrict a = rows[0], * __restrict b = rows[1];
  const T* __restrict c = rows[2], * __restrict d = rows[3];
  const T w = weights[0], v = weights[1], x = weights[2], y = weights[3];
  for (int64_t i = 0; i < n; ++i) {
    const T sum = w * a[i] + v * b[i] + x * c[i] + y * d[i];
    to[i] = kFirst ? sum : to[i] + sum;
  }
}

template <class T>
void combine(const T* const* rows, const T* weights, int64_t taps, int64_t n,
             T* __restrict to) {
  const T* __restrict a = rows[0], w = weights[0];
  if (taps == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = w * a[i];
    return;
  }
  int64_t k = 2;
  if (taps >= 4) {
    combine_four<true>(rows, weights, n, to);
    for (k = 4; k + 4 <= taps; k += 4) {
      combine_four<false>(rows + k, weights + k, n, to);
    }
  } else {
    const T* __restrict b = rows[1], v = weights[1];
    for (int64_t i = 0; i < n; ++i) to[i] = w * a[i] + v * b[i];
  }
  for (; k < taps; ++k) add_scaled(rows[k], weights[k], n, to);
}

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes),
                     odd);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// One vector of the result: kTaps taps, or (0) as many as there are.
template <int kTaps, class D, class T = hn::TFromD<D>,
          class Index = IndexAsWide<T>>
HWY_INLINE hn::Vec<D> gathered(D d, const T* from, const Index* at,
                               const T* weights, int64_t taps, int64_t pitch) {
  const hn::Rebind<Index, D> di;
  hn::Vec<D> sum = hn::Zero(d);
  const int64_t count = kTaps == 0 ? taps : kTaps;
#pragma GCC unroll 4
  for (int64_t k = 0; k < count; ++k) {
    const auto index = hn::LoadU(di, at + k * pitch);
    const auto nowhere = hn::RebindMask(d, hn::Lt(index, hn::Zero(di)));
    const auto v = hn::IfThenZeroElse(
        nowhere, hn::GatherIndex(d, from, hn::Max(index, hn::Zero(di))));
    sum = weights == nullptr
              ? hn::Add(sum, v)
              : hn::MulAdd(hn::LoadU(d, weights + k * pitch), v, sum);
  }
  return sum;
}

template <int kTaps, class T, class Index = IndexAsWide<T>>
void gather_taps(const T* from, const Index* at, const T* weights, int64_t taps,
                 int64_t pitch, int64_t n, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const T* const w = weights == nullptr ? nullptr : weights + i;
    hn::StoreU(gathered<kTaps>(d, from, at + i, w, taps, pitch), d, to + i);
  }
  for (; i < n; ++i) {
    T sum = 0;
    for (int64_t k = 0; k < taps; ++k) {
      const Index j = at[k * pitch + i];
      const T v = j < 0 ? T(0) : from[j];
      sum += weights == nullptr ? v : weights[k * pitch + i] * v;
    }
    to[i] = sum;
  }
}

// One by one, which is faster than gathering where nothing is computed. Four
// at a time, lest the compiler gathers; a mask of bits, lest it branches.
template <class T, class Index = IndexAsWide<T>>
void take(const T* from, const Index* at, int64_t n, T* to) {
  const auto one = [from](Index j) {
    const T v = from[std::max(j, Index(0))];
    const Index kept = ~(j >> (8 * sizeof(Index) - 1));
    return std::bit_cast<T>(std::bit_cast<Index>(v) & kept);
  };
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const T a = one(at[i]), b = one(at[i + 1]), c = one(at[i + 2]),
            d = one(at[i + 3]);
    to[i] = a;
    to[i + 1] = b;
    to[i + 2] = c;
    to[i + 3] = d;
  }
  for (; i < n; ++i) to[i] = one(at[i]);
}

template <class T, class Index = IndexAsWide<T>>
void gather(const T* from, const Index* at, const T* weights, int64_t taps,
            int64_t pitch, int64_t n, T* to) {
  if (taps == 1 && weights == nullptr) return take(from, at, n, to);
  switch (taps) {
    case 1: return gather_taps<1>(from, at, weights, taps, pitch, n, to);
    case 2: return gather_taps<2>(from, at, weights, taps, pitch, n, to);
    case 4: return gather_taps<4>(from, at, weights, taps, pitch, n, to);
    default: return gather_taps<0>(from, at, weights, taps, pitch, n, to);
  }
}

}  // namespace

template <class T>
RowKernels<T> rows() {
  if constexpr (std::is_integral_v<T>) {
    return {&add<T>, &max<T>, &largest<T>, nullptr, nullptr, nullptr, nullptr};
  } else {
    return {&add<T>,        &max<T>, &largest<T>, &combine<T>,
            &add_scaled<T>, &dot<T>, &gather<T>};
  }
}
template RowKernels<float> rows<float>();
template RowKernels<double> rows<double>();
template RowKernels<int64_t> rows<int64_t>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
const RowKernels<T>& row_kernels() {
  SY_TILE_RETURN(RowKernels<T>, rows<T>())
}
template const RowKernels<float>& row_kernels<float>();
template const RowKernels<double>& row_kernels<double>();
template const RowKernels<int64_t>& row_kernels<int64_t>();

}  // namespace sy::cpu
#endif
