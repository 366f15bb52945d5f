#include <algorithm>
#include <tuple>
#include <vector>

#include "aten/copy.h"
#include "aten/structured.h"
#include "backends/cpu/grid_points.h"
#include "backends/cpu/image_kernels_gen.h"
#include "backends/cpu/images.h"
#include "c10/parallel.h"

namespace sy::cpu {

namespace {

// Images, a grid for each of them, and what is done with both.
struct Sampling {
  SampleRule rule;
  int64_t n;
  Images in;
  Tensor grid;  // contiguous
  int64_t points;
  int64_t sizes[3];  // of an image, width first

  Sampling(int64_t dims, const Tensor& input, const Tensor& points_of,
           int64_t mode, int64_t beyond, bool align_corners)
      : rule{static_cast<Sample>(mode), static_cast<Beyond>(beyond),
             align_corners},
        n(dims) {
    ScalarType dtype = computed_as(input.dtype());
    in = read_images(input, n, dtype, false);
    if (dtype == kFloat && in.places() > INT32_MAX) {
      dtype = kDouble;  // for its wide indices
      in = read_images(input, n, dtype, false);
    }
    grid = contiguous_cpu(points_of, dtype);
    points = 1;
    for (int64_t d = 1; d <= n; ++d) points *= grid.size(d);
    for (int64_t d = 0; d < n; ++d) sizes[d] = in.size[2 - d];
  }

  // f.operator()<T>() for the type of elements.
  template <class F>
  void visit(const F& f) const {
    in.t.dtype() == kFloat ? f.template operator()<float>()
                           : f.template operator()<double>();
  }
  template <class T>
  const T* points_of(int64_t image) const {
    return static_cast<const T*>(grid.data_ptr()) + image * points * n;
  }
};

template <class T>
void sample(const Sampling& s, const Images& out) {
  constexpr int64_t kBlock = GridBlock<T>::kBlock;
  const int64_t blocks = (s.points + kBlock - 1) / kBlock;
  const auto& kernel = row_kernels<T>();
  parallel_for(
      0, s.in.images * blocks, grain_of(kBlock * (s.in.channels + 4)),
      [&](int64_t begin, int64_t end) {
        GridBlock<T> block(s.rule, s.n, s.sizes, false);
        for (int64_t b = begin; b < end; ++b) {
          const int64_t image = b / blocks, first = b % blocks * kBlock;
          const int64_t count = std::min(kBlock, s.points - first);
          block.set(s.points_of<T>(image) + first * s.n, count);
          for (int64_t c = 0; c < s.in.channels; ++c) {
            const int64_t plane = image * s.in.channels + c;
            kernel.gather(s.in.data<T>() + plane * s.in.places(), block.at(),
                          block.weights(), block.taps(), kBlock, count,
                          out.data<T>() + plane * s.points + first);
          }
        }
      });
}

void grid_sample(int64_t n, const Tensor& input, const Tensor& grid,
                 int64_t mode, int64_t beyond, bool align_corners,
                 const Tensor& out) {
  if (out.numel() == 0) return;
  const Sampling s(n, input, grid, mode, beyond, align_corners);
  const Images room = room_for_images(out, n, s.in.t.dtype(), false);
  s.visit([&]<class T>() { sample<T>(s, room); });
  store_images(room, out);
}

// Gradients of one image, block by block in order; `grad_input` may be null.
template <class T>
void sample_backward(const Sampling& s, int64_t image, const T* grad,
                     T* grad_input, T* grad_grid) {
  constexpr int64_t kBlock = GridBlock<T>::kBlock;
  const auto& kernel = row_kernels<T>();
  GridBlock<T> block(s.rule, s.n, s.sizes, true);
  std::vector<T> slopes(kBlock), sums(static_cast<size_t>(kBlock * s.n));
  const int64_t places = s.in.places();
  for (int64_t first = 0; first < s.points; first += kBlock) {
    const int64_t count = std::min(kBlock, s.points - first);
    block.set(s.points_of<T>(image) + first * s.n, count);
    std::fill(sums.begin(), sums.end(), T(0));
    for (int64_t c = 0; c < s.in.channels; ++c) {
      const T* const g = grad + c * s.points + first;
      const T* const plane =
          s.in.data<T>() + (image * s.in.channels + c) * places;
      for (int64_t d = 0; d < s.n && s.rule.mode != Sample::Nearest; ++d) {
        kernel.gather(plane, block.at(), block.slopes(d), block.taps(), kBlock,
                      count, slopes.data());
        T* const sum = sums.data() + d * kBlock;
        for (int64_t i = 0; i < count; ++i) {
          sum[i] += g[i] * slopes[static_cast<size_t>(i)];
        }
      }
      if (grad_input == nullptr) continue;
      T* const to = grad_input + c * places;
      for (int64_t k = 0; k < block.taps(); ++k) {
        const auto* const at = block.at() + k * kBlock;
        const T* const w = block.weights() + k * kBlock;
        for (int64_t i = 0; i < count; ++i) {
          if (at[i] >= 0) to[at[i]] += w[i] * g[i];
        }
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t d = 0; d < s.n; ++d) {
        grad_grid[(first + i) * s.n + d] =
            sums[static_cast<size_t>(d * kBlock + i)];
      }
    }
  }
}

std::tuple<Tensor, Tensor> grid_sample_backward(
    int64_t n, const Tensor& grad_output, const Tensor& input,
    const Tensor& grid, int64_t mode, int64_t beyond, bool align_corners,
    bool with_input) {
  const Sampling s(n, input, grid, mode, beyond, align_corners);
  const ScalarType dtype = s.in.t.dtype();
  const Images grad = read_images(grad_output, n, dtype, false);
  const Tensor grad_grid = new_result(input, grid.sizes(), dtype);
  Tensor grad_input;
  if (with_input) grad_input = new_result(input, input.sizes(), dtype);
  s.visit([&]<class T>() {
    T* const to_grid = static_cast<T*>(grad_grid.data_ptr());
    T* const to_input =
        with_input ? static_cast<T*>(grad_input.data_ptr()) : nullptr;
    const int64_t elements = s.in.channels * s.in.places();
    parallel_for(0, s.in.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* const to = with_input ? to_input + i * elements : nullptr;
        if (with_input) std::fill(to, to + elements, T(0));
        sample_backward(s, i, grad.data<T>() + i * s.in.channels * s.points, to,
                        to_grid + i * s.points * n);
      }
    });
  });
  const auto as_input = [&](const Tensor& t) {
    return t.defined() ? contiguous_cpu(t, input.dtype()) : t;
  };
  return {as_input(grad_input), as_input(grad_grid)};
}

}  // namespace

void grid_sampler_2d_out(const Tensor& input, const Tensor& grid,
                         int64_t interpolation_mode, int64_t padding_mode,
                         bool align_corners, const Tensor& out) {
  grid_sample(2, input, grid, interpolation_mode, padding_mode, align_corners,
              out);
}

void grid_sampler_3d_out(const Tensor& input, const Tensor& grid,
                         int64_t interpolation_mode, int64_t padding_mode,
                         bool align_corners, const Tensor& out) {
  grid_sample(3, input, grid, interpolation_mode, padding_mode, align_corners,
              out);
}

std::tuple<Tensor, Tensor> grid_sampler_2d_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& grid,
    int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
    ArrayRef<bool> output_mask) {
  return grid_sample_backward(2, grad_output, input, grid, interpolation_mode,
                              padding_mode, align_corners, output_mask[0]);
}

std::tuple<Tensor, Tensor> grid_sampler_3d_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& grid,
    int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
    ArrayRef<bool> output_mask) {
  return grid_sample_backward(3, grad_output, input, grid, interpolation_mode,
                              padding_mode, align_corners, output_mask[0]);
}

}  // namespace sy::cpu
