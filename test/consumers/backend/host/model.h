#pragma once

#include <sy/sy.h>

namespace host {

// A classifier of two layers, with the same weights each time.
struct Model {
  static Model make();
  Model to(sy::Device device) const;
  // Logarithms of probabilities.
  sy::Tensor operator()(const sy::Tensor& images) const;

  sy::Tensor weight1, bias1, weight2, bias2;
};

// Values from -1 to 1 that look random, on the CPU.
sy::Tensor noise(sy::IntArrayRef sizes, uint32_t seed);

}  // namespace host
