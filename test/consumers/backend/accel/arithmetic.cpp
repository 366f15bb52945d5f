#include <sy/sy.h>

#include "accel_kernels.h"
#include "aten/guard.h"
#include "aten/view.h"
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

}  // namespace

Tensor add_Tensor(const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(add_Tensor)>{"aten::add.Tensor"}(self, other, alpha);
  }
  count_native_call();
  Tensor out = result_for("add", self, other);
  for_each(out, self, other, sum_with(alpha));
  return out;
}

Tensor& add__Tensor(Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(add__Tensor)>{"aten::add_.Tensor"}(self, other,
                                                             alpha);
  }
  count_native_call();
  for_each(self, self, other, sum_with(alpha));
  return self;
}

Tensor& add_out(const Tensor& self, const Tensor& other, const Scalar& alpha,
                Tensor& out) {
  if (!native({&self, &other, &out})) {
    return OnCpu<decltype(add_out)>{"aten::add.out"}(self, other, alpha, out);
  }
  count_native_call();
  sy::resize_output("add", out,
                    sy::broadcast_sizes("add", self.sizes(), other.sizes()));
  for_each(out, self, other, sum_with(alpha));
  return out;
}

Tensor mul_Tensor(const Tensor& self, const Tensor& other) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(mul_Tensor)>{"aten::mul.Tensor"}(self, other);
  }
  count_native_call();
  Tensor out = result_for("mul", self, other);
  for_each(out, self, other, product);
  return out;
}

Tensor& mul__Tensor(Tensor& self, const Tensor& other) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(mul__Tensor)>{"aten::mul_.Tensor"}(self, other);
  }
  count_native_call();
  for_each(self, self, other, product);
  return self;
}

}  // namespace accel
