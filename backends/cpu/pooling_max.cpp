#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernel/row_kernel.h"
#include "backends/cpu/pooling.h"
#include "backends/cpu/pooling_max.h"
#include "backends/cpu/pooling_max_kernels_gen.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/tiles/kernels.h"
#include "c10/process/parallel.h"
#include "c10/tensor/integer_range.h"

namespace sy::cpu {

// Largest elements of windows and where they are. The first of equals counts,
// the last of NaNs, as in PyTorch.

namespace {

// A row of so many windows or more is taken at a time.
constexpr int64_t kWideRow = 8;

template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity
             ? -std::numeric_limits<T>::infinity()
             : std::numeric_limits<T>::lowest();
}

// The index of a window's first element; any that there is if it has none.
int64_t first_of_window(const Windows& w, Windows::At at) {
  const auto start = [](const WindowAxis& a, int64_t i) {
    return std::min(a.first(i), a.size - 1);
  };
  return (start(w.axis[0], at.d) * w.axis[1].size + start(w.axis[1], at.h)) *
             w.axis[2].size +
         start(w.axis[2], at.w);
}

// f(first, from, to) for each tap of a row of windows: `first` is the element,
// along the row, of window `from`; windows up to `to` have that tap.
template <class F>
void taps_of_row(const WindowAxis& a, const F& f) {
  const int64_t taps =
      std::min(a.kernel, (a.size + a.padding) / a.dilation + 1);
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t offset = k * a.dilation - a.padding;
    const int64_t from = offset >= 0 ? 0 : (-offset + a.stride - 1) / a.stride;
    const int64_t room = a.size - 1 - offset;
    const int64_t to =
        room < 0 ? 0 : std::min(a.windows(), room / a.stride + 1);
    if (from < to) f(from * a.stride + offset, from, to);
  }
}

// One row of windows of a plane: tap after tap for all of them.
template <class T, class Index = IndexAsWide<T>>
void max_row_by_taps(const Windows& w, Windows::At at, const T* plane, T* best,
                     Index* index) {
  const WindowAxis& a = w.axis[2];
  const int64_t wide = a.windows();
  std::fill(best, best + wide, lowest<T>());
  for (at.w = 0; at.w < wide; ++at.w) {
    index[at.w] = static_cast<Index>(first_of_window(w, at));
  }
  const auto& kernel = row_kernels<T>();
  rows_of_window(w, at.d, at.h, [&](int64_t row) {
    taps_of_row(a, [&](int64_t x, int64_t from, int64_t to) {
      const int64_t first = row * a.size + x;
      kernel.max(plane + first, a.stride, to - from, static_cast<Index>(first),
                 static_cast<Index>(a.stride), best + from, index + from);
    });
  });
}

// The same window by window.
template <class T, class Index = IndexAsWide<T>>
void max_row_by_windows(const Windows& w, Windows::At at, const T* plane,
                        T* best, Index* index) {
  const WindowAxis& a = w.axis[2];
  for (at.w = 0; at.w < a.windows(); ++at.w) {
    T most = lowest<T>();
    int64_t where = first_of_window(w, at);
    rows_of_window(w, at.d, at.h, [&](int64_t row) {
      const T* const elements = plane + row * a.size;
      for (int64_t x = a.first(at.w); x < a.last(at.w); x += a.dilation) {
        const T v = elements[x];
        const int64_t here = row * a.size + x;
        if (SY_UNLIKELY(v != v)) {
          most = v;
          where = here;
          continue;
        }
        // Chosen without a branch, which would be guessed wrong too often.
        where = v > most ? here : where;
        most = v > most ? v : most;
      }
    });
    best[at.w] = most;
    index[at.w] = static_cast<Index>(where);
  }
}

// A row of one window, of planes that are whole: all their elements in a row.
template <class T, class Index = IndexAsWide<T>>
void max_of_whole(const Windows& w, Windows::At at, const T* plane, T* best,
                  Index* index) {
  const auto type = tiles::compute_type_of(CppTypeToScalarType<T>::value);
  const WindowAxis& depth = w.axis[0];
  const int64_t area = w.axis[1].size * w.axis[2].size;
  const int64_t first = depth.first(at.d) * area;
  const int64_t n = depth.last(at.d) * area - first;
  if (n <= 0) return max_row_by_windows(w, at, plane, best, index);
  const T* const run = plane + first;
  T largest = run[0];
  tiles::reduce_fn(tiles::Reduction::max, type)(&largest, run, n);
  int64_t i = n;
  if (largest == largest) {
    i = tiles::find_fn(type)(run, n, &largest);
  } else {
    do --i;
    while (run[i] == run[i]);
  }
  *best = run[i];
  *index = static_cast<Index>(first + i);
}

bool is_whole(const WindowAxis& a) {
  return a.windows() == 1 && a.dilation == 1 && a.first(0) == 0 &&
         a.last(0) == a.size && a.size > 0;
}

template <class T>
void max_of_planes(const Images& in, const Windows& w, const Images& out,
                   const Images& indices) {
  using Index = IndexAsWide<T>;
  const int64_t wide = w.axis[2].windows(), rows = w.count() / wide;
  const bool by_taps = w.axis[2].regular && wide >= kWideRow;
  const bool whole =
      is_whole(w.axis[1]) && is_whole(w.axis[2]) && w.axis[0].dilation == 1;
  const auto max_row = whole     ? max_of_whole<T>
                       : by_taps ? max_row_by_taps<T>
                                 : max_row_by_windows<T>;
  parallel_for(0, in.planes() * rows, grain_of(wide * w.extent()),
               [&](int64_t begin, int64_t end) {
                 ScratchVector<Index> index(static_cast<size_t>(wide));
                 for (int64_t r = begin; r < end; ++r) {
                   const Windows::At at = w.at(r % rows * wide);
                   const T* const plane = in.data<T>() + r / rows * in.places();
                   max_row(w, at, plane, out.data<T>() + r * wide,
                           index.data());
                   std::copy(index.begin(), index.end(),
                             indices.data<int64_t>() + r * wide);
                 }
               });
}

template <class E>
void max_of_channels(const Images& in, const Windows& w, const Images& out,
                     const Images& indices) {
  const auto& kernel = window_kernels<E>();
  for_each_window<E>(
      in, w,
      [&](const E* image, const WindowPlaces& p, Windows::At at, int64_t i) {
        kernel.largest_at(image, p, first_of_window(w, at),
                          out.data<E>() + i * p.channels,
                          indices.data<int64_t>() + i * p.channels);
      });
}

template <class E>
void largest_of_channels(const Images& in, const Windows& w,
                         const Images& out) {
  const auto& kernel = window_kernels<E>();
  for_each_window<E>(
      in, w,
      [&](const E* image, const WindowPlaces& p, Windows::At, int64_t i) {
        kernel.largest(image, p, out.data<E>() + i * p.channels);
      });
}

// A window of padding alone has the least number of the type that was computed
// in. A shorter one of integers has a least number of its own.
void store_largest(const Images& room, const Tensor& out) {
  const ScalarType t = out.scalar_type();
  if (room.t.scalar_type() == kLong && t != kLong) {
    const int64_t least = integer_range(t).low;
    auto* const all = room.data<int64_t>();
    const int64_t n = room.planes() * room.places();
    for (int64_t i = 0; i < n; ++i) all[i] = std::max(all[i], least);
  }
  store_images(room, out);
}

}  // namespace

void pool_max(int64_t n, const Tensor& self, const Windows& w,
              const Tensor& out, const Tensor& indices) {
  const bool last = has_channels_last(self, n);
  ScalarType dtype = last ? read_as(self.dtype()) : computed_as(self.dtype());
  Images in = read_images(self, n, dtype, last);
  if (dtype != kLong && in.places() > std::numeric_limits<int32_t>::max()) {
    dtype = kDouble;  // for its wide indices
    in = read_images(self, n, dtype, last);
  }
  const Images room = room_for_images(out, n, dtype, last);
  const Images at = room_for_images(indices, n, kLong, last);
  if (last) {
    visit_read(dtype, [&]<class E>() { max_of_channels<E>(in, w, room, at); });
  } else {
    visit_computed(dtype,
                   [&]<class T>() { max_of_planes<T>(in, w, room, at); });
  }
  store_largest(room, out);
  store_images(at, indices);
}

namespace {

// Finds no indices: the rows of a window become one, then parts of that row.
template <class T>
void largest_of_planes(const Images& in, const Windows& w, const Images& out) {
  const WindowAxis& a = w.axis[2];
  const int64_t wide = a.windows(), rows = w.count() / wide;
  const auto& kernel = row_kernels<T>();
  constexpr T least = lowest<T>();
  const auto fill = tiles::prim_fn(
      lang::Prim::copy, tiles::compute_type_of(CppTypeToScalarType<T>::value));
  parallel_for(0, in.planes() * rows, grain_of(wide * w.extent()),
               [&](int64_t begin, int64_t end) {
                 ScratchVector<T> room(static_cast<size_t>(a.size));
                 for (int64_t r = begin; r < end; ++r) {
                   const Windows::At at = w.at(r % rows * wide);
                   const T* const plane = in.data<T>() + r / rows * in.places();
                   T* const best = out.data<T>() + r * wide;
                   fill(best, &least, nullptr, nullptr, 1, wide);
                   const T* all = nullptr;
                   rows_of_window(w, at.d, at.h, [&](int64_t row) {
                     const T* const here = plane + row * a.size;
                     if (all == nullptr) {
                       all = here;
                       return;
                     }
                     if (all != room.data()) {
                       std::copy(all, all + a.size, room.begin());
                       all = room.data();
                     }
                     kernel.largest(here, 1, a.size, room.data());
                   });
                   if (all == nullptr) continue;
                   taps_of_row(a, [&](int64_t x, int64_t from, int64_t to) {
                     kernel.largest(all + x, a.stride, to - from, best + from);
                   });
                 }
               });
}

void max_pool(int64_t n, const Tensor& self, IntArrayRef kernel_size,
              IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
              const Tensor& out, const Tensor& indices) {
  lie_like(self, n, out);
  lie_like(self, n, indices);
  if (out.numel() == 0) return;
  pool_max(n, self,
           pooling_windows(n, self.sizes(), out.sizes(), kernel_size, stride,
                           padding, dilation),
           out, indices);
}

}  // namespace

void max_pool_out(const Tensor& self, int64_t n, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool, const Tensor& out) {
  lie_like(self, n, out);
  if (out.numel() == 0) return;
  const Windows w = pooling_windows(n, self.sizes(), out.sizes(), kernel_size,
                                    stride, padding, dilation);
  const bool last = has_channels_last(self, n);
  const ScalarType dtype =
      last ? read_as(self.dtype()) : computed_as(self.dtype());
  const Images in = read_images(self, n, dtype, last);
  const Images room = room_for_images(out, n, dtype, last);
  if (last) {
    visit_read(dtype, [&]<class E>() { largest_of_channels<E>(in, w, room); });
  } else {
    visit_computed(dtype,
                   [&]<class T>() { largest_of_planes<T>(in, w, room); });
  }
  store_largest(room, out);
}

void max_pool1d_with_indices_out(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef stride, IntArrayRef padding,
                                 IntArrayRef dilation, bool, const Tensor& out,
                                 const Tensor& indices) {
  max_pool(1, self, kernel_size, stride, padding, dilation, out, indices);
}

void max_pool2d_with_indices_out(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef stride, IntArrayRef padding,
                                 IntArrayRef dilation, bool, const Tensor& out,
                                 const Tensor& indices) {
  max_pool(2, self, kernel_size, stride, padding, dilation, out, indices);
}

void max_pool3d_with_indices_out(const Tensor& self, IntArrayRef kernel_size,
                                 IntArrayRef stride, IntArrayRef padding,
                                 IntArrayRef dilation, bool, const Tensor& out,
                                 const Tensor& indices) {
  max_pool(3, self, kernel_size, stride, padding, dilation, out, indices);
}

}  // namespace sy::cpu
