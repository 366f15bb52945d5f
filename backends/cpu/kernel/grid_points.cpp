#include <algorithm>

#include "backends/cpu/tiles/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernel/grid_points.cpp"
#include "hwy/foreach_target.h"

#include "backends/cpu/kernel/grid_points.h"
#include "backends/cpu/tiles/kernels.h"
#include "hwy/highway.h"

#ifndef SY_GRID_POINTS_TYPES
#define SY_GRID_POINTS_TYPES
namespace sy::cpu {

// The rows that the points of a block become; slopes[0] is null if slopes are
// not asked for. Rows are kBlock long, of which whole vectors are written.
template <class T>
struct GridRows {
  IndexAsWide<T>* at;
  T* weights;
  T* slopes[3];
};

template <class T>
using SetPoints = void (*)(const SampleRule& rule, int64_t n,
                           const int64_t* sizes, const T* points, int64_t count,
                           const GridRows<T>& to);

}  // namespace sy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace sy::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A vector of places along one dim, and how they move with the coordinates
// that they came from.
template <class V>
struct Places {
  V x, slope;
};

// One dim for a vector of points: taps, -1 where there is none, times the
// distance of two elements along that dim.
template <class D, class V = hn::Vec<D>,
          class I = hn::Vec<hn::Rebind<IndexAsWide<hn::TFromD<D>>, D>>>
struct AxisTaps {
  I at[4];
  V weight[4], slope[4];
};

template <class D>
class Axis {
  using T = hn::TFromD<D>;
  using Index = IndexAsWide<T>;
  using DI = hn::Rebind<Index, D>;
  using V = hn::Vec<D>;
  using I = hn::Vec<DI>;

 public:
  Axis(const SampleRule& rule, int64_t size, int64_t distance)
      : rule_(rule),
        size_(static_cast<Index>(size)),
        distance_(static_cast<Index>(distance)),
        last_(static_cast<T>(size - 1)),
        slope_(static_cast<T>(rule.align_corners ? size - 1 : size) / 2),
        // The largest that an index can be is less than that of its type.
        high_(std::min(static_cast<T>(size) + 8,
                       sizeof(T) == 4 ? T(0x1.fffffep30) : T(0x1p62))) {}

  template <Sample kMode>
  HWY_INLINE void set(V points, bool slopes, AxisTaps<D>& to) const {
    const V x = hn::MulAdd(hn::Add(points, of(1)), of(slope_),
                           of(rule_.align_corners ? T(0) : T(-0.5)));
    if constexpr (kMode == Sample::Nearest) {
      const V place = near(brought_back({x, of(slope_)}).x);
      to.at[0] = tap(hn::ConvertTo(di, hn::Round(place)));
    } else if constexpr (kMode == Sample::Linear) {
      const Places<V> p = brought_back({x, of(slope_)});
      const V low = hn::Floor(near(p.x)), part = hn::Sub(p.x, low);
      const I first = hn::ConvertTo(di, low);
      to.at[0] = tap(first);
      to.at[1] = tap(hn::Add(first, hn::Set(di, 1)));
      to.weight[0] = hn::Sub(of(1), part);
      to.weight[1] = part;
      to.slope[0] = hn::Neg(p.slope);
      to.slope[1] = p.slope;
    } else {
      const V low = hn::Floor(x);
      cubic(hn::Sub(x, low), slopes, to);
      // Taps of a place that is far outside may come back.
      V place = rule_.beyond == Beyond::Zeros ? hn::Floor(near(x)) : low;
      place = hn::Sub(place, of(1));
      for (int k = 0; k < 4; ++k) {
        const V here = near(brought_back({place, of(1)}).x);
        to.at[k] = tap(hn::ConvertTo(di, hn::Floor(here)));
        place = hn::Add(place, of(1));
      }
    }
  }

 private:
  static HWY_INLINE V of(T x) { return hn::Set(d, x); }

  // Returns x, or a place outside if x is far outside or NaN.
  HWY_INLINE V near(V x) const {
    const V low = of(-8), high = of(high_);
    const V least = hn::IfThenElse(hn::Gt(x, low), x, low);
    return hn::IfThenElse(hn::Lt(least, high), least, high);
  }

  HWY_INLINE I tap(I i) const {
    const auto inside =
        hn::And(hn::Gt(i, hn::Set(di, -1)), hn::Lt(i, hn::Set(di, size_)));
    const I at = distance_ == 1 ? i : hn::Mul(i, hn::Set(di, distance_));
    return hn::IfThenElse(inside, at, hn::Set(di, -1));
  }

  // Reflects places between the edges, with a period of twice their distance.
  HWY_INLINE Places<V> reflected(Places<V> p) const {
    const T edge = rule_.align_corners ? T(0) : T(0.5);
    const T span = last_ + 2 * edge;
    if (!(span > 0)) return {hn::Zero(d), hn::Zero(d)};
    const V from = hn::Add(p.x, of(edge)), far = hn::Abs(from);
    const V period = of(2 * span);
    const V rest = hn::NegMulAdd(hn::Floor(hn::Div(far, period)), period, far);
    const auto back = hn::Gt(rest, of(span));
    const auto turned = hn::Xor(back, hn::Lt(from, hn::Zero(d)));
    return {
        hn::Sub(hn::IfThenElse(back, hn::Sub(period, rest), rest), of(edge)),
        hn::IfThenElse(turned, hn::Neg(p.slope), p.slope)};
  }

  // Brings places into [0, last_], NaN too, unless elements beyond are zero.
  HWY_INLINE Places<V> brought_back(Places<V> p) const {
    if (rule_.beyond == Beyond::Zeros) return p;
    if (rule_.beyond == Beyond::Reflection) p = reflected(p);
    const V last = of(last_);
    const auto under = hn::Lt(p.x, last), over = hn::Gt(p.x, hn::Zero(d));
    const auto below = hn::Le(p.x, hn::Zero(d));
    return {hn::IfThenZeroElse(below, hn::IfThenElse(under, p.x, last)),
            hn::IfThenElseZero(hn::And(under, over), p.slope)};
  }

  // Keys' cubic convolution with a = -0.75: the weights of the four elements
  // around a place `t` after the second, and their slopes.
  HWY_INLINE void cubic(V t, bool slopes, AxisTaps<D>& to) const {
    constexpr T a = T(-0.75);
    const V u = hn::Sub(of(1), t);
    const V outer[] = {hn::Add(t, of(1)), hn::Add(u, of(1))}, inner[] = {t, u};
    for (int side = 0; side < 2; ++side) {
      const int far = side * 3, near = side + 1;
      const V v = outer[side], x = inner[side];
      to.weight[far] =
          hn::MulAdd(hn::MulAdd(hn::MulSub(of(a), v, of(5 * a)), v, of(8 * a)),
                     v, of(-4 * a));
      to.weight[near] =
          hn::MulAdd(hn::Mul(hn::MulSub(of(a + 2), x, of(a + 3)), x), x, of(1));
      if (!slopes) continue;
      const V slope = of(side == 0 ? slope_ : -slope_);
      to.slope[far] = hn::Mul(
          hn::MulAdd(hn::MulSub(of(3 * a), v, of(10 * a)), v, of(8 * a)),
          slope);
      to.slope[near] = hn::Mul(
          hn::Mul(hn::MulSub(of(3 * (a + 2)), x, of(2 * (a + 3))), x), slope);
    }
  }

  static constexpr D d{};
  static constexpr DI di{};
  SampleRule rule_;
  Index size_, distance_;
  T last_, slope_, high_;
};

// Taps of a point: those along its dims, all with all; `i` is its place in the
// rows.
template <Sample kMode, int kDims, class D, class T = hn::TFromD<D>>
HWY_INLINE void join(D d, const AxisTaps<D>* axes, int64_t i,
                     const GridRows<T>& to) {
  using V = hn::Vec<D>;
  const hn::Rebind<IndexAsWide<T>, D> di;
  constexpr int kEach = kMode == Sample::Nearest  ? 1
                        : kMode == Sample::Linear ? 2
                                                  : 4;
  const AxisTaps<D>&a = axes[0], &b = axes[1], &c = axes[kDims - 1];
  const V one = hn::Set(d, T(1));
  for (int z = 0; z < (kDims == 3 ? kEach : 1); ++z) {
    for (int y = 0; y < kEach; ++y) {
      auto sum = b.at[y], outside = b.at[y];
      if constexpr (kDims == 3) {
        sum = hn::Add(sum, c.at[z]);
        outside = hn::Or(outside, c.at[z]);
      }
      for (int x = 0; x < kEach; ++x) {
        const int64_t k = (z * kEach + y) * kEach + x;
        const int64_t at = k * GridBlock<T>::kBlock + i;
        const auto nowhere = hn::Lt(hn::Or(outside, a.at[x]), hn::Zero(di));
        hn::StoreU(
            hn::IfThenElse(nowhere, hn::Set(di, -1), hn::Add(sum, a.at[x])), di,
            to.at + at);
        if constexpr (kMode != Sample::Nearest) {
          const V w = kDims == 3 ? c.weight[z] : one;
          const V outer = hn::Mul(b.weight[y], w);
          hn::StoreU(hn::Mul(a.weight[x], outer), d, to.weights + at);
          if (to.slopes[0] == nullptr) continue;
          hn::StoreU(hn::Mul(a.slope[x], outer), d, to.slopes[0] + at);
          hn::StoreU(hn::Mul(a.weight[x], hn::Mul(b.slope[y], w)), d,
                     to.slopes[1] + at);
          if constexpr (kDims == 3) {
            hn::StoreU(hn::Mul(a.weight[x], hn::Mul(b.weight[y], c.slope[z])),
                       d, to.slopes[2] + at);
          }
        }
      }
    }
  }
}

template <Sample kMode, int kDims, class T>
void set_points(const SampleRule& rule, const int64_t* sizes, const T* points,
                int64_t count, const GridRows<T>& to) {
  const hn::ScalableTag<T> d;
  using D = hn::ScalableTag<T>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));
  const Axis<D> axes[] = {
      {rule, sizes[0], 1},
      {rule, sizes[1], sizes[0]},
      {rule, kDims == 3 ? sizes[2] : 1, sizes[0] * sizes[1]}};
  const bool slopes = to.slopes[0] != nullptr;
  for (int64_t i = 0; i < count; i += kLanes) {
    T room[kDims * kLanes] = {};
    const T* from = points + i * kDims;
    if (i + kLanes > count) {
      std::copy(from, points + count * kDims, room);
      from = room;
    }
    hn::Vec<D> at[3];
    if constexpr (kDims == 2) {
      hn::LoadInterleaved2(d, from, at[0], at[1]);
    } else {
      hn::LoadInterleaved3(d, from, at[0], at[1], at[2]);
    }
    AxisTaps<D> taps[kDims];
    for (int k = 0; k < kDims; ++k) {
      axes[k].template set<kMode>(at[k], slopes, taps[k]);
    }
    join<kMode, kDims>(d, taps, i, to);
  }
}

}  // namespace

template <class T>
void set_block(const SampleRule& rule, int64_t n, const int64_t* sizes,
               const T* points, int64_t count, const GridRows<T>& to) {
  const auto set = [&]<Sample kMode>() {
    n == 2 ? set_points<kMode, 2>(rule, sizes, points, count, to)
           : set_points<kMode, 3>(rule, sizes, points, count, to);
  };
  switch (rule.mode) {
    case Sample::Linear: return set.template operator()<Sample::Linear>();
    case Sample::Nearest: return set.template operator()<Sample::Nearest>();
    default: return set.template operator()<Sample::Cubic>();
  }
}
template void set_block(const SampleRule&, int64_t, const int64_t*,
                        const float*, int64_t, const GridRows<float>&);
template void set_block(const SampleRule&, int64_t, const int64_t*,
                        const double*, int64_t, const GridRows<double>&);

}  // namespace sy::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sy::cpu {

template <class T>
GridBlock<T>::GridBlock(const SampleRule& rule, int64_t n, const int64_t* sizes,
                        bool slopes)
    : rule_(rule), n_(static_cast<size_t>(n)), taps_(1) {
  for (size_t d = 0; d < n_; ++d) {
    sizes_[d] = sizes[d];
    taps_ *= rule.taps();
  }
  at_.resize(static_cast<size_t>(taps_ * kBlock));
  weights_[n_].resize(at_.size(), T(1));
  if (!slopes || rule.mode == Sample::Nearest) return;
  for (size_t d = 0; d < n_; ++d) weights_[d].resize(at_.size());
}

template <class T>
void GridBlock<T>::set(const T* points, int64_t count) {
  static constexpr SetPoints<T> kSet[] = {
      &N_SSE4::set_block<T>, &N_AVX2::set_block<T>, &N_AVX3::set_block<T>};
  GridRows<T> to{at_.data(), weights_[n_].data(), {}};
  for (size_t d = 0; d < n_; ++d) {
    to.slopes[d] = weights_[d].empty() ? nullptr : weights_[d].data();
  }
  kSet[static_cast<int>(tiles::active_isa())](rule_, static_cast<int64_t>(n_),
                                              sizes_, points, count, to);
}

template class GridBlock<float>;
template class GridBlock<double>;

}  // namespace sy::cpu
#endif
