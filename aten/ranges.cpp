#include "aten/ops/ranges.h"

#include "aten/guard.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_kernels.h"
#include "aten/ops/ranges_kernels.h"
#include "aten/ops/ranges_ops.h"

namespace sy::native {

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

}  // namespace sy::native
