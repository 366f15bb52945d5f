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
  if (p.x <= 0) return {0, 0};
  return p.x < last ? p : Place<T>{last, 0};
}

// Within [0, size - 1], unless what lies beyond is zero.
template <class T>
Place<T> brought_back(const SampleRule& r, Place<T> p, int64_t size) {
  const T last = static_cast<T>(size - 1);
  switch (r.beyond) {
    case Beyond::Zeros: return p;
    case Beyond::Border: return clipped(p, last);
    default: {
      const T edge = r.align_corners ? T(0) : T(0.5);
      return clipped(reflected(p, -edge, last + edge), last);
    }
  }
}

// -1 for what is not within the dim, NaN with it.
template <class Index, class T>
Index index_of(T x, int64_t size) {
  return x >= 0 && x < static_cast<T>(size) ? static_cast<Index>(x) : -1;
}

// x rounded down; of what is far outside something outside.
template <class T>
T floor_near(T x, int64_t size) {
  const T low = -4, high = static_cast<T>(size) + 4;
  if (!(x > low)) return low;
  if (!(x < high)) return high;
  const T whole = static_cast<T>(static_cast<int64_t>(x));
  return whole - static_cast<T>(whole > x);
}

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
  const int64_t size = sizes_[d];
  const T slope = static_cast<T>(rule_.align_corners ? size - 1 : size) / 2;
  const T shift = rule_.align_corners ? 0 : T(-0.5);
  Index* const at = axis_at_[d].data();
  T* const weights = axis_weights_[d].data();
  T* const slopes = axis_slopes_[d].data();
  for (int64_t i = 0; i < count; ++i) {
    const T x = (points[i * static_cast<int64_t>(n_) + d] + 1) * slope + shift;
    if (rule_.mode == Sample::Cubic) {
      const T low = floor_near(x, size);
      T w[4], s[4];
      cubic_weights(x - std::floor(x), w, s);
      // Taps of a place that is far outside may come back.
      const T first =
          rule_.beyond == Beyond::Zeros ? low - 1 : std::floor(x) - 1;
      for (int64_t k = 0; k < 4; ++k) {
        const Place<T> tap =
            brought_back<T>(rule_, {first + static_cast<T>(k), 1}, size);
        at[k * kBlock + i] = index_of<Index>(tap.x, size);
        weights[k * kBlock + i] = w[k];
        slopes[k * kBlock + i] = s[k] * slope;
      }
      continue;
    }
    const Place<T> p = brought_back<T>(rule_, {x, slope}, size);
    const T low = floor_near(p.x, size);
    const T part = p.x - low;
    if (rule_.mode == Sample::Nearest) {
      // Halves go to the even neighbour.
      const bool up = part > T(0.5) ||
                      (part == T(0.5) && static_cast<int64_t>(low) % 2 != 0);
      at[i] = index_of<Index>(low + static_cast<T>(up), size);
      weights[i] = 1;
      slopes[i] = 0;
      continue;
    }
    at[i] = index_of<Index>(low, size);
    at[kBlock + i] = index_of<Index>(low + 1, size);
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
