#include <sy/sy.h>

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

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(add)>{"aten::add.Tensor"}(self, other, alpha);
  }
  count_native_call();
  Tensor out = result_for("add", self, other);
  for_each(out, self, other, sum_with(alpha));
  return out;
}

Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(add_)>{"aten::add_.Tensor"}(self, other, alpha);
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

Tensor mul(const Tensor& self, const Tensor& other) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(mul)>{"aten::mul.Tensor"}(self, other);
  }
  count_native_call();
  Tensor out = result_for("mul", self, other);
  for_each(out, self, other, product);
  return out;
}

Tensor& mul_(Tensor& self, const Tensor& other) {
  if (!native({&self, &other})) {
    return OnCpu<decltype(mul_)>{"aten::mul_.Tensor"}(self, other);
  }
  count_native_call();
  for_each(self, self, other, product);
  return self;
}

}  // namespace
}  // namespace accel

ACCEL_KERNELS(aten, m) {
  m.impl("add.Tensor", SY_FN(accel::add));
  m.impl("add_.Tensor", SY_FN(accel::add_));
  m.impl("add.out", SY_FN(accel::add_out));
  m.impl("mul.Tensor", SY_FN(accel::mul));
  m.impl("mul_.Tensor", SY_FN(accel::mul_));
}
