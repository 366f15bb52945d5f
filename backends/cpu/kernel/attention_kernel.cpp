// The inner loops of attention.cpp and attention_backward.cpp.

#include "backends/cpu/kernel/attention_kernel.h"

#include <cmath>
#include <limits>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/attention_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/kernels.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "backends/cpu/kernel/lanes.inc"

template <class T>
using Tag = hn::ScalableTag<T>;

template <class T>
constexpr T kLeast = -std::numeric_limits<T>::infinity();

// Highway's Exp gives 0 for NaN.
template <class D>
HWY_INLINE hn::Vec<D> exp_of(D d, hn::Vec<D> v) {
  return hn::IfThenElse(hn::IsNaN(v), v, hn::Exp(d, v));
}

template <class T>
T most_of(const T* x, int64_t n) {
  const Tag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Set(d, kLeast<T>), b = a;
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + step));
  }
  for (; i + step <= n; i += step) a = hn::Max(a, hn::LoadU(d, x + i));
  T most = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

template <class T>
T take(T* x, int64_t n, T* most, T* sum) {
  const Tag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const T before = *most;
  const T row_most = most_of(x, n);
  const T now = row_most > before ? row_most : before;
  if (now == kLeast<T>) {
    // All scores are hidden or NaN.
    for (int64_t i = 0; i < n; ++i) {
      x[i] = x[i] != x[i] ? x[i] : T{0};
      *sum += x[i];
    }
    return 1;
  }
  const auto m = hn::Set(d, now);
  auto a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    const auto u = exp_of(d, hn::Sub(hn::LoadU(d, x + i), m));
    const auto v = exp_of(d, hn::Sub(hn::LoadU(d, x + i + step), m));
    hn::StoreU(u, d, x + i);
    hn::StoreU(v, d, x + i + step);
    a = hn::Add(a, u);
    b = hn::Add(b, v);
  }
  for (; i < n; i += step) {
    const int64_t rest = n - i < step ? n - i : step;
    auto u = exp_of(d, hn::Sub(load_first(d, x + i, rest), m));
    u = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(rest)), u);
    store_first(u, d, x + i, rest);
    a = hn::Add(a, u);
  }
  const T factor = before == kLeast<T> ? T{0} : std::exp(before - now);
  *most = now;
  *sum = *sum * (before == now ? T{1} : factor) +
         hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  return before == now ? T{1} : factor;
}

template <class T>
void backward(T* scores, T* grads, int64_t n, T log_sum, T delta, T by) {
  const Tag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const auto l = hn::Set(d, log_sum), t = hn::Set(d, delta), s = hn::Set(d, by);
  for (int64_t i = 0; i < n; i += step) {
    const int64_t rest = n - i;
    if (rest >= step) {
      const auto p = exp_of(d, hn::Sub(hn::LoadU(d, scores + i), l));
      const auto g = hn::Sub(hn::LoadU(d, grads + i), t);
      hn::StoreU(p, d, scores + i);
      hn::StoreU(hn::Mul(hn::Mul(p, g), s), d, grads + i);
    } else {
      const auto p = exp_of(d, hn::Sub(load_first(d, scores + i, rest), l));
      const auto g = hn::Sub(load_first(d, grads + i, rest), t);
      store_first(p, d, scores + i, rest);
      store_first(hn::Mul(hn::Mul(p, g), s), d, grads + i, rest);
    }
  }
}

template <class T>
void scale(T* row, int64_t n, T by) {
  for (int64_t i = 0; i < n; ++i) row[i] *= by;
}

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  const Tag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < n; i += step) {
    const int64_t rest = n - i < step ? n - i : step;
    sum =
        hn::MulAdd(load_first(d, a + i, rest), load_first(d, b + i, rest), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class T>
void add(T* row, const T* by, int64_t n) {
  for (int64_t i = 0; i < n; ++i) row[i] += by[i];
}

template <class T>
void hide(T* row, const uint8_t* keep, int64_t n) {
  for (int64_t i = 0; i < n; ++i) row[i] = keep[i] != 0 ? row[i] : kLeast<T>;
}

}  // namespace

template <class T>
AttentionKernel<T> kernel() {
  return {&take<T>, &backward<T>, &scale<T>, &dot<T>, &add<T>, &hide<T>};
}
template AttentionKernel<float> kernel<float>();
template AttentionKernel<double> kernel<double>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
const AttentionKernel<T>& attention_kernel() {
  SY_TILE_RETURN(AttentionKernel<T>, kernel<T>())
}
template const AttentionKernel<float>& attention_kernel<float>();
template const AttentionKernel<double>& attention_kernel<double>();

}  // namespace sy::cpu
#endif
