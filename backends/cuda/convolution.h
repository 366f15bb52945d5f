#pragma once

#include "aten/contract/convolution.h"
#include "aten/tensor.h"

namespace sy::cuda {

// The tensor that a convolution makes: y, or a gradient.
enum class ConvolutionResult : uint8_t { kY, kX, kWeight };

// x and y as ConvolutionGeometry has them; one of the three tensors is written.
struct Convolution {
  ConvolutionGeometry g;
  Tensor x, w, y;
  Tensor bias;  // of the result, or undefined

  const Tensor& made(ConvolutionResult r) const {
    return r == ConvolutionResult::kY ? y : r == ConvolutionResult::kX ? x : w;
  }
};

}  // namespace sy::cuda
