#include <algorithm>

#include "backends/cpu/pooling.h"

namespace sy::cpu {

namespace {

int64_t from_end(IntArrayRef list, int64_t i) {
  return list[list.size() - static_cast<size_t>(i)];
}

WindowAxis empty_axis(int64_t size, int64_t windows) {
  WindowAxis a;
  a.size = size;
  const auto n = static_cast<size_t>(windows);
  a.begin.resize(n);
  a.end.resize(n);
  a.padded.resize(n);
  return a;
}

}  // namespace

int64_t Windows::extent() const {
  int64_t elements = 1;
  for (const WindowAxis& a : axis) {
    elements *= std::min(a.size, a.size / std::max<int64_t>(a.windows(), 1) +
                                     1 + (a.regular ? a.kernel : 0));
  }
  return elements;
}

Windows pooling_windows(int64_t n, IntArrayRef sizes, IntArrayRef pooled,
                        IntArrayRef kernel_size, IntArrayRef stride,
                        IntArrayRef padding, IntArrayRef dilation) {
  Windows out;
  for (int64_t k = 0; k < n; ++k) {
    WindowAxis& a = out.axis[3 - n + k];
    a = empty_axis(from_end(sizes, n - k), from_end(pooled, n - k));
    a.kernel = number_of(kernel_size, k);
    a.stride = number_of(stride.empty() ? kernel_size : stride, k);
    a.padding = number_of(padding, k);
    a.dilation = number_of(dilation, k);
    for (size_t i = 0; i < a.begin.size(); ++i) {
      const int64_t start = static_cast<int64_t>(i) * a.stride - a.padding;
      const int64_t extent = a.dilation * (a.kernel - 1) + 1;
      const int64_t skipped =
          start < 0 ? (-start + a.dilation - 1) / a.dilation : 0;
      a.begin[i] = std::min(start + skipped * a.dilation, a.size);
      a.end[i] = std::clamp(start + extent, a.begin[i], a.size);
      a.padded[i] = std::min(start + extent, a.size + a.padding) - start;
    }
  }
  return out;
}

Windows adaptive_windows(int64_t n, IntArrayRef sizes, IntArrayRef pooled) {
  Windows out;
  for (int64_t k = 0; k < n; ++k) {
    WindowAxis& a = out.axis[3 - n + k];
    const int64_t size = from_end(sizes, n - k);
    const int64_t count = from_end(pooled, n - k);
    a = empty_axis(size, count);
    a.regular = false;
    // i * size / count, and as much upwards of i + 1, without the product.
    const int64_t whole = size / count, part = size % count;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      a.begin[at] = i * whole + i * part / count;
      a.end[at] = (i + 1) * whole + ((i + 1) * part + count - 1) / count;
      a.padded[at] = a.end[at] - a.begin[at];
    }
  }
  return out;
}

const std::vector<int64_t>& PlacesOfWindow::get(int64_t i) {
  const WindowAxis& a = w_.axis[2];
  const int64_t before = at_.w;
  const bool beside = i == next_ && before + 1 < a.windows();
  next_ = i + 1;
  if (beside) {
    ++at_.w;
    const int64_t width = a.last(at_.w) - a.first(at_.w);
    if (width == a.last(before) - a.first(before)) {
      const int64_t step = a.first(at_.w) - a.first(before);
      for (int64_t& place : places_) place += step;
      return places_;
    }
  } else {
    at_ = w_.at(i);
  }
  places_.clear();
  rows_of_window(w_, at_.d, at_.h, [&](int64_t row) {
    for (int64_t x = a.first(at_.w); x < a.last(at_.w); x += a.dilation) {
      places_.push_back(row * a.size + x);
    }
  });
  return places_;
}

ScalarType read_as(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16 ? dtype : computed_as(dtype);
}

}  // namespace sy::cpu
