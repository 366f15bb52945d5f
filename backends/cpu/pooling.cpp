#include <algorithm>
#include <iterator>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernel/row_kernel.h"
#include "backends/cpu/pooling.h"
#include "backends/cpu/pooling_kernels_gen.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

// Means: the rows of a window are added up, then parts of that row.

namespace {

int64_t count_of(const WindowAxis& a, const MeanDivisor& d, int64_t i) {
  return d.with_padding ? a.padded[static_cast<size_t>(i)]
                        : a.last(i) - a.first(i);
}

// The divisor of the windows of a row, but for their counts along the width.
int64_t row_divisor(const Windows& w, const MeanDivisor& d, Windows::At at) {
  return count_of(w.axis[0], d, at.d) * count_of(w.axis[1], d, at.h);
}

int64_t divisor_of(const Windows& w, const MeanDivisor& d, int64_t row,
                   int64_t i) {
  if (d.fixed != 0) return d.fixed;
  return std::max<int64_t>(row * count_of(w.axis[2], d, i), 1);
}

// Windows as wide as planes: whole rows, which are side by side.
bool has_whole_rows(const Windows& w) {
  const WindowAxis& columns = w.axis[2];
  return columns.windows() == 1 && columns.first(0) == 0 &&
         columns.last(0) == columns.size;
}

// Integers wrap around.
template <class T>
constexpr T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <class T>
T sum_of_rows(const Windows& w, Windows::At at, const T* plane) {
  const WindowAxis &depth = w.axis[0], &height = w.axis[1];
  const int64_t width = w.axis[2].size, first = height.first(at.h);
  const tiles::ReduceFn add =
      tiles::reduce_fn(tiles::Reduction::sum,
                       program::compute_type_of(CppTypeToScalarType<T>::value));
  std::conditional_t<std::is_integral_v<T>, int64_t, double> sum = 0;
  for (int64_t z = depth.first(at.d); z < depth.last(at.d); ++z) {
    add(&sum, plane + (z * height.size + first) * width,
        (height.last(at.h) - first) * width);
  }
  return static_cast<T>(sum);
}

template <class T>
void means_of_planes(const Images& in, const Windows& w, const MeanDivisor& by,
                     const Images& out) {
  const WindowAxis& columns = w.axis[2];
  const int64_t width = columns.size, wide = columns.windows();
  const int64_t rows = w.count() / std::max<int64_t>(wide, 1);
  const bool whole_rows = has_whole_rows(w);
  const T* const from = in.data<T>();
  T* const to = out.data<T>();
  const auto& kernel = row_kernels<T>();
  parallel_for(
      0, in.planes() * rows, grain_of(wide * w.extent()),
      [&](int64_t begin, int64_t end) {
        ScratchVector<T> sums(static_cast<size_t>(width));
        for (int64_t r = begin; r < end; ++r) {
          Windows::At at = w.at(r % rows * wide);
          const T* const plane = from + r / rows * in.places();
          if (whole_rows) {
            to[r] =
                sum_of_rows(w, at, plane) /
                static_cast<T>(divisor_of(w, by, row_divisor(w, by, at), 0));
            continue;
          }
          std::fill(sums.begin(), sums.end(), T(0));
          rows_of_window(w, at.d, at.h, [&](int64_t row) {
            kernel.add(plane + row * width, width, sums.data());
          });
          const int64_t outer = row_divisor(w, by, at);
          for (at.w = 0; at.w < wide; ++at.w) {
            T sum = 0;
            for (int64_t x = columns.first(at.w); x < columns.last(at.w); ++x) {
              sum = wrapped_sum(sum, sums[static_cast<size_t>(x)]);
            }
            to[r * wide + at.w] =
                sum / static_cast<T>(divisor_of(w, by, outer, at.w));
          }
        }
      });
}

template <class E>
void means_of_channels(const Images& in, const Windows& w,
                       const MeanDivisor& by, const Images& out) {
  using T = typename Accumulate<E>::type;
  const auto& kernel = window_kernels<E>();
  for_each_window<E>(
      in, w,
      [&](const E* image, const WindowPlaces& p, Windows::At at, int64_t i) {
        const int64_t n = divisor_of(w, by, row_divisor(w, by, at), at.w);
        kernel.mean(image, p, static_cast<T>(n),
                    out.data<E>() + i * p.channels);
      });
}

template <class T>
void add_to_rows(const Windows& w, Windows::At at, T share, T* plane) {
  const WindowAxis &depth = w.axis[0], &height = w.axis[1];
  const int64_t width = w.axis[2].size;
  for (int64_t z = depth.first(at.d); z < depth.last(at.d); ++z) {
    T* const slice = plane + z * height.size * width;
    for (int64_t i = height.first(at.h) * width; i < height.last(at.h) * width;
         ++i) {
      slice[i] = wrapped_sum(slice[i], share);
    }
  }
}

// A plane is summed by one thread, in the order of the windows.
template <class T>
void share_to_planes(const Images& grad, const Windows& w,
                     const MeanDivisor& by, const Images& out) {
  const WindowAxis& columns = w.axis[2];
  const int64_t width = columns.size, wide = columns.windows();
  const int64_t rows = w.count() / std::max<int64_t>(wide, 1);
  const bool whole_rows = has_whole_rows(w);
  const T* const from = grad.data<T>();
  T* const to = out.data<T>();
  const auto& kernel = row_kernels<T>();
  parallel_for(
      0, out.planes(), grain_of(w.count() * w.extent()),
      [&](int64_t begin, int64_t end) {
        ScratchVector<T> shares(static_cast<size_t>(width));
        for (int64_t p = begin; p < end; ++p) {
          T* const plane = to + p * out.places();
          std::fill(plane, plane + out.places(), T(0));
          for (int64_t r = 0; r < rows; ++r) {
            Windows::At at = w.at(r * wide);
            const int64_t outer = row_divisor(w, by, at);
            if (whole_rows) {
              add_to_rows(w, at,
                          from[p * rows + r] /
                              static_cast<T>(divisor_of(w, by, outer, 0)),
                          plane);
              continue;
            }
            std::fill(shares.begin(), shares.end(), T(0));
            for (at.w = 0; at.w < wide; ++at.w) {
              const T share = from[(p * rows + r) * wide + at.w] /
                              static_cast<T>(divisor_of(w, by, outer, at.w));
              for (int64_t x = columns.first(at.w); x < columns.last(at.w);
                   ++x) {
                T& there = shares[static_cast<size_t>(x)];
                there = wrapped_sum(there, share);
              }
            }
            rows_of_window(w, at.d, at.h, [&](int64_t row) {
              kernel.add(shares.data(), width, plane + row * width);
            });
          }
        }
      });
}

template <class T>
void share_to_channels(const Images& grad, const Windows& w,
                       const MeanDivisor& by, const Images& out) {
  const int64_t count = w.count(), channels = out.channels;
  const int64_t image = out.places() * channels;
  const auto& kernel = window_kernels<T>();
  parallel_for(0, out.images, 1, [&](int64_t begin, int64_t end) {
    PlacesOfWindow windows(w);
    for (int64_t p = begin; p < end; ++p) {
      T* const to = out.data<T>() + p * image;
      std::fill(to, to + image, T(0));
      for (int64_t i = 0; i < count; ++i) {
        const std::vector<int64_t>& places = windows.get(i);
        const Windows::At at = windows.at();
        kernel.share(
            to, {places.data(), std::ssize(places), channels},
            static_cast<T>(divisor_of(w, by, row_divisor(w, by, at), at.w)),
            grad.data<T>() + (p * count + i) * channels);
      }
    }
  });
}

}  // namespace

void pool_means(int64_t n, const Tensor& self, const Windows& w,
                const MeanDivisor& by, const Tensor& out) {
  const bool last = has_channels_last(self, n);
  const ScalarType dtype =
      last ? read_as(self.dtype()) : computed_as(self.dtype());
  const Images in = read_images(self, n, dtype, last);
  const Images room = room_for_images(out, n, dtype, last);
  if (last) {
    visit_read(dtype,
               [&]<class E>() { means_of_channels<E>(in, w, by, room); });
  } else {
    visit_computed(dtype,
                   [&]<class T>() { means_of_planes<T>(in, w, by, room); });
  }
  store_images(room, out);
}

void share_means(int64_t n, const Tensor& grad_output, const Tensor& self,
                 const Windows& w, const MeanDivisor& by, const Tensor& out) {
  const ScalarType dtype = computed_as(self.dtype());
  const bool last = has_channels_last(self, n);
  const Images grad = read_images(grad_output, n, dtype, last);
  const Images room = room_for_images(out, n, dtype, last);
  visit_computed(dtype, [&]<class T>() {
    last ? share_to_channels<T>(grad, w, by, room)
         : share_to_planes<T>(grad, w, by, room);
  });
  store_images(room, out);
}

namespace {

// The means of the windows that a pooling operator's arguments ask for.
void avg_pool(int64_t n, const Tensor& self, IntArrayRef kernel_size,
              IntArrayRef stride, IntArrayRef padding, const MeanDivisor& by,
              const Tensor& out) {
  lie_like(self, n, out);
  if (out.numel() == 0) return;
  const Windows w = pooling_windows(n, self.sizes(), out.sizes(), kernel_size,
                                    stride, padding, IntArrayRef({1}));
  pool_means(n, self, w, by, out);
}

void avg_pool_backward(int64_t n, const Tensor& grad_output, const Tensor& self,
                       IntArrayRef kernel_size, IntArrayRef stride,
                       IntArrayRef padding, const MeanDivisor& by,
                       const Tensor& out) {
  lie_like(self, n, out);
  if (out.numel() == 0) return;
  const Windows w =
      pooling_windows(n, self.sizes(), grad_output.sizes(), kernel_size, stride,
                      padding, IntArrayRef({1}));
  share_means(n, grad_output, self, w, by, out);
}

}  // namespace

void avg_pool1d_out(const Tensor& self, IntArrayRef kernel_size,
                    IntArrayRef stride, IntArrayRef padding, bool,
                    bool count_include_pad, const Tensor& out) {
  avg_pool(1, self, kernel_size, stride, padding, {count_include_pad}, out);
}

void avg_pool2d_out(const Tensor& self, IntArrayRef kernel_size,
                    IntArrayRef stride, IntArrayRef padding, bool,
                    bool count_include_pad,
                    std::optional<int64_t> divisor_override,
                    const Tensor& out) {
  avg_pool(2, self, kernel_size, stride, padding,
           {count_include_pad, divisor_override.value_or(0)}, out);
}

void avg_pool2d_backward_out(const Tensor& grad_output, const Tensor& self,
                             IntArrayRef kernel_size, IntArrayRef stride,
                             IntArrayRef padding, bool, bool count_include_pad,
                             std::optional<int64_t> divisor_override,
                             const Tensor& out) {
  avg_pool_backward(2, grad_output, self, kernel_size, stride, padding,
                    {count_include_pad, divisor_override.value_or(0)}, out);
}

void avg_pool3d_out(const Tensor& self, IntArrayRef kernel_size,
                    IntArrayRef stride, IntArrayRef padding, bool,
                    bool count_include_pad,
                    std::optional<int64_t> divisor_override,
                    const Tensor& out) {
  avg_pool(3, self, kernel_size, stride, padding,
           {count_include_pad, divisor_override.value_or(0)}, out);
}

void avg_pool3d_backward_out(const Tensor& grad_output, const Tensor& self,
                             IntArrayRef kernel_size, IntArrayRef stride,
                             IntArrayRef padding, bool, bool count_include_pad,
                             std::optional<int64_t> divisor_override,
                             const Tensor& out) {
  avg_pool_backward(3, grad_output, self, kernel_size, stride, padding,
                    {count_include_pad, divisor_override.value_or(0)}, out);
}

}  // namespace sy::cpu
