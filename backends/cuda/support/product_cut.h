#pragma once

#include "aten/tensor.h"
#include "backends/cuda/device/product_params.cuh"

namespace sy::cuda {

// The plan of a product by tiles: the side of tiles (64 or 128), and in how
// many parts a sum is made. It depends on the sizes and the dtype alone, so
// that all devices give the same bits.
struct ProductPlan {
  Cut cut;
  int side;
  unsigned blocks;
  Tensor sums;  // undefined where sums are made at once
};

// `like` says the dtype and the device.
ProductPlan plan_tiles(const Tensor& like, int64_t groups, int64_t m, int64_t n,
                       int64_t k);
// The plan of sums by a warp or a block.
ProductPlan plan_lines(const Tensor& like, int64_t groups, int64_t m, int64_t n,
                       int64_t k);

// A dtype with as many bytes as the type that kernels add in.
ScalarType sum_type(ScalarType dtype);

}  // namespace sy::cuda
