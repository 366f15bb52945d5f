#include "aten/ops/factory.h"

#include "aten/ops/factory_kernels.h"
#include "aten/ops/factory_ops.h"
#include "aten/ops/factory_out_kernels.h"
#include "aten/tensor.h"

namespace sy::composite {

namespace {

Tensor empty_as(IntArrayRef size, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  return sy::empty(
      size,
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(
          pin_memory));
}

}  // namespace

Tensor rand_generator(IntArrayRef size, std::optional<Generator> generator,
                      std::optional<ScalarType> dtype,
                      std::optional<Layout> layout,
                      std::optional<Device> device,
                      std::optional<bool> pin_memory) {
  Tensor out = empty_as(size, dtype, layout, device, pin_memory);
  return out.uniform_(0, 1, generator);
}

Tensor rand(IntArrayRef size, std::optional<ScalarType> dtype,
            std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory) {
  return rand_generator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor rand_like(const Tensor& self, std::optional<ScalarType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return rand_like_generator(self, std::nullopt, dtype, layout, device,
                             pin_memory, memory_format);
}

Tensor randn_generator(IntArrayRef size, std::optional<Generator> generator,
                       std::optional<ScalarType> dtype,
                       std::optional<Layout> layout,
                       std::optional<Device> device,
                       std::optional<bool> pin_memory) {
  Tensor out = empty_as(size, dtype, layout, device, pin_memory);
  return out.normal_(0, 1, generator);
}

Tensor randn(IntArrayRef size, std::optional<ScalarType> dtype,
             std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {
  return randn_generator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor randn_like(const Tensor& self, std::optional<ScalarType> dtype,
                  std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return randn_like_generator(self, std::nullopt, dtype, layout, device,
                              pin_memory, memory_format);
}

Tensor randint_low_generator(int64_t low, int64_t high, IntArrayRef size,
                             std::optional<Generator> generator,
                             std::optional<ScalarType> dtype,
                             std::optional<Layout> layout,
                             std::optional<Device> device,
                             std::optional<bool> pin_memory) {
  Tensor out =
      empty_as(size, dtype.value_or(kLong), layout, device, pin_memory);
  return out.random_(low, high, generator);
}

Tensor randint_low(int64_t low, int64_t high, IntArrayRef size,
                   std::optional<ScalarType> dtype,
                   std::optional<Layout> layout, std::optional<Device> device,
                   std::optional<bool> pin_memory) {
  return randint_low_generator(low, high, size, std::nullopt, dtype, layout,
                               device, pin_memory);
}

Tensor randint_generator(int64_t high, IntArrayRef size,
                         std::optional<Generator> generator,
                         std::optional<ScalarType> dtype,
                         std::optional<Layout> layout,
                         std::optional<Device> device,
                         std::optional<bool> pin_memory) {
  return randint_low_generator(0, high, size, generator, dtype, layout, device,
                               pin_memory);
}

Tensor randint(int64_t high, IntArrayRef size, std::optional<ScalarType> dtype,
               std::optional<Layout> layout, std::optional<Device> device,
               std::optional<bool> pin_memory) {
  return randint_low_generator(0, high, size, std::nullopt, dtype, layout,
                               device, pin_memory);
}

Tensor randperm_generator(int64_t n, std::optional<Generator> generator,
                          std::optional<ScalarType> dtype,
                          std::optional<Layout> layout,
                          std::optional<Device> device,
                          std::optional<bool> pin_memory) {
  SY_CHECK(n >= 0, Value,
           "[randperm] n: expected a non-negative number, got {}", n);
  Tensor out = empty_as({n}, dtype.value_or(kLong), layout, device, pin_memory);
  return ops::randperm_generator_out::call(n, generator, out);
}

Tensor randperm(int64_t n, std::optional<ScalarType> dtype,
                std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory) {
  return randperm_generator(n, std::nullopt, dtype, layout, device, pin_memory);
}

}  // namespace sy::composite
