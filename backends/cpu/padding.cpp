#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "backends/cpu/padding_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;  // elements

struct Reflect {
  // The index that place x of a dim of `size` shows, from before its start to
  // beyond its end.
  static int64_t at(int64_t x, int64_t size) {
    return x < 0 ? -x : x < size ? x : 2 * (size - 1) - x;
  }
};

struct Replicate {
  static int64_t at(int64_t x, int64_t size) {
    return std::clamp<int64_t>(x, 0, size - 1);
  }
};

// One padded dim: for each index of the result that of the source.
struct Border {
  ScratchVector<int64_t> from;
  // The indices [begin, end) of the result go along with the source.
  int64_t begin = 0, end = 0;

  template <class Mode>
  static Border of(int64_t size, int64_t before, int64_t after) {
    Border b;
    const int64_t n = size + before + after;
    b.from.resize(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) {
      b.from[static_cast<size_t>(j)] =
          std::clamp<int64_t>(Mode::at(j - before, size), 0, size - 1);
    }
    b.begin = std::clamp<int64_t>(before, 0, n);
    b.end = std::clamp<int64_t>(before + size, b.begin, n);
    return b;
  }
  int64_t size() const { return static_cast<int64_t>(from.size()); }
};

// The tensors as (planes, depth, height, width); dims that are not padded are
// among the planes or have size 1.
struct Layout3d {
  int64_t planes = 1;
  int64_t sizes[3] = {1, 1, 1};
  Border borders[3];

  template <class Mode>
  static Layout3d of(const Tensor& self, IntArrayRef padding) {
    Layout3d l;
    const auto n = static_cast<int64_t>(padding.size() / 2);
    for (int64_t d = 0; d < self.dim() - n; ++d) l.planes *= self.size(d);
    for (int64_t k = 0; k < 3; ++k) {
      int64_t before = 0, after = 0;
      if (k >= 3 - n) {
        const auto i = static_cast<size_t>(2 * (2 - k));
        before = padding[i];
        after = padding[i + 1];
        l.sizes[k] = self.size(k - 3);
      }
      l.borders[k] = Border::of<Mode>(l.sizes[k], before, after);
    }
    return l;
  }
  int64_t source_plane() const { return sizes[0] * sizes[1] * sizes[2]; }
  int64_t rows() const { return borders[0].size() * borders[1].size(); }
  // The first element, in its plane, of the row that row r of the result shows.
  int64_t source_row(int64_t r) const {
    const int64_t height = borders[1].size();
    const int64_t z = borders[0].from[static_cast<size_t>(r / height)];
    const int64_t y = borders[1].from[static_cast<size_t>(r % height)];
    return (z * sizes[1] + y) * sizes[2];
  }
};

// Results with two and three padded dims lie in memory as their input does,
// one that was given too, if it has no gaps; so it is in PyTorch.
void lie_like(const Tensor& self, IntArrayRef padding, const Tensor& out) {
  const MemoryFormat format = self.suggest_memory_format();
  if (padding.size() == 2 || out.is_contiguous(format) ||
      !out.is_non_overlapping_and_dense()) {
    return;
  }
  Dims strides;
  strides.resize(out.dim());
  dense_strides_like(out, format, strides.data());
  out.impl()->set_sizes_and_strides(out.sizes(), strides, out.storage_offset());
}

Tensor dense_target(const Tensor& out) {
  return out.is_contiguous()
             ? out
             : Tensor(make_tensor(out.sizes(), out.dtype(), Device(kCPU)));
}

template <class Mode>
void pad_forward(const Tensor& self, IntArrayRef padding, const Tensor& out) {
  lie_like(self, padding, out);
  if (out.numel() == 0) return;
  const Layout3d l = Layout3d::of<Mode>(self, padding);
  const Tensor source = contiguous_cpu(self);
  const Tensor target = dense_target(out);
  const Border& columns = l.borders[2];
  const int64_t width = columns.size(), rows = l.rows();
  visit_element_size(self.itemsize(), [&]<class T>() {
    const T* const from = static_cast<const T*>(source.raw_data());
    T* const to = static_cast<T*>(target.raw_data());
    parallel_for(
        0, l.planes * rows, std::max<int64_t>(1, kGrain / width),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T* const a =
                from + i / rows * l.source_plane() + l.source_row(i % rows);
            T* const b = to + i * width;
            const int64_t* const at = columns.from.data();
            for (int64_t j = 0; j < columns.begin; ++j) b[j] = a[at[j]];
            if (columns.end > columns.begin) {
              std::memcpy(
                  b + columns.begin, a + at[columns.begin],
                  static_cast<size_t>(columns.end - columns.begin) * sizeof(T));
            }
            for (int64_t j = columns.end; j < width; ++j) b[j] = a[at[j]];
          }
        });
  });
  if (!target.is_same(out)) copy_cpu(out, target);
}

// A plane is summed by one thread, in the order of the result's elements.
template <class Mode>
void pad_backward(const Tensor& grad_output, const Tensor& self,
                  IntArrayRef padding, const Tensor& grad_input) {
  lie_like(self, padding, grad_input);
  if (self.numel() == 0) return;
  const Layout3d l = Layout3d::of<Mode>(self, padding);
  const Tensor source = contiguous_cpu(grad_output);
  const Tensor target = dense_target(grad_input);
  const Border& columns = l.borders[2];
  const int64_t width = columns.size(), rows = l.rows();
  visit_floating_dtypes("pad_backward", target.dtype(), [&]<class T>() {
    using Sum = typename Accumulate<T>::type;
    const T* const from = static_cast<const T*>(source.raw_data());
    T* const to = static_cast<T*>(target.raw_data());
    const int64_t plane = l.source_plane();
    parallel_for(
        0, l.planes, std::max<int64_t>(1, kGrain / (rows * width)),
        [&](int64_t begin, int64_t end) {
          ScratchVector<Sum> sums(static_cast<size_t>(plane));
          const int64_t* const at = columns.from.data();
          for (int64_t p = begin; p < end; ++p) {
            std::fill(sums.begin(), sums.end(), Sum(0));
            for (int64_t r = 0; r < rows; ++r) {
              const T* const a = from + (p * rows + r) * width;
              Sum* const b = sums.data() + l.source_row(r);
              for (int64_t j = 0; j < columns.begin; ++j) {
                b[at[j]] += static_cast<Sum>(a[j]);
              }
              if (columns.end > columns.begin) {
                Sum* const middle = b + at[columns.begin] - columns.begin;
                for (int64_t j = columns.begin; j < columns.end; ++j) {
                  middle[j] += static_cast<Sum>(a[j]);
                }
              }
              for (int64_t j = columns.end; j < width; ++j) {
                b[at[j]] += static_cast<Sum>(a[j]);
              }
            }
            for (int64_t i = 0; i < plane; ++i) {
              to[p * plane + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
            }
          }
        });
  });
  if (!target.is_same(grad_input)) copy_cpu(grad_input, target);
}

}  // namespace

void reflection_pad1d_out(const Tensor& self, IntArrayRef padding,
                          const Tensor& out) {
  pad_forward<Reflect>(self, padding, out);
}

void reflection_pad1d_backward_out(const Tensor& grad_output,
                                   const Tensor& self, IntArrayRef padding,
                                   const Tensor& out) {
  pad_backward<Reflect>(grad_output, self, padding, out);
}

void replication_pad1d_out(const Tensor& self, IntArrayRef padding,
                           const Tensor& out) {
  pad_forward<Replicate>(self, padding, out);
}

void replication_pad1d_backward_out(const Tensor& grad_output,
                                    const Tensor& self, IntArrayRef padding,
                                    const Tensor& out) {
  pad_backward<Replicate>(grad_output, self, padding, out);
}

void reflection_pad2d_out(const Tensor& self, IntArrayRef padding,
                          const Tensor& out) {
  pad_forward<Reflect>(self, padding, out);
}

void reflection_pad2d_backward_out(const Tensor& grad_output,
                                   const Tensor& self, IntArrayRef padding,
                                   const Tensor& out) {
  pad_backward<Reflect>(grad_output, self, padding, out);
}

void replication_pad2d_out(const Tensor& self, IntArrayRef padding,
                           const Tensor& out) {
  pad_forward<Replicate>(self, padding, out);
}

void replication_pad2d_backward_out(const Tensor& grad_output,
                                    const Tensor& self, IntArrayRef padding,
                                    const Tensor& out) {
  pad_backward<Replicate>(grad_output, self, padding, out);
}

void reflection_pad3d_out(const Tensor& self, IntArrayRef padding,
                          const Tensor& out) {
  pad_forward<Reflect>(self, padding, out);
}

void reflection_pad3d_backward_out(const Tensor& grad_output,
                                   const Tensor& self, IntArrayRef padding,
                                   const Tensor& out) {
  pad_backward<Reflect>(grad_output, self, padding, out);
}

void replication_pad3d_out(const Tensor& self, IntArrayRef padding,
                           const Tensor& out) {
  pad_forward<Replicate>(self, padding, out);
}

void replication_pad3d_backward_out(const Tensor& grad_output,
                                    const Tensor& self, IntArrayRef padding,
                                    const Tensor& out) {
  pad_backward<Replicate>(grad_output, self, padding, out);
}

}  // namespace sy::cpu
