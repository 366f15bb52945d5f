#include <sy/library.h>

#include <algorithm>

// The plugin whose compile time and size plugin_figures.py shows: two
// operators with kernels. small_torch.cpp is the same for libtorch.

namespace {

using sy::Tensor;

Tensor clamp_positive(const Tensor& self, double most) {
  Tensor out(sy::make_tensor(self.sizes(), self.dtype(), self.device()));
  const float* const from = self.data_ptr<float>();
  float* const to = out.data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) {
    to[i] = std::clamp(from[i], 0.0f, static_cast<float>(most));
  }
  return out;
}

Tensor noop(const Tensor& self) { return self; }

}  // namespace

SY_LIBRARY(small, m) {
  m.def("clamp_positive(Tensor self, float most) -> Tensor");
  m.def("noop(Tensor self) -> Tensor");
}
SY_LIBRARY_IMPL(small, CPU, m) {
  m.impl("clamp_positive", SY_FN(clamp_positive));
  m.impl("noop", SY_FN(noop));
}
