#include <cmath>

#include "aten/composite/ranges.h"
#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_kernels.h"
#include "aten/ops/factory_ops.h"
#include "aten/tensor.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

// The options that a schema lists one by one.
TensorOptions gather(std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  return TensorOptions()
      .dtype(dtype)
      .layout(layout)
      .device(device)
      .pinned_memory(pin_memory);
}

// The same, with those of `self` where none is given.
TensorOptions gather_like(const Tensor& self, std::optional<ScalarType> dtype,
                          std::optional<Layout> layout,
                          std::optional<Device> device,
                          std::optional<bool> pin_memory) {
  return gather(dtype.value_or(self.scalar_type()), layout,
                device.value_or(self.device()), pin_memory);
}

ScalarType dtype_of(const Scalar& value) {
  return value.is_floating_point() ? default_dtype() : value.type();
}

// int64 for a range whose ends are all integers, else the default dtype.
ScalarType range_dtype(std::initializer_list<const Scalar*> numbers) {
  for (const Scalar* s : numbers) {
    if (s->is_floating_point()) return default_dtype();
  }
  return kLong;
}

}  // namespace

Tensor empty_like(const Tensor& self, std::optional<ScalarType> dtype,
                  std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  const TensorOptions options =
      gather_like(self, dtype, layout, device, pin_memory);
  Dims strides;
  strides.resize(self.dim());
  dense_strides_like(self, memory_format.value_or(MemoryFormat::Preserve),
                     strides.data());
  return sy::empty_strided(self.sizes(), strides, options);
}

Tensor new_empty(const Tensor& self, IntArrayRef size,
                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory) {
  return sy::empty(size, gather_like(self, dtype, layout, device, pin_memory));
}

Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  Tensor out = sy::empty(size, gather(dtype, layout, device, pin_memory));
  return out.zero_();
}

Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype,
                  std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  Tensor out =
      empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.zero_();
}

Tensor new_zeros(const Tensor& self, IntArrayRef size,
                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor out = new_empty(self, size, dtype, layout, device, pin_memory);
  return out.zero_();
}

Tensor ones(IntArrayRef size, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  Tensor out = sy::empty(size, gather(dtype, layout, device, pin_memory));
  return out.fill_(1);
}

Tensor ones_like(const Tensor& self, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  Tensor out =
      empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.fill_(1);
}

Tensor new_ones(const Tensor& self, IntArrayRef size,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor out = new_empty(self, size, dtype, layout, device, pin_memory);
  return out.fill_(1);
}

Tensor full(IntArrayRef size, const Scalar& fill_value,
            std::optional<ScalarType> dtype, std::optional<Layout> layout,
            std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor out = sy::empty(size, gather(dtype.value_or(dtype_of(fill_value)),
                                      layout, device, pin_memory));
  return out.fill_(fill_value);
}

Tensor full_like(const Tensor& self, const Scalar& fill_value,
                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  Tensor out =
      empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.fill_(fill_value);
}

Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor out = new_empty(self, size, dtype, layout, device, pin_memory);
  return out.fill_(fill_value);
}

Tensor scalar_tensor(const Scalar& s, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory) {
  Tensor out =
      sy::empty(IntArrayRef(), gather(dtype, layout, device, pin_memory));
  return out.fill_(s);
}

Tensor arange_start_step(const Scalar& start, const Scalar& end,
                         const Scalar& step, std::optional<ScalarType> dtype,
                         std::optional<Layout> layout,
                         std::optional<Device> device,
                         std::optional<bool> pin_memory) {
  Tensor out =
      sy::empty({0}, gather(dtype.value_or(range_dtype({&start, &end, &step})),
                            layout, device, pin_memory));
  return sy::arange_out(out, start, end, step);
}

Tensor arange_start(const Scalar& start, const Scalar& end,
                    std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory) {
  return arange_start_step(start, end, 1, dtype, layout, device, pin_memory);
}

Tensor arange(const Scalar& end, std::optional<ScalarType> dtype,
              std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory) {
  return arange_start_step(0, end, 1, dtype, layout, device, pin_memory);
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  SY_CHECK(steps >= 0, Value,
           "[linspace] steps: expected a non-negative number, got {}", steps);
  Tensor out = sy::empty({steps}, gather(dtype, layout, device, pin_memory));
  return sy::linspace_out(out, start, end, steps);
}

Tensor eye_m(int64_t n, int64_t m, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  SY_CHECK(n >= 0, Value, "[eye] n: expected a non-negative number, got {}", n);
  SY_CHECK(m >= 0, Value, "[eye] m: expected a non-negative number, got {}", m);
  const int64_t sizes[] = {n, m};
  Tensor out = zeros(sizes, dtype, layout, device, pin_memory);
  const NoGradGuard no_grad;  // the diagonal is gone before anyone sees it
  out.diagonal().fill_(1);
  return out;
}

Tensor eye(int64_t n, std::optional<ScalarType> dtype,
           std::optional<Layout> layout, std::optional<Device> device,
           std::optional<bool> pin_memory) {
  return eye_m(n, n, dtype, layout, device, pin_memory);
}

Tensor& fill_tensor_(Tensor& self, const Tensor& value) {
  SY_CHECK(value.dim() == 0, Value,
           "[fill_] value: expected a tensor of no dims, got {}",
           describe(value));
  self.copy_(value.expand(self.sizes()));
  return self;
}

Tensor fill(const Tensor& self, const Scalar& value) {
  Tensor out = sy::empty_like(self);
  return out.fill_(value);
}

Tensor& zero_(Tensor& self) {
  self.fill_(0);
  name_writer(self, &ops::zero_::entry());
  return self;
}

Tensor& resize_(Tensor& self, IntArrayRef size,
                std::optional<MemoryFormat> memory_format) {
  SY_CHECK(memory_format != MemoryFormat::Preserve, Value,
           "[resize_] memory_format: expected a layout, got preserve");
  const auto dims = [](MemoryFormat f) -> size_t {
    return f == MemoryFormat::ChannelsLast ? 4 : 5;
  };
  SY_CHECK(!memory_format || *memory_format == MemoryFormat::Contiguous ||
               size.size() == dims(*memory_format),
           Value, "[resize_] size: expected {} dims for {}, got {}",
           dims(*memory_format), *memory_format, size);
  checked_numel("resize_", size, self.itemsize());
  TensorImpl& t = *self.impl();
  t.resize(size);
  if (memory_format) {
    Dims strides;
    strides.resize(self.dim());
    dense_strides_like(self, *memory_format, strides.data());
    t.set_sizes_and_strides(Dims(size), strides, t.storage_offset());
  }
  return self;
}

// For backends that have no kernel of their own.
Tensor& linspace_by_arange(const Scalar& start, const Scalar& end,
                           int64_t steps, Tensor& out) {
  SY_CHECK(steps >= 0, Value, "[linspace] steps: expected at least 0, got {}",
           steps);
  store_numbers(numbers_between(start.to_double(), end.to_double(), steps,
                                steps / 2 + steps % 2, out),
                out);
  return out;
}

}  // namespace sy::composite
