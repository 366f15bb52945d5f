#pragma once

#include "aten/engine/dims.h"
#include "backends/cuda/dnn/plan.h"

// Convolutions of tensors as cuDNN is shown them.

namespace sy::cuda::dnn {

// The position of the channels of dense tensors: before the places, or behind.
enum class Order : bool { kFirst, kLast };
// The order of the tensor that is made. A weight's gradient goes by the images.
Order order_of(const Convolution& convolution, ConvolutionPart result);

// How the library is shown a tensor: itself, or a dense one in its place.
struct View {
  Dims strides;
  bool is_other = false;
};
struct Views {
  View x, w, y;
};
// Each tensor itself, if it is aligned and lies densely in that order; images
// may lie apart.
Views views_of(const Convolution& convolution, Order order);
// Each tensor another one, which lies densely in that order.
Views dense_views(const Convolution& convolution, Order order);

Problem problem_of(const Convolution& convolution, ConvolutionPart result,
                   const Views& views);

}  // namespace sy::cuda::dnn
