#include <algorithm>
#include <tuple>

#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "aten/result_type.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/device/number_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/support/walk.h"

namespace sy::cuda {

namespace {

void run(const char* name, const Tensor& first, const Tensor& second,
         const Tensor& third) {
  Walker iter(first.sizes());
  for (const Tensor* t : {&first, &second, &third}) iter.add(*t);
  iter.finish();
  const int device = first.device().index();
  const Define define[] = {
      {"SY_ELEMENT", print::element_name(first.scalar_type())}};
  each_walk<3>(iter, [&](Walk<3>& w, char* const* data) {
    NumberParams p = {};
    finish_walk(w);
    p.walk = w;
    std::copy_n(data, 3, p.data);
    launch(device, kernel(device, "number.cu", name, define),
           shape_for(w.numel, 256, 1, 1 << 16), p, {&first, &second, &third});
  });
}

void check_floating(const char* op, const Tensor& t) {
  SY_CHECK(is_floating_type(t.scalar_type()), Type,
           "[{}] self: expected a floating dtype, got {}", op, t.scalar_type());
}

}  // namespace

std::tuple<Tensor, Tensor> frexp_Tensor(const Tensor& self) {
  check_floating("frexp", self);
  const Tensor mantissa = new_result(self, self.sizes(), self.scalar_type());
  const Tensor exponent = new_result(self, self.sizes(), kInt);
  run("take_apart", mantissa, exponent, self);
  return {mantissa, exponent};
}

Tensor nextafter(const Tensor& self, const Tensor& other) {
  const Tensor both[] = {self, other};
  const ScalarType dtype = result_type(both);
  const Dims sizes = broadcast_sizes("nextafter", self.sizes(), other.sizes());
  // A number of the host goes with any device.
  const Tensor& there = self.device().is_cpu() ? other : self;
  const Tensor a = self.to(there.device(), dtype);
  const Tensor b = other.to(there.device(), dtype);
  const Tensor out = new_result(there, sizes, dtype);
  check_floating("nextafter", out);
  run("step_towards", out, a, b);
  return out;
}

}  // namespace sy::cuda
