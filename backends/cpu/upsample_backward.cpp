#include <algorithm>
#include <vector>

#include "backends/cpu/support/images.h"
#include "backends/cpu/support/scratch.h"
#include "backends/cpu/upsample.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// The gradients of planes, axis by axis: depth first, width last. A plane is
// summed by one thread, in the order of the result's elements.
template <class T>
class Sharer {
 public:
  explicit Sharer(const ResizeAxis<T>* axis)
      : axis_(axis), kernel_(row_kernels<T>()) {
    row_ = axis[2].count;
    slice_ = axis[1].count * row_;
    if (!axis[0].trivial()) {
      slices_.resize(static_cast<size_t>(axis[0].size * slice_));
    }
    if (!axis[1].trivial()) {
      rows_.resize(static_cast<size_t>(axis[1].size * row_));
    }
  }

  void run(const T* grad, T* out) {
    const int64_t slice_in = axis_[1].size * axis_[2].size;
    const T* const slices = share(axis_[0], grad, slice_, slices_);
    for (int64_t d = 0; d < axis_[0].size; ++d) {
      const T* const rows = share(axis_[1], slices + d * slice_, row_, rows_);
      for (int64_t h = 0; h < axis_[1].size; ++h) {
        share_row(rows + h * row_, out + d * slice_in + h * axis_[2].size);
      }
    }
  }

 private:
  // Pieces of `length` along an axis before it was resized.
  const T* share(const ResizeAxis<T>& a, const T* grad, int64_t length,
                 ScratchVector<T>& room) {
    if (a.trivial()) return grad;
    std::fill(room.begin(), room.end(), T(0));
    for (int64_t i = 0; i < a.count; ++i) {
      for (int64_t k = 0; k < a.taps; ++k) {
        if (a.index(k, i) < 0) continue;
        kernel_.add_scaled(grad + i * length, a.weight_of(k, i), length,
                           room.data() + a.index(k, i) * length);
      }
    }
    return room.data();
  }

  void share_row(const T* grad, T* out) {
    const ResizeAxis<T>& a = axis_[2];
    std::fill(out, out + a.size, T(0));
    for (int64_t k = 0; k < a.taps; ++k) {
      for (int64_t i = 0; i < a.count; ++i) {
        const auto at = a.index(k, i);
        if (at >= 0) out[at] += a.weight_of(k, i) * grad[i];
      }
    }
  }

  const ResizeAxis<T>* axis_;
  const RowKernels<T>& kernel_;
  int64_t row_, slice_;
  ScratchVector<T> slices_, rows_;
};

template <class T>
void share_images(const ResizeRequest& r, const Images& grad,
                  const Images& out) {
  ResizeAxis<T> axis[3];
  for (int64_t k = 3 - r.n; k < 3; ++k) {
    axis[k] = r.axis<T>(k, out.size[k], grad.size[k]);
  }
  parallel_for(0, out.planes(), grain_of(grad.places() + out.places()),
               [&](int64_t begin, int64_t end) {
                 Sharer<T> sharer(axis);
                 for (int64_t p = begin; p < end; ++p) {
                   sharer.run(grad.data<T>() + p * grad.places(),
                              out.data<T>() + p * out.places());
                 }
               });
}

}  // namespace

void resize_images_backward(const ResizeRequest& r, const Tensor& grad_output,
                            const Tensor& out) {
  lie_like(grad_output, r.n, out);
  if (out.numel() == 0) return;
  ScalarType dtype = computed_as(out.dtype());
  const IntArrayRef sizes = out.sizes();
  // Indices of float axes are int32.
  if (*std::max_element(sizes.begin(), sizes.end()) > INT32_MAX) {
    dtype = kDouble;
  }
  const Images grad = read_images(grad_output, r.n, dtype, false);
  const Images room = room_for_images(out, r.n, dtype, false);
  dtype == kFloat ? share_images<float>(r, grad, room)
                  : share_images<double>(r, grad, room);
  store_images(room, out);
}

}  // namespace sy::cpu
