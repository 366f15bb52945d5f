#include "aten/contract/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "c10/process/error.h"

namespace sy {

namespace {

// Elements of the source for one of the result.
template <class T>
T step_of(int64_t size, int64_t count, bool align_corners,
          std::optional<double> scale) {
  if (align_corners) {
    return count > 1 ? static_cast<T>(size - 1) / static_cast<T>(count - 1) : 0;
  }
  if (scale && *scale > 0) return static_cast<T>(1.0 / *scale);
  return static_cast<T>(size) / static_cast<T>(count);
}

// The place rounded down, within the dim; 0 if it is none.
template <class T>
int64_t place(T x, int64_t size) {
  if (!(x > 0)) return 0;
  return x < static_cast<T>(size) ? std::min(static_cast<int64_t>(x), size - 1)
                                  : size - 1;
}

// Keys' cubic convolution, by the distance from the element.
template <class T>
T cubic(T x, T a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

template <class T>
T sinc(T x) {
  if (x == 0) return 1;
  x *= std::numbers::pi_v<T>;
  return std::sin(x) / x;
}

template <class T>
T window(Resize mode, T x) {
  switch (mode) {
    case Resize::LinearAA: return std::max<T>(1 - std::abs(x), 0);
    case Resize::CubicAA: return cubic<T>(x, -0.5);
    default: return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
}

template <class T>
void reserve_taps(ResizeAxis<T>& a, int64_t taps) {
  const auto n = static_cast<size_t>(taps * a.count);
  a.taps = taps;
  a.at.assign(n, -1);
  a.weight.assign(n, 0);
}

template <class T>
void set_tap(ResizeAxis<T>& a, int64_t k, int64_t i, int64_t at, T weight) {
  const auto j = static_cast<size_t>(k * a.count + i);
  a.at[j] = static_cast<typename ResizeAxis<T>::Index>(at);
  a.weight[j] = weight;
}

template <class T>
void nearest(Resize mode, T step, ResizeAxis<T>& a) {
  const T shift = mode == Resize::NearestExact ? T(0.5) : T(0);
  reserve_taps(a, 1);
  for (int64_t i = 0; i < a.count; ++i) {
    set_tap(a, 0, i, place((static_cast<T>(i) + shift) * step, a.size), T(1));
  }
}

template <class T>
void linear(T step, bool align_corners, ResizeAxis<T>& a) {
  reserve_taps(a, 2);
  for (int64_t i = 0; i < a.count; ++i) {
    const T x =
        align_corners
            ? step * static_cast<T>(i)
            : std::max<T>(step * (static_cast<T>(i) + T(0.5)) - T(0.5), 0);
    const int64_t low = place(x, a.size);
    const T part = std::clamp<T>(x - static_cast<T>(low), 0, 1);
    set_tap(a, 0, i, low, 1 - part);
    set_tap(a, 1, i, std::min(low + 1, a.size - 1), part);
  }
}

template <class T>
void cubic_taps(T step, bool align_corners, ResizeAxis<T>& a) {
  reserve_taps(a, 4);
  for (int64_t i = 0; i < a.count; ++i) {
    const T x = align_corners ? step * static_cast<T>(i)
                              : step * (static_cast<T>(i) + T(0.5)) - T(0.5);
    const int64_t low = x < 0 ? -1 : place(x, a.size);
    const T part = std::clamp<T>(x - static_cast<T>(low), 0, 1);
    for (int64_t k = 0; k < 4; ++k) {
      set_tap(a, k, i, std::clamp<int64_t>(low - 1 + k, 0, a.size - 1),
              cubic<T>(part + 1 - static_cast<T>(k), -0.75));
    }
  }
}

// Finds antialiased taps as Pillow does.
template <class T>
void antialiased(Resize mode, T step, ResizeAxis<T>& a) {
  const int lobes = mode == Resize::LinearAA  ? 1
                    : mode == Resize::CubicAA ? 2
                                              : 3;
  const T widening = std::max<T>(step, 1);
  const T support = static_cast<T>(lobes) * widening;
  const auto first = [&](int64_t i) {
    return place(step * (static_cast<T>(i) + T(0.5)) - support + T(0.5),
                 a.size + 1);
  };
  const auto last = [&](int64_t i) {
    return place(step * (static_cast<T>(i) + T(0.5)) + support + T(0.5),
                 a.size + 1);
  };
  int64_t taps = 1;
  for (int64_t i = 0; i < a.count; ++i) {
    taps = std::max(taps, last(i) - first(i));
  }
  SY_CHECK(taps <= (int64_t{1} << 32) / a.count, Value,
           "expected scales for which tables of weights fit into memory, got "
           "{} weights for each of {} elements",
           taps, a.count);
  reserve_taps(a, taps);
  for (int64_t i = 0; i < a.count; ++i) {
    const T center = step * (static_cast<T>(i) + T(0.5));
    const int64_t low = first(i), n = last(i) - low;
    T total = 0;
    for (int64_t k = 0; k < n; ++k) {
      const T x = (static_cast<T>(low + k) - center + T(0.5)) / widening;
      const T w = window(mode, x);
      set_tap(a, k, i, low + k, w);
      total += w;
    }
    for (int64_t k = 0; k < n && total != 0; ++k) {
      a.weight[static_cast<size_t>(k * a.count + i)] /= total;
    }
  }
}

}  // namespace

template <class T>
ResizeAxis<T> resize_axis(Resize mode, int64_t size, int64_t count,
                          bool align_corners, std::optional<double> scale) {
  ResizeAxis<T> a;
  a.size = size;
  a.count = count;
  const bool nearest_place =
      mode == Resize::Nearest || mode == Resize::NearestExact;
  if (size == count && !nearest_place && mode != Resize::Cubic) {
    // A dim that stays is copied whatever the scale, as in PyTorch.
    reserve_taps(a, 1);
    for (int64_t i = 0; i < count; ++i) set_tap(a, 0, i, i, T(1));
    return a;
  }
  const T step = step_of<T>(size, count, align_corners, scale);
  switch (mode) {
    case Resize::Nearest:
    case Resize::NearestExact: nearest(mode, step, a); break;
    case Resize::Linear: linear(step, align_corners, a); break;
    case Resize::Cubic: cubic_taps(step, align_corners, a); break;
    default: antialiased(mode, step, a);
  }
  return a;
}
template SY_API ResizeAxis<float> resize_axis<float>(Resize, int64_t, int64_t,
                                                     bool,
                                                     std::optional<double>);
template SY_API ResizeAxis<double> resize_axis<double>(Resize, int64_t, int64_t,
                                                       bool,
                                                       std::optional<double>);

}  // namespace sy
