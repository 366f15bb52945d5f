#pragma once

#include <sy/sy.h>

#include <string>

#include "frontend/nn/module.h"

// Modules as users write them.

namespace sy::test {

struct LayerImpl : nn::Module {
  LayerImpl(int64_t in, int64_t out) {
    weight = register_parameter("weight", randn({out, in}));
    bias = register_parameter("bias", randn({out}));
  }
  Tensor forward(const Tensor& x) { return linear(x, weight, bias); }
  std::string extra_repr() const override {
    return str("in={}, out={}", weight.size(1), weight.size(0));
  }
  nn::Parameter weight, bias;
};
SY_MODULE(Layer);

// Two layers and a buffer.
struct Net : nn::Module {
  Net() {
    first = register_module("first", Layer(4, 3));
    second = register_module("second", Layer(3, 2));
    scale = register_buffer("scale", full({2}, 0.5));
    register_buffer("scratch", zeros({3}), /*persistent=*/false);
  }
  Tensor forward(const Tensor& x) { return second(first(x).tanh()) * scale; }

  Layer first{nullptr}, second{nullptr};
  nn::Parameter scale;
};

}  // namespace sy::test
