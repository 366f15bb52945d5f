#include <sy/library.h>
#include <sy/sy.h>

// The kernels of operators whose contracts and gradients a schema holds.

namespace {
sy::Tensor scale(const sy::Tensor& self, double by) {
  const sy::NoGradGuard guard;
  return self.mul(by);
}

std::tuple<sy::Tensor, sy::Tensor> sides(const sy::Tensor& self) {
  const sy::NoGradGuard guard;
  return {self.mul(2), self.mul(self)};
}
}  // namespace

SY_LIBRARY_IMPL(third, CPU, m) {
  m.impl("scale", SY_FN(scale));
  m.impl("sides", SY_FN(sides));
}
