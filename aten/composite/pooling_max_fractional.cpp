// Pooling of windows at random starts, made of gather and max: for backends
// that have no kernels of their own for it.

#include <tuple>

#include "aten/composite/pooling_by_index.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/pooling_max_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/sort.h"

namespace sy::composite {

namespace {

using namespace pooling;

// v rounded down; a value that is no sample at all gives 0.
Tensor whole(const Tensor& v, int64_t size) {
  const Tensor valid = sy::logical_and(v >= 0, v <= size);
  return sy::where(valid, v, Scalar(0)).to(kLong);
}

// The starts of the windows of one dim: a row for each sample. They are rounded
// as the dtype of the samples rounds.
Tensor window_starts(const Tensor& samples, int64_t size, int64_t windows,
                     int64_t kernel) {
  const int64_t last = size - kernel;
  const Tensor s = samples.unsqueeze(1);
  const Tensor ends = sy::full({s.size(0), 1}, last, s.options().dtype(kLong));
  if (windows == 1) return ends;
  const Tensor alpha = sy::full({}, last, s.options()) / (windows - 1);
  const Tensor i = sy::arange(windows - 1, s.options());
  const Tensor starts = whole((i + s) * alpha, size) - whole(s * alpha, size);
  return sy::cat({sy::clamp(starts, Scalar(0), Scalar(last)), ends}, 1);
}

// The places in a plane of the elements of each window: planes by windows by
// elements. The first sample of two dims is that of the width.
Tensor window_places(const Tensor& self, const Tensor& samples,
                     IntArrayRef kernel, IntArrayRef windows) {
  const auto n = static_cast<int64_t>(kernel.size());
  const TensorOptions longs = self.options().dtype(kLong);
  Tensor at = sy::zeros({samples.size(0), 1, 1}, longs);
  for (int64_t k = 0; k < n; ++k) {
    const auto d = static_cast<size_t>(k);
    const int64_t size = self.size(k - n);
    const Tensor starts = window_starts(samples.select(1, n == 2 ? 1 - k : k),
                                        size, windows[d], kernel[d]);
    const Tensor own = starts.unsqueeze(-1) + sy::arange(kernel[d], longs);
    at = (at.unsqueeze(2).unsqueeze(4) * size + own.unsqueeze(1).unsqueeze(3))
             .reshape(
                 {at.size(0), at.size(1) * windows[d], at.size(2) * kernel[d]});
  }
  return at;
}

std::tuple<Tensor, Tensor> fractional(const Tensor& self, IntArrayRef kernel,
                                      IntArrayRef windows,
                                      const Tensor& samples) {
  const auto n = static_cast<int64_t>(kernel.size());
  std::vector<int64_t> sizes = self.sizes().vec();
  std::copy(windows.begin(), windows.end(), sizes.end() - n);
  const Tensor planes = self.flatten(-n, -1).flatten(0, -2);
  if (planes.size(0) == 0) {
    return {sy::empty(sizes, self.options()),
            sy::empty(sizes, self.options().dtype(kLong))};
  }
  const Tensor at = window_places(self, samples.reshape({planes.size(0), n}),
                                  kernel, windows);
  const Tensor values = sy::gather(planes, 1, at.flatten(1, 2));
  const auto [most, chosen] = sy::max(values.reshape(at.sizes()), 2, true);
  return {most.reshape(sizes), sy::gather(at, 2, chosen).reshape(sizes)};
}

}  // namespace

std::tuple<Tensor, Tensor> fractional_max_pool2d_by_gather(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
    const Tensor& random_samples) {
  return fractional(self, kernel_size, output_size, random_samples);
}

std::tuple<Tensor, Tensor> fractional_max_pool3d_by_gather(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
    const Tensor& random_samples) {
  return fractional(self, kernel_size, output_size, random_samples);
}

Tensor fractional_max_pool2d_backward_by_scatter(const Tensor& grad_output,
                                                 const Tensor& self,
                                                 IntArrayRef, IntArrayRef,
                                                 const Tensor& indices) {
  return spread_like(grad_output, indices, self, 2);
}

Tensor fractional_max_pool3d_backward_by_scatter(const Tensor& grad_output,
                                                 const Tensor& self,
                                                 IntArrayRef, IntArrayRef,
                                                 const Tensor& indices) {
  return spread_like(grad_output, indices, self, 3);
}

}  // namespace sy::composite
