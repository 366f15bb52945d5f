#pragma once

#include <cmath>

#include "test/backends/cuda/numeric_fixture.h"

// Convolutions of few elements, of each kind.

namespace sy::cuda::testing {

struct Case {
  const char* name;
  std::vector<int64_t> input, weight, stride, padding, dilation;
  bool transposed = false;
  std::vector<int64_t> output_padding = {0};
  int64_t groups = 1;
};

inline const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"one tap", {2, 3, 4, 5}, {6, 3, 1, 1}, {1}, {0}, {1}},
      {"three by three", {2, 3, 7, 6}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {"steps", {1, 2, 9, 8}, {3, 2, 3, 2}, {2, 3}, {1, 0}, {1, 1}},
      {"far taps", {1, 2, 9, 11}, {3, 2, 3, 3}, {1, 2}, {2, 1}, {3, 2}},
      {"groups", {2, 6, 5, 5}, {9, 2, 3, 3}, {1}, {1}, {1}, false, {0}, 3},
      {"a group each",
       {2, 5, 6, 6},
       {5, 1, 3, 3},
       {1},
       {1},
       {1},
       false,
       {0},
       5},
      {"one dim", {2, 3, 20}, {4, 3, 5}, {2}, {2}, {2}},
      {"three dims",
       {1, 2, 4, 5, 6},
       {3, 2, 2, 3, 2},
       {1, 2, 1},
       {1, 0, 1},
       {1, 1, 2}},
      {"transposed",
       {2, 3, 4, 5},
       {3, 4, 3, 3},
       {2, 1},
       {1, 0},
       {1, 2},
       true,
       {1, 0}},
      {"transposed groups", {1, 4, 5}, {4, 3, 4}, {3}, {1}, {2}, true, {1}, 2},
      {"transposed three dims",
       {1, 2, 3, 2, 3},
       {2, 2, 2, 2, 2},
       {2},
       {0},
       {1},
       true,
       {1}},
      {"many channels", {1, 70, 3, 3}, {66, 70, 2, 2}, {1}, {0}, {1}},
      {"no images", {0, 3, 4, 4}, {2, 3, 3, 3}, {1}, {0}, {1}},
      {"no channels", {2, 0, 4, 4}, {2, 0, 3, 3}, {1}, {0}, {1}},
  };
  return list;
}

inline Tensor wide(const Tensor& t) {
  return is_floating_type(t.scalar_type()) ? t.to(kDouble) : t;
}

inline Tensor forward(const Case& c, const Tensor& x, const Tensor& w,
                      const std::optional<Tensor>& bias) {
  return convolution(x, w, bias, c.stride, c.padding, c.dilation, c.transposed,
                     c.output_padding, c.groups);
}

inline int64_t outputs(const Case& c) {
  return c.transposed ? c.weight[1] * c.groups : c.weight[0];
}
// The size of the numbers that a result is the sum of.
inline double size_of(const Case& c) {
  double terms = 1;
  for (const int64_t v : c.weight) terms *= static_cast<double>(v + 1);
  return 60 * std::sqrt(terms);
}

}  // namespace sy::cuda::testing
