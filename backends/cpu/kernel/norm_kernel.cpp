// The inner loops of normalization_layer.cpp and normalization_group.cpp.

#include "backends/cpu/kernel/norm_kernel.h"

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/norm_kernel.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "backends/cpu/kernel/lanes.inc"

// Elements whose sums are made in T.
constexpr int64_t kBlock = 4096;
constexpr int64_t kUnroll = 4;

template <class T>
using Tag = hn::ScalableTag<T>;

template <class T>
HWY_INLINE int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(Tag<T>()));
}

// f(offset, whole): whole is true for a full vector, else n - offset lanes.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, const F& f) {
  const int64_t step = lanes<T>();
  int64_t i = 0;
  for (; i + step <= n; i += step) f(i, true);
  if (i < n) f(i, false);
}

template <class T>
HWY_INLINE hn::Vec<Tag<T>> load(const T* p, bool whole, int64_t n) {
  const Tag<T> d;
  return whole ? hn::LoadU(d, p) : load_first(d, p, n);
}
template <class T>
HWY_INLINE void store(hn::Vec<Tag<T>> v, T* p, bool whole, int64_t n) {
  const Tag<T> d;
  if (whole) {
    hn::StoreU(v, d, p);
  } else {
    store_first(v, d, p, n);
  }
}
template <class T>
HWY_INLINE double sum_of(hn::Vec<Tag<T>> v) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag<T>(), v)));
}

// The sum of f(vector at i, lanes from there) over blocks.
template <class T, class F>
HWY_INLINE double sum_blocks(int64_t n, const F& f) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const int64_t step = lanes<T>();
  double total = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t end = at + kBlock < n ? at + kBlock : n;
    V acc[kUnroll];
#pragma GCC unroll 4
    for (int k = 0; k < kUnroll; ++k) acc[k] = hn::Zero(d);
    int64_t i = at;
    for (; i + kUnroll * step <= end; i += kUnroll * step) {
#pragma GCC unroll 4
      for (int k = 0; k < kUnroll; ++k) {
        acc[k] = hn::Add(acc[k], f(i + k * step, true));
      }
    }
    for (; i < end; i += step) {
      acc[0] = hn::Add(acc[0], f(i, i + step <= end));
    }
    total +=
        sum_of<T>(hn::Add(hn::Add(acc[0], acc[1]), hn::Add(acc[2], acc[3])));
  }
  return total;
}

template <class T>
double sum(const T* x, int64_t n) {
  return sum_blocks<T>(n, [&](int64_t i, bool whole)
                              HWY_ATTR { return load(x + i, whole, n - i); });
}

template <class T>
double squares(const T* x, T center, int64_t n) {
  const Tag<T> d;
  const auto c = hn::Set(d, center);
  return sum_blocks<T>(n, [&](int64_t i, bool whole) HWY_ATTR {
    auto v = hn::Sub(load(x + i, whole, n - i), c);
    // Lanes beyond the end hold -center.
    if (!whole) {
      v = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(n - i)), v);
    }
    return hn::Mul(v, v);
  });
}

template <class T>
void apply(T* y, const T* x, T mean, T rstd, const T* w, const T* b,
           int64_t n) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean), r = hn::Set(d, rstd);
  for_vectors<T>(n, [&](int64_t i, bool whole) HWY_ATTR {
    auto v = hn::Mul(hn::Sub(load(x + i, whole, n - i), m), r);
    if (w != nullptr && b != nullptr) {
      v = hn::MulAdd(v, load(w + i, whole, n - i), load(b + i, whole, n - i));
    } else if (w != nullptr) {
      v = hn::Mul(v, load(w + i, whole, n - i));
    } else if (b != nullptr) {
      v = hn::Add(v, load(b + i, whole, n - i));
    }
    store(v, y + i, whole, n - i);
  });
}

template <class T>
void scale(T* y, const T* x, T mean, T by, T shift, int64_t n) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean), k = hn::Set(d, by), s = hn::Set(d, shift);
  for_vectors<T>(n, [&](int64_t i, bool whole) HWY_ATTR {
    const auto v = hn::Sub(load(x + i, whole, n - i), m);
    store(hn::MulAdd(v, k, s), y + i, whole, n - i);
  });
}

template <class T>
void sums(const T* dy, const T* x, T mean, const T* w, int64_t n,
          double out[2]) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean);
  const int64_t step = lanes<T>();
  out[0] = out[1] = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t end = at + kBlock < n ? at + kBlock : n;
    auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0;
    const auto add = [&](int64_t i, bool whole, auto& a, auto& b) HWY_ATTR {
      auto g = load(dy + i, whole, n - i);
      if (w != nullptr) g = hn::Mul(g, load(w + i, whole, n - i));
      a = hn::Add(a, g);
      b = hn::MulAdd(g, hn::Sub(load(x + i, whole, n - i), m), b);
    };
    int64_t i = at;
    for (; i + 2 * step <= end; i += 2 * step) {
      add(i, true, a0, b0);
      add(i + step, true, a1, b1);
    }
    for (; i < end; i += step) add(i, i + step <= end, a0, b0);
    out[0] += sum_of<T>(hn::Add(a0, a1));
    out[1] += sum_of<T>(hn::Add(b0, b1));
  }
}

template <class T>
void grad(T* dx, const T* dy, const T* x, const T* w, T mean, T a, T b, T c,
          int64_t n) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean), va = hn::Set(d, a), vb = hn::Set(d, b),
             vc = hn::Set(d, c);
  for_vectors<T>(n, [&](int64_t i, bool whole) HWY_ATTR {
    auto g = load(dy + i, whole, n - i);
    if (w != nullptr) g = hn::Mul(g, load(w + i, whole, n - i));
    const auto v = hn::MulAdd(hn::Sub(load(x + i, whole, n - i), m), vb, vc);
    store(hn::MulAdd(g, va, v), dx + i, whole, n - i);
  });
}

template <class T>
void params(T* dw, T* db, const T* dy, const T* x, T mean, T rstd, int64_t n) {
  const Tag<T> d;
  const auto m = hn::Set(d, mean), r = hn::Set(d, rstd);
  for_vectors<T>(n, [&](int64_t i, bool whole) HWY_ATTR {
    const auto g = load(dy + i, whole, n - i);
    if (dw != nullptr) {
      const auto v = hn::Mul(hn::Sub(load(x + i, whole, n - i), m), r);
      store(hn::MulAdd(g, v, load(dw + i, whole, n - i)), dw + i, whole, n - i);
    }
    if (db != nullptr) {
      store(hn::Add(g, load(db + i, whole, n - i)), db + i, whole, n - i);
    }
  });
}

}  // namespace

template <class T>
NormKernel<T> kernel() {
  return {&sum<T>,  &squares<T>, &apply<T>, &scale<T>,
          &sums<T>, &grad<T>,    &params<T>};
}
template NormKernel<float> kernel<float>();
template NormKernel<double> kernel<double>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
const NormKernel<T>& norm_kernel() {
  SY_TILE_RETURN(NormKernel<T>, kernel<T>())
}
template const NormKernel<float>& norm_kernel<float>();
template const NormKernel<double>& norm_kernel<double>();

}  // namespace sy::cpu
#endif
