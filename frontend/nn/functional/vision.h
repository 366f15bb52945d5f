#pragma once

#include "aten/tensor.h"
#include "frontend/nn/options/vision.h"

namespace sy::nn::functional {

// The grid for grid_sample that an affine map gives: theta (N, 2, 3) and size
// (N, C, H, W) to (N, H, W, 2), or (N, 3, 4) and (N, C, D, H, W) to
// (N, D, H, W, 3). Throws ValueError for other sizes and TypeError for integer
// theta.
SY_API Tensor affine_grid(const Tensor& theta, IntArrayRef size,
                          bool align_corners = false);
// The values of the input at the places of the grid, (x, y) or (x, y, z) in -1
// to 1: (N, C, H, W) and (N, h, w, 2) to (N, C, h, w), or the same with three
// dimensions.
SY_API Tensor grid_sample(const Tensor& input, const Tensor& grid,
                          const GridSampleFuncOptions& options = {});

}  // namespace sy::nn::functional
