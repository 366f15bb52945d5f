#include "backends/cpu/grid_points.h"

#include <algorithm>
#include <cmath>

namespace sy::cpu {

namespace {

// A place and how it moves with the coordinate that it came from.
template <class T>
struct Place {
  T x, slope;
};

template <class T>
Place<T> reflected(Place<T> p, T low, T high) {
  const T span = high - low;
  if (!(span > 0)) return {0, 0};
  T x = p.x - low, slope = p.slope;
  if (x < 0) {
    x = -x;
    slope = -slope;
  }
  const T extra = std::fmod(x, span);
  const bool even = std::fmod(std::floor(x / span), T(2)) == 0;
  return even ? Place<T>{extra + low, slope}
              : Place<T>{span - extra + low, -slope};
}

template <class T>
Place<T> clipped(Place<T> p, T last) {
  const T upper = p.x < last ? p.x : last;
  return {p.x <= 0 ? T(0) : upper, (p.x > 0) & (p.x < last) ? p.slope : T(0)};
}

// Within [0, size - 1], unless what lies beyond is zero.
template <Beyond kBeyond, class T>
Place<T> brought_back(const SampleRule& r, Place<T> p, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if constexpr (kBeyond == Beyond::Zeros) return p;
  if constexpr (kBeyond == Beyond::Reflection) {
    const T edge = r.align_corners ? T(0) : T(0.5);
    p = reflected(p, -edge, last + edge);
  }
  return clipped(p, last);
}

// -1 for what is not within the dim.
template <class Index>
Index index_of(Index i, int64_t size) {
  return (i >= 0) & (i < size) ? i : Index(-1);
}

// x rounded down; of what is far outside, or NaN, something outside.
template <class T>
struct Floor {
  using Index = IndexAsWide<T>;
  T low, high;

  explicit Floor(int64_t size)
      : low(-8),
        high(std::min(static_cast<T>(size) + 8,
                      // The largest that an index can be.
                      sizeof(T) == 4 ? T(0x1.fffffep30) : T(0x1p62))) {}
  T near(T x) const {
    const T at_least = x > low ? x : low;
    return at_least < high ? at_least : high;
  }
  // Of a result of near().
  Index operator()(T x) const {
    const auto whole = static_cast<Index>(x);
    return whole - static_cast<Index>(static_cast<T>(whole) > x);
  }
};

// Keys' cubic convolution with a = -0.75: the weights of the four elements
// around a place `t` after the second, and their slopes.
template <class T>
void cubic_weights(T t, T* w, T* slope) {
  const T a = T(-0.75), u = 1 - t;
  const T v = t + 1, x = u + 1;
  w[0] = ((a * v - 5 * a) * v + 8 * a) * v - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
  w[3] = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  slope[0] = (3 * a * v - 10 * a) * v + 8 * a;
  slope[1] = (3 * (a + 2) * t - 2 * (a + 3)) * t;
  slope[2] = -(3 * (a + 2) * u - 2 * (a + 3)) * u;
  slope[3] = -((3 * a * x - 10 * a) * x + 8 * a);
}

}  // namespace

template <class T>
GridBlock<T>::GridBlock(const SampleRule& rule, int64_t n, const int64_t* sizes,
                        bool slopes)
    : rule_(rule),
      n_(static_cast<size_t>(n)),
      each_(rule.taps()),
      taps_(1),
      with_slopes_(slopes) {
  const auto of_axis = static_cast<size_t>(each_ * kBlock);
  for (size_t d = 0; d < n_; ++d) {
    sizes_[d] = sizes[d];
    taps_ *= each_;
    axis_at_[d].resize(of_axis);
    axis_weights_[d].resize(of_axis);
    axis_slopes_[d].resize(of_axis);
  }
  at_.resize(static_cast<size_t>(taps_ * kBlock));
  for (size_t d = 0; d <= n_; ++d) {
    if (d == n_ || slopes) weights_[d].resize(at_.size());
  }
}

template <class T>
void GridBlock<T>::set(const T* points, int64_t count) {
  for (size_t d = 0; d < n_; ++d) {
    set_axis(static_cast<int64_t>(d), points, count);
  }
  join(count);
}

template <class T>
void GridBlock<T>::set_axis(int64_t d, const T* points, int64_t count) {
  switch (rule_.beyond) {
    case Beyond::Zeros: return set_taps<Beyond::Zeros>(d, points, count);
    case Beyond::Border: return set_taps<Beyond::Border>(d, points, count);
    default: return set_taps<Beyond::Reflection>(d, points, count);
  }
}

// Loops without branches, where what lies beyond is not reflected.
template <class T>
template <Beyond kBeyond>
void GridBlock<T>::set_taps(int64_t d, const T* points, int64_t count) {
  const int64_t size = sizes_[d], step = static_cast<int64_t>(n_);
  const T slope = static_cast<T>(rule_.align_corners ? size - 1 : size) / 2;
  const T shift = rule_.align_corners ? 0 : T(-0.5);
  const Floor<T> floor(size);
  Index* const at = axis_at_[d].data();
  T* const weights = axis_weights_[d].data();
  T* const slopes = axis_slopes_[d].data();
  points += d;
  if (rule_.mode == Sample::Cubic) {
    for (int64_t i = 0; i < count; ++i) {
      const T x = (points[i * step] + 1) * slope + shift;
      T w[4], s[4];
      cubic_weights(x - std::floor(x), w, s);
      // Taps of a place that is far outside may come back.
      const T first =
          (kBeyond == Beyond::Zeros ? static_cast<T>(floor(floor.near(x)))
                                    : std::floor(x)) -
          1;
      for (int64_t k = 0; k < 4; ++k) {
        const Place<T> tap = brought_back<kBeyond, T>(
            rule_, {first + static_cast<T>(k), 1}, size);
        at[k * kBlock + i] = index_of(floor(floor.near(tap.x)), size);
        weights[k * kBlock + i] = w[k];
        slopes[k * kBlock + i] = s[k] * slope;
      }
    }
    return;
  }
  if (rule_.mode == Sample::Nearest) {
    for (int64_t i = 0; i < count; ++i) {
      const T x = (points[i * step] + 1) * slope + shift;
      const T place =
          floor.near(brought_back<kBeyond, T>(rule_, {x, slope}, size).x);
      const Index low = floor(place);
      const T part = place - static_cast<T>(low);
      // Halves go to the even neighbour.
      const bool up = (part > T(0.5)) | ((part == T(0.5)) & ((low & 1) != 0));
      at[i] = index_of(low + static_cast<Index>(up), size);
      weights[i] = 1;
      slopes[i] = 0;
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const T x = (points[i * step] + 1) * slope + shift;
    const Place<T> p = brought_back<kBeyond, T>(rule_, {x, slope}, size);
    const Index low = floor(floor.near(p.x));
    const T part = p.x - static_cast<T>(low);
    at[i] = index_of(low, size);
    at[kBlock + i] = index_of(low + Index(1), size);
    weights[i] = 1 - part;
    weights[kBlock + i] = part;
    slopes[i] = -p.slope;
    slopes[kBlock + i] = p.slope;
  }
}

template <class T>
void GridBlock<T>::join(int64_t count) {
  for (int64_t k = 0; k < taps_; ++k) {
    Index* const at = at_.data() + k * kBlock;
    int64_t rest = k, stride = 1;
    for (size_t d = 0; d < n_; ++d) {
      const int64_t from = rest % each_ * kBlock;
      const Index* const a = axis_at_[d].data() + from;
      const Index s = static_cast<Index>(stride);
      if (d == 0) std::fill(at, at + count, Index(0));
      for (int64_t i = 0; i < count; ++i) {
        at[i] = at[i] < 0 || a[i] < 0 ? Index(-1) : at[i] + a[i] * s;
      }
      rest /= each_;
      stride *= sizes_[d];
    }
    // Dim `by` with its slopes, all others with their weights.
    for (size_t by = with_slopes_ ? 0 : n_; by <= n_; ++by) {
      T* const w = weights_[by].data() + k * kBlock;
      rest = k;
      for (size_t d = 0; d < n_; ++d, rest /= each_) {
        const T* const f = (d == by ? axis_slopes_ : axis_weights_)[d].data() +
                           rest % each_ * kBlock;
        if (d == 0) {
          std::copy(f, f + count, w);
        } else {
          for (int64_t i = 0; i < count; ++i) w[i] *= f[i];
        }
      }
    }
  }
}

template class GridBlock<float>;
template class GridBlock<double>;

}  // namespace sy::cpu
