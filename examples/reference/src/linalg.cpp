#include "elements.h"
#include "primitive.h"
#include "reference_kernels.h"

namespace reference {

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  const int64_t sizes[] = {self.size(0), self.size(1), mat2.size(2)};
  const Tensor out = empty(sizes, self.scalar_type(), self.device());
  visit_computed(self.scalar_type(), [&]<class T>() {
    // Sums of floats are made in double.
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
    for_each_place(sizes, [&](const Index& at) {
      Sum sum{};
      for (int64_t k = 0; k < self.size(2); ++k) {
        const auto a = static_cast<Sum>(read<T>(self, Index{at[0], at[1], k}));
        const auto b = static_cast<Sum>(read<T>(mat2, Index{at[0], k, at[2]}));
        if constexpr (std::is_same_v<T, bool>) {
          sum = sum || (a && b);
        } else {
          sum = add(sum, mul(a, b));
        }
      }
      write<T>(out, at, static_cast<T>(sum));
    });
  });
  return out;
}

}  // namespace reference
