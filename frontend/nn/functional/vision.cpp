#include "frontend/nn/functional/vision.h"

#include "aten/ops/image.h"

namespace sy::nn::functional {

Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners) {
  SY_CHECK(theta.is_floating_point(), Type,
           "[affine_grid] theta: expected a floating dtype, got {}",
           theta.scalar_type());
  SY_CHECK(size.size() == 4 || size.size() == 5, Value,
           "[affine_grid] size: expected 4 or 5 values, got {}", size);
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  SY_CHECK(theta.sizes() == IntArrayRef({size[0], dims, dims + 1}), Value,
           "[affine_grid] theta: expected sizes [{}, {}, {}], got {}", size[0],
           dims, dims + 1, theta.sizes());
  for (const int64_t n : size) {
    SY_CHECK(n > 0, Value,
             "[affine_grid] size: expected values above 0, got {}", size);
  }
  return sy::affine_grid_generator(theta, size, align_corners);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions& o) {
  return sy::grid_sampler(input, grid, o.mode().index(),
                          o.padding_mode().index(),
                          o.align_corners().value_or(false));
}

}  // namespace sy::nn::functional
