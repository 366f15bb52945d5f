#include <algorithm>
#include <tuple>
#include <vector>

#include "aten/engine/copy.h"
#include "aten/engine/structured.h"
#include "backends/cpu/image_kernels_gen.h"
#include "backends/cpu/kernel/grid_points.h"
#include "backends/cpu/support/images.h"
#include "backends/cpu/support/scratch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

// So many channels or more are worth laying side by side: a tap is then a row
// for all of them; else each element is fetched on its own.
constexpr int64_t kManyChannels = 8;
constexpr int64_t kMostTaps = 16;

// Images, a grid for each of them, and what is done with both.
struct Sampling {
  SampleRule rule;
  int64_t n, taps = 1;  // dims, and taps of a point
  Images in;
  Tensor grid;  // contiguous
  int64_t points;
  int64_t sizes[3];  // of an image, width first

  Sampling(int64_t dims, const Tensor& input, const Tensor& points_of,
           int64_t mode, int64_t beyond, bool align_corners)
      : rule{static_cast<Sample>(mode), static_cast<Beyond>(beyond),
             align_corners},
        n(dims) {
    points = 1;
    int64_t places = 1;
    for (int64_t d = 1; d <= n; ++d) {
      points *= points_of.size(d);
      places *= input.size(d + 1);
      taps *= rule.taps();
    }
    ScalarType dtype = computed_as(input.dtype());
    if (dtype == kFloat && places > INT32_MAX) {
      dtype = kDouble;  // for its wide indices
    }
    const bool last =
        input.size(1) >= kManyChannels &&
        (has_channels_last(input, n) || (taps > 1 && points * taps >= places));
    in = read_images(input, n, dtype, last);
    grid = contiguous_cpu(points_of, dtype);
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
    return static_cast<const T*>(grid.raw_data()) + image * points * n;
  }
};

// f(block, image, first, count) for blocks of points, side by side.
template <class T, class F>
void for_each_block(const Sampling& s, const F& f) {
  constexpr int64_t kBlock = GridBlock<T>::kBlock;
  const int64_t blocks = (s.points + kBlock - 1) / kBlock;
  parallel_for(0, s.in.images * blocks,
               grain_of(kBlock * (s.in.channels + 4) * s.taps),
               [&](int64_t begin, int64_t end) {
                 GridBlock<T> block(s.rule, s.n, s.sizes, false);
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t image = b / blocks;
                   const int64_t first = b % blocks * kBlock;
                   const int64_t count = std::min(kBlock, s.points - first);
                   block.set(s.points_of<T>(image) + first * s.n, count);
                   f(block, image, first, count);
                 }
               });
}

// Channel by channel.
template <class T>
void sample_planes(const Sampling& s, const Images& out) {
  for_each_block<T>(s, [&](const GridBlock<T>& block, int64_t image,
                           int64_t first, int64_t count) {
    const T* const weights =
        s.rule.mode == Sample::Nearest ? nullptr : block.weights();
    for (int64_t c = 0; c < s.in.channels; ++c) {
      const int64_t plane = image * s.in.channels + c;
      row_kernels<T>().gather(s.in.data<T>() + plane * s.in.places(),
                              block.at(), weights, block.taps(),
                              GridBlock<T>::kBlock, count,
                              out.data<T>() + plane * s.points + first);
    }
  });
}

// Point by point, for all channels at once.
template <class T>
void sample_channels(const Sampling& s, const Images& out) {
  const auto& kernel = row_kernels<T>();
  const int64_t channels = s.in.channels;
  for_each_block<T>(s, [&](const GridBlock<T>& block, int64_t image,
                           int64_t first, int64_t count) {
    const T* const from = s.in.data<T>() + image * s.in.places() * channels;
    T* to = out.data<T>() + (image * s.points + first) * channels;
    for (int64_t i = 0; i < count; ++i, to += channels) {
      const T* rows[kMostTaps];
      T weights[kMostTaps];
      int64_t taps = 0;
      T nothing = 0;  // NaN if the point is
      for (int64_t k = i; k < block.taps() * GridBlock<T>::kBlock;
           k += GridBlock<T>::kBlock) {
        if (block.at()[k] < 0) {
          nothing += 0 * block.weights()[k];
          continue;
        }
        rows[taps] = from + block.at()[k] * channels;
        weights[taps++] = block.weights()[k];
      }
      if (taps == 0) {
        std::fill(to, to + channels, nothing);
      } else {
        kernel.combine(rows, weights, taps, channels, to);
      }
    }
  });
}

void grid_sample(int64_t n, const Tensor& input, const Tensor& grid,
                 int64_t mode, int64_t beyond, bool align_corners,
                 const Tensor& out) {
  if (out.numel() == 0) return;
  const Sampling s(n, input, grid, mode, beyond, align_corners);
  const Images room = room_for_images(out, n, s.in.t.dtype(), s.in.last);
  s.visit([&]<class T>() {
    s.in.last ? sample_channels<T>(s, room) : sample_planes<T>(s, room);
  });
  store_images(room, out);
}

// Gradients of one image. grad and input point to its first elements; input may
// be null.
template <class T>
struct ImageGradients {
  const T* grad;
  T* input;
  T* grid;
};

// Block by block in order.
template <class T>
void planes_backward(const Sampling& s, int64_t image,
                     const ImageGradients<T>& to) {
  constexpr int64_t kBlock = GridBlock<T>::kBlock;
  const auto& kernel = row_kernels<T>();
  GridBlock<T> block(s.rule, s.n, s.sizes, true);
  ScratchVector<T> slopes(kBlock), sums(static_cast<size_t>(kBlock * s.n));
  const int64_t places = s.in.places();
  for (int64_t first = 0; first < s.points; first += kBlock) {
    const int64_t count = std::min(kBlock, s.points - first);
    block.set(s.points_of<T>(image) + first * s.n, count);
    std::fill(sums.begin(), sums.end(), T(0));
    for (int64_t c = 0; c < s.in.channels; ++c) {
      const T* const g = to.grad + c * s.points + first;
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
      if (to.input == nullptr) continue;
      T* const out = to.input + c * places;
      for (int64_t k = 0; k < block.taps(); ++k) {
        const auto* const at = block.at() + k * kBlock;
        const T* const w = block.weights() + k * kBlock;
        for (int64_t i = 0; i < count; ++i) {
          if (at[i] >= 0) out[at[i]] += w[i] * g[i];
        }
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t d = 0; d < s.n; ++d) {
        to.grid[(first + i) * s.n + d] =
            sums[static_cast<size_t>(d * kBlock + i)];
      }
    }
  }
}

// Point by point in order.
template <class T>
void channels_backward(const Sampling& s, int64_t image,
                       const ImageGradients<T>& to) {
  constexpr int64_t kBlock = GridBlock<T>::kBlock;
  const auto& kernel = row_kernels<T>();
  const int64_t channels = s.in.channels;
  const T* const from = s.in.data<T>() + image * s.in.places() * channels;
  GridBlock<T> block(s.rule, s.n, s.sizes, true);
  for (int64_t p = 0; p < s.points; ++p) {
    const int64_t i = p % kBlock;
    if (i == 0) {
      block.set(s.points_of<T>(image) + p * s.n,
                std::min(kBlock, s.points - p));
    }
    const T* const g = to.grad + p * channels;
    T* const slopes = to.grid + p * s.n;
    std::fill(slopes, slopes + s.n, T(0));
    for (int64_t k = i; k < block.taps() * kBlock; k += kBlock) {
      const int64_t at = block.at()[k];
      if (at < 0) continue;
      if (s.rule.mode != Sample::Nearest) {
        const T dot = kernel.dot(from + at * channels, g, channels);
        for (int64_t d = 0; d < s.n; ++d) slopes[d] += block.slopes(d)[k] * dot;
      }
      if (to.input == nullptr) continue;
      kernel.add_scaled(g, block.weights()[k], channels,
                        to.input + at * channels);
    }
  }
}

std::tuple<Tensor, Tensor> grid_sample_backward(
    int64_t n, const Tensor& grad_output, const Tensor& input,
    const Tensor& grid, int64_t mode, int64_t beyond, bool align_corners,
    bool with_input) {
  const Sampling s(n, input, grid, mode, beyond, align_corners);
  const ScalarType dtype = s.in.t.dtype();
  const Images grad = read_images(grad_output, n, dtype, s.in.last);
  const Tensor grad_grid = new_result(input, grid.sizes(), dtype);
  Tensor grad_input;
  Images room;
  if (with_input) {
    grad_input = new_result(input, input.sizes(), input.dtype());
    room = room_for_images(grad_input, n, dtype, s.in.last);
  }
  s.visit([&]<class T>() {
    const int64_t elements = s.in.channels * s.in.places();
    parallel_for(0, s.in.images, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const ImageGradients<T> to{
            grad.data<T>() + i * s.in.channels * s.points,
            with_input ? room.data<T>() + i * elements : nullptr,
            static_cast<T*>(grad_grid.raw_data()) + i * s.points * n};
        if (with_input) std::fill(to.input, to.input + elements, T(0));
        s.in.last ? channels_backward<T>(s, i, to)
                  : planes_backward<T>(s, i, to);
      }
    });
  });
  if (with_input) store_images(room, grad_input);
  return {grad_input, contiguous_cpu(grad_grid, input.dtype())};
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
