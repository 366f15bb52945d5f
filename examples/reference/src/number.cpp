#include <cmath>

#include "aten/engine/view.h"
#include "aten/result_type.h"
#include "elements.h"
#include "reference_kernels.h"

namespace reference {
namespace {

// The smallest number stands beside 0; else the bits of narrow floats count
// upwards from 0.
template <class T>
T next_after(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(a, b);
  } else if constexpr (is_narrow<T>) {
    const float x{a}, y{b};
    if (x != x || y != y) return T(x + y);
    if (x == y) return b;
    T next;
    if (x == 0) {
      next.bits = y < 0 ? 0x8001 : 1;
    } else {
      next.bits = static_cast<uint16_t>(a.bits + ((x < y) == (x > 0) ? 1 : -1));
    }
    return next;
  } else {
    return a;
  }
}

}  // namespace

Tensor nextafter(const Tensor& self, const Tensor& other) {
  const ScalarType dtype = sy::result_type(std::vector<Tensor>{self, other});
  const sy::Dims sizes =
      sy::broadcast_sizes("nextafter", self.sizes(), other.sizes());
  const Tensor a = self.to(dtype), b = other.to(dtype);
  const Tensor out = empty(sizes, dtype, self.device());
  visit(dtype, [&]<class T>() {
    for_each_place(sizes, [&](const Index& at) {
      write(out, at, next_after(read<T>(a, at), read<T>(b, at)));
    });
  });
  return out;
}

std::tuple<Tensor, Tensor> frexp_Tensor(const Tensor& self) {
  const Tensor mantissa =
      empty(self.sizes(), self.scalar_type(), self.device());
  const Tensor exponent = empty(self.sizes(), sy::kInt, self.device());
  for_each_place(self.sizes(), [&](const Index& at) {
    int e = 0;
    write(mantissa, at, std::frexp(read<double>(self, at), &e));
    write(exponent, at, e);
  });
  return {mantissa, exponent};
}

}  // namespace reference
