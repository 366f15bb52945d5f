#pragma once

#include <sy/sy.h>

#include <string>
#include <vector>

#include "examples/digits/model.h"

namespace digits {

// One forward pass on another device, beside the same on the CPU.
struct Comparison {
  double difference;    // largest, of log probabilities
  int64_t predictions;  // images
  int64_t equal;        // of those, predicted alike
  // Operators that the device has no kernel for and that ran on the CPU.
  std::vector<std::pair<std::string, int64_t>> fallbacks;
};

Comparison compare(const Classifier& model, const sy::Tensor& images,
                   sy::Device device);

// "calls that fell back to the CPU: aten::mm, aten::relu x2"
std::string fallback_report(const Comparison& c);

}  // namespace digits
