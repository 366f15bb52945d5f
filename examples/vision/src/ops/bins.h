#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rois.h"

// The points of a box at which roi_align and ps_roi_align read an image. They
// lie on a grid, and the weight of a pixel is a product of one number for its
// row and one for its column.

namespace vision {

// The weights of one axis: bin b takes weights()[first + i] of the places
// begin + i, for i < count.
template <class T>
class AxisBins {
 public:
  struct Bin {
    int64_t begin = 0, count = 0, first = 0;
  };

  // `bins` bins of `size` each from `start` on, with `points` points in each,
  // over an axis of `length` places.
  AxisBins(int64_t bins, T start, T size, int64_t points, int64_t length)
      : bins_(static_cast<size_t>(bins)) {
    for (int64_t b = 0; b < bins; ++b) {
      Bin& bin = bins_[static_cast<size_t>(b)];
      bin.first = static_cast<int64_t>(weights_.size());
      const T from = start + static_cast<T>(b) * size;
      const auto [begin, end] = inside(from, size, points, length);
      for (int64_t i = begin; i < end; ++i) {
        add(bin,
            from + (static_cast<T>(i) + T(0.5)) * size / static_cast<T>(points),
            length);
      }
    }
  }

  const Bin& operator[](int64_t b) const {
    return bins_[static_cast<size_t>(b)];
  }
  const T* weights(const Bin& bin) const { return weights_.data() + bin.first; }

 private:
  // The first and the last points that may be within the axis: a box can be
  // much larger than the image.
  static std::pair<int64_t, int64_t> inside(T from, T size, int64_t points,
                                            int64_t length) {
    const T step = size / static_cast<T>(points);
    if (points <= 0 || !(step > 0)) return {0, std::max<int64_t>(points, 0)};
    const int64_t begin = whole((T(-1) - from) / step) - 2;
    const int64_t end = whole((static_cast<T>(length) - from) / step) + 2;
    return {std::clamp<int64_t>(begin, 0, points),
            std::clamp<int64_t>(end, 0, points)};
  }

  // Points up to a pixel outside count as on the edge; others as 0.
  void add(Bin& bin, T at, int64_t length) {
    if (!(at >= -1 && at <= static_cast<T>(length)) || length == 0) return;
    at = std::max(at, T(0));
    int64_t low = static_cast<int64_t>(at);
    int64_t high = low + 1;
    if (low >= length - 1) {
      low = high = length - 1;
      at = static_cast<T>(low);
    }
    const T share = at - static_cast<T>(low);
    add_weight(bin, low, 1 - share);
    add_weight(bin, high, share);
  }

  void add_weight(Bin& bin, int64_t place, T weight) {
    if (bin.count == 0) bin.begin = place;
    if (place < bin.begin) {  // a box that is inside out
      weights_.insert(weights_.begin() + bin.first,
                      static_cast<size_t>(bin.begin - place), T(0));
      bin.count += bin.begin - place;
      bin.begin = place;
    }
    const int64_t last = place - bin.begin;
    if (last >= bin.count) {
      bin.count = last + 1;
      weights_.resize(static_cast<size_t>(bin.first + bin.count), T(0));
    }
    weights_[static_cast<size_t>(bin.first + last)] += weight;
  }

  std::vector<Bin> bins_;
  std::vector<T> weights_;
};

// The bins of one box, and by what the sum over a bin is divided.
template <class T>
struct BoxBins {
  int64_t image;
  AxisBins<T> y, x;
  T count;

  // The sum of a plane over bin (ph, pw).
  T sum(const T* plane, int64_t width, int64_t ph, int64_t pw) const {
    const auto& rows = y[ph];
    const auto& columns = x[pw];
    const T* const wy = y.weights(rows);
    const T* const wx = x.weights(columns);
    T total = 0;
    for (int64_t i = 0; i < rows.count; ++i) {
      const T* const row = plane + (rows.begin + i) * width + columns.begin;
      T part = 0;
      for (int64_t j = 0; j < columns.count; ++j) part += wx[j] * row[j];
      total += wy[i] * part;
    }
    return total;
  }

  // Adds g to a plane over bin (ph, pw), by the weights.
  void spread(T g, T* plane, int64_t width, int64_t ph, int64_t pw) const {
    const auto& rows = y[ph];
    const auto& columns = x[pw];
    const T* const wy = y.weights(rows);
    const T* const wx = x.weights(columns);
    for (int64_t i = 0; i < rows.count; ++i) {
      T* const row = plane + (rows.begin + i) * width + columns.begin;
      const T gy = g * wy[i];
      for (int64_t j = 0; j < columns.count; ++j) row[j] += gy * wx[j];
    }
  }
};

}  // namespace vision
