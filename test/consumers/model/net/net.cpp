#include "net/net.h"

#include <sy/sy.h>

namespace nn = sy::nn;

ResidualImpl::ResidualImpl(nn::AnyModule inner) : layer(std::move(inner)) {
  register_module("layer", layer.ptr());
  scale = register_parameter("scale", sy::ones({1}));
}

sy::Tensor ResidualImpl::forward(const sy::Tensor& x) {
  return x + scale * layer.forward(x);
}

nn::Sequential make_net(int64_t in, int64_t width, int64_t classes) {
  return nn::Sequential(nn::Linear(in, width), nn::BatchNorm1d(width),
                        nn::GELU(),
                        Residual(nn::AnyModule(nn::Linear(width, width))),
                        nn::Dropout(0.1), nn::Linear(width, classes));
}
