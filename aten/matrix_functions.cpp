#include "aten/ops/all.h"
#include "aten/ops/matrix_functions_kernels.h"

namespace sy::native {

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  SY_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2), Value,
           "[linalg_matrix_power] self: expected square matrices, got sizes ",
           self.sizes());
  const auto product = [](const Tensor& a, const Tensor& b) {
    return a.dim() == 2 ? mm(a, b) : matmul(a, b);
  };
  if (n == 0) {
    // A copy that is overwritten: autograd sees that it is no constant.
    return self.clone().copy_(eye(self.size(-1), self.options()));
  }
  Tensor power = n < 0 ? linalg_inv(self) : self;
  auto left = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Tensor result;
  while (true) {
    if ((left & 1) != 0) {
      result = result.defined() ? product(result, power) : power;
    }
    left >>= 1;
    if (left == 0) break;
    power = product(power, power);
  }
  return result.is_same(self) ? self.clone() : result;
}

}  // namespace sy::native
