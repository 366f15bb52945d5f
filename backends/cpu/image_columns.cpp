#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/contract/pooling_windows.h"
#include "backends/cpu/image_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/images.h"
#include "c10/process/parallel.h"

// Windows of images as columns, and back: a row of the columns holds, for one
// element of the windows, that element of all of them.

namespace sy::cpu {

namespace {

struct Columns {
  int64_t height, width;  // of an image
  int64_t kernel[2], dilation[2], padding[2], stride[2], counts[2];

  Columns(const char* op, IntArrayRef image, IntArrayRef k, IntArrayRef d,
          IntArrayRef p, IntArrayRef s)
      : height(image[image.size() - 2]), width(image[image.size() - 1]) {
    const Dims n = geometry::window_counts(
        op, IntArrayRef(image.data() + image.size() - 2, 2), k, s, p, d);
    for (size_t i = 0; i < 2; ++i) {
      kernel[i] = k[i];
      dilation[i] = d[i];
      padding[i] = p[i];
      stride[i] = s[i];
      counts[i] = n[static_cast<int64_t>(i)];
    }
  }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t windows() const { return counts[0] * counts[1]; }
  // The windows [first, last) that have tap k along dim i within the image.
  struct Range {
    int64_t first, last, offset;
  };
  Range range(int i, int64_t k) const {
    const int64_t offset = k * dilation[i] - padding[i];
    const int64_t room = (i == 0 ? height : width) - 1 - offset;
    const int64_t first =
        offset >= 0 ? 0 : (-offset + stride[i] - 1) / stride[i];
    const int64_t last =
        room < 0 ? 0 : std::min(counts[i], room / stride[i] + 1);
    return {std::min(first, last), last, offset};
  }

  Range rows_of(int64_t tap) const { return range(0, tap / kernel[1]); }
  Range columns_of(int64_t tap) const { return range(1, tap % kernel[1]); }

  // f(image row, column row, first window, windows, first element) for the
  // parts of rows that tap `tap` takes from an image.
  template <class F>
  void visit(int64_t tap, const F& f) const {
    const Range rows = rows_of(tap), cols = columns_of(tap);
    for (int64_t y = rows.first; y < rows.last; ++y) {
      f(y * stride[0] + rows.offset, y, cols.first, cols.last - cols.first,
        cols.first * stride[1] + cols.offset);
    }
  }
};

template <class T>
void to_columns(const Columns& g, const T* image, int64_t tap, T* row) {
  const Columns::Range rows = g.rows_of(tap);
  const int64_t width = g.counts[1];
  std::fill(row, row + rows.first * width, T());
  std::fill(row + rows.last * width, row + g.windows(), T());
  g.visit(tap, [&](int64_t y, int64_t window_row, int64_t first, int64_t n,
                   int64_t x) {
    const T* const from = image + y * g.width + x;
    T* const begin = row + window_row * width;
    T* const to = begin + first;
    std::fill(begin, to, T());
    std::fill(to + n, begin + width, T());
    if (g.stride[1] == 1) {
      if (n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i * g.stride[1]];
    }
  });
}

template <class T>
void from_columns(const Columns& g, const T* columns, T* image) {
  std::fill(image, image + g.height * g.width, T());
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    const T* const row = columns + tap * g.windows();
    g.visit(tap, [&](int64_t y, int64_t window_row, int64_t first, int64_t n,
                     int64_t x) {
      T* const to = image + y * g.width + x;
      const T* const from = row + window_row * g.counts[1] + first;
      if (g.stride[1] == 1) {
        for (int64_t i = 0; i < n; ++i) to[i] += from[i];
      } else {
        for (int64_t i = 0; i < n; ++i) to[i * g.stride[1]] += from[i];
      }
    });
  }
}

}  // namespace

void im2col_out(const Tensor& self, IntArrayRef kernel_size,
                IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride,
                const Tensor& out) {
  if (out.numel() == 0) return;
  const Columns g("im2col", self.sizes(), kernel_size, dilation, padding,
                  stride);
  const Images in = read_images(self, 2, self.dtype(), false);
  const Images room = room_for_images(out, 1, self.dtype(), false);
  visit_element_size(self.itemsize(), [&]<class T>() {
    parallel_for(0, in.planes() * g.taps(), grain_of(g.windows()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     to_columns(g, in.data<T>() + i / g.taps() * in.places(),
                                i % g.taps(), room.data<T>() + i * g.windows());
                   }
                 });
  });
  store_images(room, out);
}

void col2im_out(const Tensor& self, IntArrayRef output_size,
                IntArrayRef kernel_size, IntArrayRef dilation,
                IntArrayRef padding, IntArrayRef stride, const Tensor& out) {
  if (out.numel() == 0) return;
  const Columns g("col2im", output_size, kernel_size, dilation, padding,
                  stride);
  // Sums of bools are made as numbers and become bools again.
  const ScalarType dtype =
      self.dtype() == kBool ? kLong : computed_as(self.dtype());
  const Images in = read_images(self, 1, dtype, false);
  const Images room = room_for_images(out, 2, dtype, false);
  const auto run = [&]<class T>() {
    parallel_for(0, room.planes(), grain_of(g.taps() * g.windows()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p) {
                     from_columns(g, in.data<T>() + p * g.taps() * g.windows(),
                                  room.data<T>() + p * room.places());
                   }
                 });
  };
  switch (dtype) {
    case kFloat: run.template operator()<float>(); break;
    case kDouble: run.template operator()<double>(); break;
    default: run.template operator()<int64_t>();
  }
  store_images(room, out);
}

}  // namespace sy::cpu
