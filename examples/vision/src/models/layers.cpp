#include "layers.h"

namespace vision {

NormImpl::NormImpl(int64_t channels, const NormOptions& norm)
    : BatchNorm2dImpl(nn::BatchNorm2dOptions(channels).eps(norm.eps)),
      frozen_(norm.frozen) {
  if (frozen_) requires_grad_(false);
}

Tensor NormImpl::forward(const Tensor& x) {
  if (!frozen_) return BatchNorm2dImpl::forward(x);
  return sy::batch_norm(x, weight, bias, running_mean, running_var,
                        /*training=*/false, /*momentum=*/0, options.eps(),
                        /*cudnn_enabled=*/false);
}

nn::Conv2d convolution(int64_t in, int64_t out, const ConvOptions& o) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, o.kernel)
                        .stride(o.stride)
                        .padding(o.dilation * (o.kernel / 2))
                        .dilation(o.dilation)
                        .bias(o.bias));
}

nn::Sequential convolution_block(int64_t in, int64_t out, int64_t kernel,
                                 bool active) {
  nn::Sequential block;
  block->push_back(convolution(in, out, {.kernel = kernel, .bias = true}));
  if (active) block->push_back(nn::ReLU());
  return block;
}

void rename_layer(nn::StateDict& state, const std::string& old,
                  const std::string& now) {
  for (const char* const name : {".weight", ".bias"}) {
    if (!state.contains(old + name)) continue;
    state.insert(now + name, state[old + name]);
    state.erase(old + name);
  }
}

}  // namespace vision
