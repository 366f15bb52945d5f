#include "examples/convnet/convnet.h"

namespace models {

ConvNormImpl::ConvNormImpl(int64_t in, int64_t out, int64_t kernel,
                           int64_t groups) {
  conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                                                .padding(kernel / 2)
                                                .groups(groups)
                                                .bias(false)));
  norm = register_module("norm", nn::BatchNorm2d(out));
}

ConvnetImpl::ConvnetImpl(int64_t channels, int64_t classes) {
  stem = register_module("stem", ConvNorm(1, channels, 3));
  inner = register_module("inner", ConvNorm(channels, channels, 3));
  outer = register_module("outer", ConvNorm(channels, channels, 3));
  depth = register_module("depth", ConvNorm(channels, channels, 3, channels));
  point = register_module("point", ConvNorm(channels, 2 * channels, 1));
  head = register_module("head", nn::Linear(2 * channels, classes));
}

sy::Tensor ConvnetImpl::forward(const sy::Tensor& images) {
  const sy::Tensor first = stem(images).relu();
  const sy::Tensor block = (outer(inner(first).relu()) + first).relu();
  const sy::Tensor pooled = sy::max_pool2d(block, {2, 2});
  const sy::Tensor last = point(depth(pooled).relu()).relu();
  return head(sy::adaptive_avg_pool2d(last, {1, 1}).flatten(1));
}

}  // namespace models
