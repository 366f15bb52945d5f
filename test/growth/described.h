#pragma once

#include <cstdint>
#include <string>

namespace sy::test {

// `n` operators of a namespace, of several kinds, some of which call another.
inline std::string described(const std::string& ns, int64_t n) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    const std::string k = std::to_string(i);
    const std::string head = "- func: " + ns + "::";
    switch (i % 4) {
      case 0:
        out += head + "p" + k +
               "(Tensor self, Tensor other, Scalar alpha=1) -> Tensor\n"
               "  promote: int_to_float\n"
               "  pointwise: self * exp(other) + alpha\n"
               "  derivative: {self: auto, other: auto}\n\n";
        break;
      case 1:
        out += head + "c" + k +
               "(Tensor self, Tensor other) -> Tensor\n"
               "  composite: self * other + p" +
               std::to_string(i - 1) + "(self, other)\n\n";
        break;
      case 2:
        out += head + "r" + k +
               "(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor\n"
               "  reduce: {map: self * self, identity: 0, combine: a + b}\n"
               "  derivative: {self: non_differentiable}\n\n";
        break;
      default:
        out += head + "v" + k +
               "(Tensor(a) self) -> Tensor(a)\n"
               "  device_check: NoCheck\n"
               "  view: {sizes: self.sizes(), strides: self.strides()}\n"
               "  derivative: {self: auto}\n\n";
    }
  }
  return out;
}

}  // namespace sy::test
