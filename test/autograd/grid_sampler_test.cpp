#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "autograd/api.h"

// The gradients of grid_sampler made of operators, for second derivatives, are
// those of the kernels, places beyond the image and on its edges included.

namespace sy {
namespace {

void compare(const Tensor& input, const Tensor& grid, int64_t mode,
             int64_t beyond, bool align_corners) {
  const auto gradients = [&](bool create_graph) {
    const Tensor x = input.detach().requires_grad_();
    const Tensor at = grid.detach().requires_grad_();
    const Tensor y = grid_sampler(x, at, mode, beyond, align_corners);
    const Tensor g = arange(y.numel(), kDouble).reshape(y.sizes()).add(0.5);
    return autograd::grad(y, {x, at}, g, {}, create_graph);
  };
  const auto kernels = gradients(false), operators = gradients(true);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(kernels[i].requires_grad());
    EXPECT_TRUE(kernels[i].allclose(operators[i].detach(), 1e-10, 1e-10))
        << "gradient " << i << ", mode " << mode << ", beyond " << beyond
        << ", align_corners " << align_corners;
  }
}

TEST(GridSampler, OperatorsGiveTheGradientsOfTheKernels) {
  manual_seed(3);
  const Tensor image = randn({2, 3, 4, 5}, kDouble);
  const Tensor volume = randn({1, 2, 3, 2, 4}, kDouble);
  const Tensor points = randn({2, 3, 3, 2}, kDouble).mul(2);
  const Tensor places = randn({1, 2, 3, 2, 3}, kDouble).mul(2);
  const Tensor edges = linspace(-3, 3, 2 * 13 * 2, kDouble);
  for (const bool align_corners : {false, true}) {
    for (int64_t beyond = 0; beyond < 3; ++beyond) {
      for (int64_t mode = 0; mode < 3; ++mode) {
        compare(image, points, mode, beyond, align_corners);
        compare(image, edges.reshape({2, 13, 1, 2}), mode, beyond,
                align_corners);
        compare(image, points.slice(1, 0, 0), mode, beyond, align_corners);
        if (mode < 2) compare(volume, places, mode, beyond, align_corners);
      }
    }
  }
}

}  // namespace
}  // namespace sy
