#include <sy/cuda.h>
#include <sy/sy.h>

#include <cstdio>
#include <exception>

#include "ema.h"

// Calls the operator of ema.yaml and its gradient on a GPU, if there is one,
// and on the CPU.

namespace {

void show(const sy::Device& device) {
  const sy::Tensor x = sy::ones({1, 4}).to(device).requires_grad_();
  const sy::Tensor y = own_cuda::ema(x, 0.5);
  y.sum().backward();
  std::printf("%s\n  %8s %8s\n", device.str().c_str(), "ema", "slope");
  for (int64_t i = 0; i < x.numel(); ++i) {
    std::printf("  %8.4f %8.4f\n", y.detach().select(1, i).item<float>(),
                x.grad().select(1, i).item<float>());
  }
}

}  // namespace

int main() try {
  sy::load_library("cuda").keep();
  show("cpu");
  if (sy::cuda::is_available()) {
    show("cuda");
  } else {
    std::printf("no GPU: %s\n", sy::cuda::why_unavailable().c_str());
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
