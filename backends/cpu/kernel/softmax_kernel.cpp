// The inner loops of activation.cpp along a last dim.

#include "backends/cpu/kernel/softmax_kernel.h"

#include <cmath>
#include <limits>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/softmax_kernel.cpp"
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
using Vec = hn::Vec<Tag<T>>;

// Elements whose sums are made in T.
constexpr int64_t kBlock = 4096;

// Highway's Exp gives 0 for NaN.
template <class T>
HWY_INLINE Vec<T> exp_of(Vec<T> v) {
  return hn::IfThenElse(hn::IsNaN(v), v, hn::Exp(Tag<T>(), v));
}

// The sum of f(offset, lanes) over vectors; the last may have fewer lanes, of
// which f gives 0 for those beyond.
template <class T, class F>
HWY_INLINE double sum_of(int64_t n, const F& f) {
  const Tag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  double total = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t end = at + kBlock < n ? at + kBlock : n;
    auto a = hn::Zero(d), b = a, c = a, e = a;
    int64_t i = at;
    for (; i + 4 * step <= end; i += 4 * step) {
      a = hn::Add(a, f(i, step));
      b = hn::Add(b, f(i + step, step));
      c = hn::Add(c, f(i + 2 * step, step));
      e = hn::Add(e, f(i + 3 * step, step));
    }
    for (; i < end; i += step) {
      a = hn::Add(a, f(i, end - i < step ? end - i : step));
    }
    total += static_cast<double>(
        hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))));
  }
  return total;
}

// f(offset, lanes) for vectors.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, const F& f) {
  const auto step = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  int64_t i = 0;
  for (; i + step <= n; i += step) f(i, step);
  if (i < n) f(i, n - i);
}

template <class T>
HWY_INLINE Vec<T> load(const T* p, int64_t lanes) {
  const Tag<T> d;
  return lanes == static_cast<int64_t>(hn::Lanes(d)) ? hn::LoadU(d, p)
                                                     : load_first(d, p, lanes);
}
template <class T>
HWY_INLINE void store(Vec<T> v, T* p, int64_t lanes) {
  const Tag<T> d;
  if (lanes == static_cast<int64_t>(hn::Lanes(d))) {
    hn::StoreU(v, d, p);
  } else {
    store_first(v, d, p, lanes);
  }
}
template <class T>
HWY_INLINE Vec<T> first(Vec<T> v, int64_t lanes) {
  const Tag<T> d;
  return lanes == static_cast<int64_t>(hn::Lanes(d))
             ? v
             : hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(lanes)), v);
}

// The largest element. A row with a NaN gives any element, NaN or -infinity.
template <class T>
HWY_INLINE T most_of(const T* x, int64_t n) {
  const Tag<T> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  const auto least = hn::Set(d, -std::numeric_limits<T>::infinity());
  auto a = least, b = least;
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + step));
  }
  for (; i + step <= n; i += step) a = hn::Max(a, hn::LoadU(d, x + i));
  if (i < n) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(n - i));
    b = hn::Max(b, hn::IfThenElse(mask, load_first(d, x + i, n - i), least));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

// Rows shorter than this are taken as many at a time as a vector has lanes.
constexpr int64_t kShort = 16;

// f(rows of y, rows of x) for as many short rows as a vector has lanes; the
// last ones, of which there may be fewer, in a room of zeros, so that results
// do not depend on how rows are shared out.
template <class T, class F>
HWY_INLINE void for_short_rows(int64_t rows, int64_t n, T* y, const T* x,
                               const F& f) {
  const auto step = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  int64_t r = 0;
  for (; r + step <= rows; r += step) f(y + r * n, x + r * n);
  if (r == rows) return;
  constexpr size_t kRoom = hn::MaxLanes(Tag<T>()) * kShort;
  T to[kRoom], from[kRoom] = {};
  const int64_t rest = (rows - r) * n;
  for (int64_t i = 0; i < rest; ++i) from[i] = x[r * n + i];
  f(to, from);
  for (int64_t i = 0; i < rest; ++i) y[r * n + i] = to[i];
}

// Element i of each of the rows from p on.
template <class T>
struct Across {
  using D = Tag<T>;
  using I = hn::RebindToSigned<D>;
  hn::Vec<I> places;

  explicit HWY_INLINE Across(int64_t n)
      : places(hn::Mul(hn::Iota(I(), 0),
                       hn::Set(I(), static_cast<hn::TFromD<I>>(n)))) {}
  HWY_INLINE Vec<T> load(const T* p) const {
    return hn::GatherIndex(D(), p, places);
  }
  HWY_INLINE void store(Vec<T> v, T* p) const {
    hn::ScatterIndex(v, D(), p, places);
  }
};

template <class T>
HWY_INLINE void short_forward(T* y, const T* x, int64_t n, bool log) {
  const Tag<T> d;
  const Across<T> across(n);
  Vec<T> v[kShort];
  v[0] = across.load(x);
  auto most = v[0], sum = hn::Zero(d);
  for (int64_t i = 1; i < n; ++i) {
    v[i] = across.load(x + i);
    most = hn::Max(most, v[i]);
  }
  for (int64_t i = 0; i < n; ++i) {
    v[i] = hn::Sub(v[i], most);
    const auto e = exp_of<T>(v[i]);
    sum = hn::Add(sum, e);
    if (!log) v[i] = e;
  }
  if (log) {
    const auto shift = hn::IfThenElse(hn::IsNaN(sum), sum, hn::Log(d, sum));
    for (int64_t i = 0; i < n; ++i) {
      across.store(hn::Sub(v[i], shift), y + i);
    }
  } else {
    const auto scale = hn::Div(hn::Set(d, T{1}), sum);
    for (int64_t i = 0; i < n; ++i) {
      across.store(hn::Mul(v[i], scale), y + i);
    }
  }
}

// Takes as many rows at a time as there is room for exponentials; sums are
// short.
template <class T>
void short_backward(T* gx, const T* g, const T* y, int64_t rows, int64_t n,
                    bool log) {
  constexpr int64_t kRoom = 1024;
  T e[kRoom];
  for (int64_t r = 0; r < rows; r += kRoom / n) {
    const int64_t most = rows - r < kRoom / n ? rows - r : kRoom / n;
    const T *const dy = g + r * n, *const from = y + r * n;
    T* const to = gx + r * n;
    if (log) {
      for_vectors<T>(most * n, [&](int64_t i, int64_t lanes) HWY_ATTR {
        store<T>(exp_of<T>(load(from + i, lanes)), e + i, lanes);
      });
    }
    for (int64_t at = 0; at < most * n; at += n) {
      T sum = 0;
      for (int64_t i = at; i < at + n; ++i) {
        sum += log ? dy[i] : dy[i] * from[i];
      }
      for (int64_t i = at; i < at + n; ++i) {
        to[i] = log ? dy[i] - e[i] * sum : (dy[i] - sum) * from[i];
      }
    }
  }
}

template <class T>
void forward(T* y, const T* x, int64_t rows, int64_t n, bool log) {
  const Tag<T> d;
  if (n < kShort) {
    for_short_rows<T>(rows, n, y, x, [&](T* to, const T* from) HWY_ATTR {
      short_forward<T>(to, from, n, log);
    });
    return;
  }
  for (const T* const end = x + rows * n; x != end; x += n, y += n) {
    const auto most = hn::Set(d, most_of(x, n));
    const auto term = [&](int64_t i, int64_t lanes) HWY_ATTR {
      return exp_of<T>(hn::Sub(load(x + i, lanes), most));
    };
    if (log) {
      const double sum = sum_of<T>(n, [&](int64_t i, int64_t lanes) HWY_ATTR {
        return first<T>(term(i, lanes), lanes);
      });
      const auto shift = hn::Set(d, static_cast<T>(std::log(sum)));
      for_vectors<T>(n, [&](int64_t i, int64_t lanes) HWY_ATTR {
        store<T>(hn::Sub(hn::Sub(load(x + i, lanes), most), shift), y + i,
                 lanes);
      });
    } else {
      const double sum = sum_of<T>(n, [&](int64_t i, int64_t lanes) HWY_ATTR {
        const auto e = term(i, lanes);
        store<T>(e, y + i, lanes);
        return first<T>(e, lanes);
      });
      const auto scale = hn::Set(d, static_cast<T>(1 / sum));
      for_vectors<T>(n, [&](int64_t i, int64_t lanes) HWY_ATTR {
        store<T>(hn::Mul(load<T>(y + i, lanes), scale), y + i, lanes);
      });
    }
  }
}

template <class T>
void backward(T* gx, const T* g, const T* y, int64_t rows, int64_t n,
              bool log) {
  const Tag<T> d;
  if (n < kShort) {
    short_backward(gx, g, y, rows, n, log);
    return;
  }
  for (const T* const end = g + rows * n; g != end; g += n, y += n, gx += n) {
    const double total = sum_of<T>(n, [&](int64_t i, int64_t lanes) HWY_ATTR {
      const auto v = load(g + i, lanes);  // 0 beyond
      return log ? v : hn::Mul(v, load(y + i, lanes));
    });
    const auto sum = hn::Set(d, static_cast<T>(total));
    for_vectors<T>(n, [&](int64_t i, int64_t lanes) HWY_ATTR {
      const auto v = load(g + i, lanes), w = load(y + i, lanes);
      store<T>(log ? hn::NegMulAdd(exp_of<T>(w), sum, v)
                   : hn::Mul(hn::Sub(v, sum), w),
               gx + i, lanes);
    });
  }
}

}  // namespace

template <class T>
SoftmaxKernel<T> kernel() {
  return {&forward<T>, &backward<T>};
}
template SoftmaxKernel<float> kernel<float>();
template SoftmaxKernel<double> kernel<double>();

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
const SoftmaxKernel<T>& softmax_kernel() {
  SY_TILE_RETURN(SoftmaxKernel<T>, kernel<T>())
}
template const SoftmaxKernel<float>& softmax_kernel<float>();
template const SoftmaxKernel<double>& softmax_kernel<double>();

}  // namespace sy::cpu
#endif
