#include "aten/composite/ranges.h"

#include <cmath>

#include "aten/engine/guard.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_kernels.h"
#include "aten/ops/ranges.h"
#include "aten/ops/ranges_kernels.h"
#include "aten/ops/ranges_ops.h"

namespace sy {

int64_t range_size(const Scalar& start, const Scalar& end, const Scalar& step,
                   const Tensor& out) {
  SY_CHECK(out.dtype() != kBool, Type,
           "[range] out: expected a dtype of numbers, got bool");
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  SY_CHECK(s != 0 && !std::isnan(s), Value,
           "[range] step: expected a number other than 0, got ", step);
  SY_CHECK(std::isfinite(a) && std::isfinite(b), Value,
           "[range] start, end: expected finite numbers, got ", start, " and ",
           end);
  SY_CHECK(s > 0 ? b >= a : b <= a, Value,
           "[range] end: expected a bound that steps of ", step, " from ",
           start, " reach, got ", end);
  const double n = std::floor((b - a) / s) + 1;
  SY_CHECK(n >= 0 && n < 0x1p62, Value,
           "[range] end: expected fewer than 2^62 elements, got ", n);
  return static_cast<int64_t>(n);
}

namespace composite {

namespace {

// For a range of unknown length: its out= form gives it one.
Tensor no_elements(std::optional<ScalarType> dtype,
                   std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pin_memory) {
  return sy::empty(
      {0},
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(
          pin_memory));
}

}  // namespace

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps,
                double base, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  Tensor out = no_elements(dtype, layout, device, pin_memory);
  return sy::logspace_out(out, start, end, steps, base);
}

Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step,
                  std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device,
                  std::optional<bool> pin_memory) {
  Tensor out = no_elements(dtype, layout, device, pin_memory);
  return sy::range_out(out, start, end, step);
}

Tensor range(const Scalar& start, const Scalar& end,
             std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory) {
  return range_step(start, end, 1, dtype, layout, device, pin_memory);
}

Tensor& range_out(const Scalar& start, const Scalar& end, Tensor& out) {
  sy::range_out(out, start, end, 1);
  name_writer(out, &ops::range_out_::entry());
  return out;
}

Tensor linspace_tensor_tensor(const Tensor& start, const Tensor& end,
                              int64_t steps, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return linspace(start.item(), end.item(), steps, dtype, layout, device,
                  pin_memory);
}

Tensor linspace_tensor_scalar(const Tensor& start, const Scalar& end,
                              int64_t steps, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return linspace(start.item(), end, steps, dtype, layout, device, pin_memory);
}

Tensor linspace_scalar_tensor(const Scalar& start, const Tensor& end,
                              int64_t steps, std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return linspace(start, end.item(), steps, dtype, layout, device, pin_memory);
}

Tensor logspace_tensor_tensor(const Tensor& start, const Tensor& end,
                              int64_t steps, double base,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return logspace(start.item(), end.item(), steps, base, dtype, layout, device,
                  pin_memory);
}

Tensor logspace_tensor_scalar(const Tensor& start, const Scalar& end,
                              int64_t steps, double base,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return logspace(start.item(), end, steps, base, dtype, layout, device,
                  pin_memory);
}

Tensor logspace_scalar_tensor(const Scalar& start, const Tensor& end,
                              int64_t steps, double base,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory) {
  return logspace(start, end.item(), steps, base, dtype, layout, device,
                  pin_memory);
}

}  // namespace composite
}  // namespace sy
