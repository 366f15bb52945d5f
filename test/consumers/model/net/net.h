#pragma once

#include <sy/nn.h>

// A library of models: its types are its own.

#define NET_API __attribute__((visibility("default")))

// Adds what a layer makes of x to x, times a learned number.
struct NET_API ResidualImpl : sy::nn::Module {
  explicit ResidualImpl(sy::nn::AnyModule inner);
  sy::Tensor forward(const sy::Tensor& x);

  sy::nn::AnyModule layer;
  sy::nn::Parameter scale;
};
SY_MODULE(Residual);

// Scores of `classes` from rows of `in`.
NET_API sy::nn::Sequential make_net(int64_t in, int64_t width, int64_t classes);
