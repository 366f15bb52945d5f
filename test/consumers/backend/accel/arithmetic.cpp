#include <sy/sy.h>

#include "accel_kernels.h"
#include "aten/engine/guard.h"
#include "aten/engine/view.h"
#include "kernel.h"
#include "strided.h"

namespace accel {
namespace {

using sy::Scalar;
using sy::Tensor;

Tensor result_for(const char* op, const Tensor& a, const Tensor& b) {
  return sy::empty(sy::broadcast_sizes(op, a.sizes(), b.sizes()), a.options());
}

auto sum_with(const Scalar& alpha) {
  return [alpha = alpha.toFloat()](float a, float b) { return a + alpha * b; };
}
float product(float a, float b) { return a * b; }

// out = f(a, b), later.
template <class F>
void launch_binary(const Tensor& out, const Tensor& a, const Tensor& b,
                   const F& f) {
  launch([f](const Span& to, const Span& x,
             const Span& y) { for_each(to, x, y, f); },
         out, a, b);
}

}  // namespace

Tensor add_Tensor(const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  Tensor out = result_for("add", self, other);
  launch_binary(out, self, other, sum_with(alpha));
  return out;
}

Tensor& add__Tensor(Tensor& self, const Tensor& other, const Scalar& alpha) {
  launch_binary(self, self, other, sum_with(alpha));
  return self;
}

Tensor& add_out(const Tensor& self, const Tensor& other, const Scalar& alpha,
                Tensor& out) {
  sy::resize_output("add", out,
                    sy::broadcast_sizes("add", self.sizes(), other.sizes()));
  launch_binary(out, self, other, sum_with(alpha));
  return out;
}

Tensor mul_Tensor(const Tensor& self, const Tensor& other) {
  Tensor out = result_for("mul", self, other);
  launch_binary(out, self, other, product);
  return out;
}

Tensor& mul__Tensor(Tensor& self, const Tensor& other) {
  launch_binary(self, self, other, product);
  return self;
}

}  // namespace accel
