#include <sy/sy.h>

#include <cstdio>

#include "mine.h"

// Calls the operator of mine.yaml, and its gradient.

int main() {
  const sy::Tensor x = sy::linspace(-2, 2, 9).requires_grad_();
  const sy::Tensor y = mine::bump(x, 1.5);
  y.sum().backward();

  std::printf("  %8s %8s %8s\n", "x", "bump", "slope");
  for (int64_t i = 0; i < x.numel(); ++i) {
    std::printf("  %8.4f %8.4f %8.4f\n", x.detach().select(0, i).item<float>(),
                y.detach().select(0, i).item<float>(),
                x.grad().select(0, i).item<float>());
  }
}
