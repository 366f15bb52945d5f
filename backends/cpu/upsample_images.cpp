#include "backends/cpu/upsample.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/images.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

// Rows are resized first, as many as are needed, then columns, then depth: a
// source row once for all the rows of the result that it is part of.

namespace sy::cpu {

namespace {

template <class T>
struct Axes {
  ResizeAxis<T> axis[3];  // depth, height, width
  int64_t inner;          // elements of a place side by side

  Axes(const ResizeRequest& r, const Images& in, const Images& out)
      : inner(in.last ? in.channels : 1) {
    for (int64_t k = 3 - r.n; k < 3; ++k) {
      axis[k] = r.axis<T>(k, in.size[k], out.size[k]);
    }
  }
  int64_t row_in() const { return axis[2].size * inner; }
  int64_t row_out() const { return axis[2].count * inner; }
  int64_t slice_in() const { return axis[1].size * row_in(); }
  int64_t slice_out() const { return axis[1].count * row_out(); }
};

// The results for the elements of one axis, made when they are asked for. An
// element has the slot of its number modulo `slots`.
template <class T>
class Made {
 public:
  Made(int64_t slots, int64_t length)
      : length_(length),
        elements_(static_cast<size_t>(slots * length)),
        holds_(static_cast<size_t>(slots), -1) {}

  template <class F>
  const T* get(int64_t i, const F& make) {
    const auto slot = static_cast<size_t>(i) % holds_.size();
    T* const to = elements_.data() + static_cast<int64_t>(slot) * length_;
    if (holds_[slot] != i) {
      make(i, to);
      holds_[slot] = i;
    }
    return to;
  }
  void forget() { std::fill(holds_.begin(), holds_.end(), -1); }

 private:
  int64_t length_;
  ScratchVector<T> elements_;
  ScratchVector<int64_t> holds_;
};

// Resizes blocks of images; one for each thread.
template <class T>
class Resizer {
 public:
  explicit Resizer(const Axes<T>& axes)
      : axes_(axes),
        kernel_(row_kernels<T>()),
        rows_(axes.axis[1].taps, axes.row_out()),
        slices_(axes.axis[0].trivial() ? 0 : axes.axis[0].taps,
                axes.slice_out()) {
    int64_t most = 1;
    for (const ResizeAxis<T>& a : axes.axis) most = std::max(most, a.taps);
    from_.resize(static_cast<size_t>(most));
    weights_.resize(static_cast<size_t>(most));
  }

  // Rows [begin, end) of all slices of the result, depth by depth.
  void run(const T* image, int64_t begin, int64_t end, T* out) {
    const ResizeAxis<T>& depth = axes_.axis[0];
    if (depth.trivial()) {
      slice(image, begin, end, out);
      return;
    }
    slices_.forget();
    const int64_t row = axes_.row_out();
    for (int64_t d = 0; d < depth.count; ++d) {
      const int64_t taps = collect(depth, d, [&](int64_t i) {
        return begin * row + slices_.get(i, [&](int64_t z, T* to) {
          slice(image + z * axes_.slice_in(), begin, end, to);
        });
      });
      combine(taps, (end - begin) * row,
              out + d * axes_.slice_out() + begin * row);
    }
  }

 private:
  // Sets from_ and weights_ of element i; `source` gives the result for a tap.
  template <class F>
  int64_t collect(const ResizeAxis<T>& a, int64_t i, const F& source) {
    // The functions that `source` calls may collect for themselves.
    const T* taken[kFew];
    std::vector<const T*> more;
    const T** from = taken;
    if (a.taps > kFew) {
      more.resize(static_cast<size_t>(a.taps));
      from = more.data();
    }
    int64_t n = 0;
    for (int64_t k = 0; k < a.taps; ++k) {
      if (a.index(k, i) >= 0) from[n++] = source(a.index(k, i));
    }
    std::copy(from, from + n, from_.begin());
    for (int64_t k = 0, j = 0; k < a.taps; ++k) {
      if (a.index(k, i) < 0) continue;
      weights_[static_cast<size_t>(j++)] = a.weight_of(k, i);
    }
    return n;
  }

  // Combines what collect() gave. An element that the window of a scale leaves
  // without taps is 0.
  void combine(int64_t taps, int64_t length, T* to) {
    if (taps == 0) {
      std::fill(to, to + length, T(0));
      return;
    }
    kernel_.combine(from_.data(), weights_.data(), taps, length, to);
  }

  void slice(const T* image, int64_t begin, int64_t end, T* out) {
    const ResizeAxis<T>& height = axes_.axis[1];
    const int64_t length = axes_.row_out();
    rows_.forget();
    for (int64_t h = begin; h < end; ++h) {
      if (height.trivial()) {
        row(image, out + h * length);
        continue;
      }
      const int64_t taps = collect(height, h, [&](int64_t i) {
        return rows_.get(
            i, [&](int64_t y, T* to) { row(image + y * axes_.row_in(), to); });
      });
      combine(taps, length, out + h * length);
    }
  }

  void row(const T* from, T* to) {
    const ResizeAxis<T>& width = axes_.axis[2];
    if (axes_.inner == 1) {
      kernel_.gather(from, width.at.data(), width.weight.data(), width.taps,
                     width.count, width.count, to);
      return;
    }
    for (int64_t x = 0; x < width.count; ++x) {
      const int64_t taps =
          collect(width, x, [&](int64_t i) { return from + i * axes_.inner; });
      combine(taps, axes_.inner, to + x * axes_.inner);
    }
  }

  static constexpr int64_t kFew = 16;
  const Axes<T>& axes_;
  const RowKernels<T>& kernel_;
  Made<T> rows_, slices_;
  std::vector<const T*> from_;
  ScratchVector<T> weights_;
};

template <class T>
void resize(const ResizeRequest& r, const Images& in, const Images& out) {
  const Axes<T> axes(r, in, out);
  const int64_t blocks = in.last ? in.images : in.planes();
  const int64_t image_in = in.places() * axes.inner;
  const int64_t image_out = out.places() * axes.inner;
  const int64_t rows = axes.axis[1].count;
  // Parts of an image, of so many rows that those at the ends, which are made
  // for two parts, do not count.
  const int64_t part =
      std::min(rows, std::max(8 * axes.axis[1].taps, grain_of(axes.row_out())));
  const int64_t parts = (rows + part - 1) / part;
  parallel_for(0, blocks * parts, grain_of(part * axes.row_out()),
               [&](int64_t begin, int64_t end) {
                 Resizer<T> resizer(axes);
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t b = i / parts, first = i % parts * part;
                   resizer.run(in.data<T>() + b * image_in, first,
                               std::min(first + part, rows),
                               out.data<T>() + b * image_out);
                 }
               });
}

// Copies elements, which are only moved, by their size.
template <class T, class A>
void copy_nearest(const Axes<A>& axes, const Images& in, const Images& out) {
  const ResizeAxis<A>&depth = axes.axis[0], &height = axes.axis[1];
  const ResizeAxis<A>& width = axes.axis[2];
  const int64_t rows = depth.count * height.count, inner = axes.inner;
  const int64_t blocks = in.last ? in.images : in.planes();
  const auto row_bytes = static_cast<size_t>(axes.row_out()) * sizeof(T);
  parallel_for(
      0, blocks * rows, grain_of(axes.row_out()),
      [&](int64_t begin, int64_t end) {
        const T* before = nullptr;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t z = depth.index(0, i % rows / height.count);
          const int64_t y = height.index(0, i % rows % height.count);
          const T* const from = in.data<T>() + i / rows * in.places() * inner +
                                z * axes.slice_in() + y * axes.row_in();
          T* const to = out.data<T>() + i * axes.row_out();
          if (from == before) {
            std::memcpy(to, to - axes.row_out(), row_bytes);
          } else if (inner == 1) {
            const auto* const at = width.at.data();
            for (int64_t x = 0; x < width.count; ++x) to[x] = from[at[x]];
          } else {
            for (int64_t x = 0; x < width.count; ++x) {
              std::memcpy(to + x * inner, from + width.index(0, x) * inner,
                          static_cast<size_t>(inner) * sizeof(T));
            }
          }
          before = from;
        }
      });
}

// Indices of float axes are int32.
bool has_long_dim(const Images& in) {
  return *std::max_element(in.size, in.size + 3) > INT32_MAX;
}

void resize_nearest(const ResizeRequest& r, const Tensor& self,
                    const Tensor& out) {
  const bool last = has_channels_last(self, r.n);
  const Images in = read_images(self, r.n, self.dtype(), last);
  const Images room = room_for_images(out, r.n, self.dtype(), last);
  const auto run = [&]<class A>() {
    const Axes<A> axes(r, in, room);
    visit_element_size(self.itemsize(),
                       [&]<class T>() { copy_nearest<T>(axes, in, room); });
  };
  // Indices are found with the precision of the elements.
  self.dtype() == kDouble || has_long_dim(in)
      ? run.template operator()<double>()
      : run.template operator()<float>();
  store_images(room, out);
}

}  // namespace

void resize_images(const ResizeRequest& r, const Tensor& self,
                   const Tensor& out) {
  lie_like(self, r.n, out);
  if (out.numel() == 0) return;
  if (r.mode == Resize::Nearest || r.mode == Resize::NearestExact) {
    return resize_nearest(r, self, out);
  }
  if (self.dtype() == kByte) return resize_bytes(r, self, out);
  ScalarType dtype = computed_as(self.dtype());
  const bool last = has_channels_last(self, r.n);
  Images in = read_images(self, r.n, dtype, last);
  if (has_long_dim(in)) {
    dtype = kDouble;
    in = read_images(self, r.n, dtype, last);
  }
  const Images room = room_for_images(out, r.n, dtype, last);
  dtype == kFloat ? resize<float>(r, in, room) : resize<double>(r, in, room);
  store_images(room, out);
}

}  // namespace sy::cpu
