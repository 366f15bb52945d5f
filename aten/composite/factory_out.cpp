#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/ops/factory.h"
#include "aten/ops/factory_kernels.h"
#include "aten/ops/factory_ops.h"
#include "aten/ops/factory_out_kernels.h"

namespace sy::composite {

Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout,
                      std::optional<ScalarType> dtype,
                      std::optional<Layout> layout,
                      std::optional<Device> device,
                      std::optional<bool> pin_memory) {
  checked_numel("empty_permuted", size);
  Dims strides;
  strides.resize(static_cast<int64_t>(size.size()));
  int64_t stride = 1;
  for (size_t k = size.size(); k-- > 0;) {
    const int64_t d = physical_layout[k];
    strides[d] = stride;
    const int64_t n = size[static_cast<size_t>(d)];
    if (n > 0 && __builtin_mul_overflow(stride, n, &stride)) stride = 1;
  }
  return sy::empty_strided(
      size, strides,
      TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(
          pin_memory));
}

Tensor new_empty_strided(const Tensor& self, IntArrayRef size,
                         IntArrayRef stride, std::optional<ScalarType> dtype,
                         std::optional<Layout> layout,
                         std::optional<Device> device,
                         std::optional<bool> pin_memory) {
  return sy::empty_strided(size, stride,
                           TensorOptions()
                               .dtype(dtype.value_or(self.scalar_type()))
                               .layout(layout)
                               .device(device.value_or(self.device()))
                               .pinned_memory(pin_memory));
}

namespace {

Tensor& sized(const char* op, Tensor& out, IntArrayRef size) {
  checked_numel(op, size, out.itemsize());
  resize_output(op, out, size);
  return out;
}

}  // namespace

Tensor& empty_out(IntArrayRef size, std::optional<MemoryFormat> memory_format,
                  Tensor& out) {
  sized("empty", out, size);
  if (memory_format) out.resize_(size, memory_format);
  return out;
}

Tensor& rand_generator_out(IntArrayRef size, std::optional<Generator> generator,
                           Tensor& out) {
  return sized("rand", out, size).uniform_(0, 1, generator);
}

Tensor& rand_out(IntArrayRef size, Tensor& out) {
  return rand_generator_out(size, std::nullopt, out);
}

Tensor& randn_generator_out(IntArrayRef size,
                            std::optional<Generator> generator, Tensor& out) {
  return sized("randn", out, size).normal_(0, 1, generator);
}

Tensor& randn_out(IntArrayRef size, Tensor& out) {
  return randn_generator_out(size, std::nullopt, out);
}

Tensor& randint_low_generator_out(int64_t low, int64_t high, IntArrayRef size,
                                  std::optional<Generator> generator,
                                  Tensor& out) {
  return sized("randint", out, size).random_(low, high, generator);
}

Tensor& randint_low_out(int64_t low, int64_t high, IntArrayRef size,
                        Tensor& out) {
  return randint_low_generator_out(low, high, size, std::nullopt, out);
}

Tensor& randint_generator_out(int64_t high, IntArrayRef size,
                              std::optional<Generator> generator, Tensor& out) {
  return randint_low_generator_out(0, high, size, generator, out);
}

Tensor& randint_out(int64_t high, IntArrayRef size, Tensor& out) {
  return randint_low_generator_out(0, high, size, std::nullopt, out);
}

Tensor rand_like_generator(const Tensor& self,
                           std::optional<Generator> generator,
                           std::optional<ScalarType> dtype,
                           std::optional<Layout> layout,
                           std::optional<Device> device,
                           std::optional<bool> pin_memory,
                           std::optional<MemoryFormat> memory_format) {
  Tensor out =
      empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.uniform_(0, 1, generator);
}

Tensor randn_like_generator(const Tensor& self,
                            std::optional<Generator> generator,
                            std::optional<ScalarType> dtype,
                            std::optional<Layout> layout,
                            std::optional<Device> device,
                            std::optional<bool> pin_memory,
                            std::optional<MemoryFormat> memory_format) {
  Tensor out =
      empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.normal_(0, 1, generator);
}

Tensor randint_like_low_generator(const Tensor& self, int64_t low, int64_t high,
                                  std::optional<Generator> generator,
                                  std::optional<ScalarType> dtype,
                                  std::optional<Layout> layout,
                                  std::optional<Device> device,
                                  std::optional<bool> pin_memory,
                                  std::optional<MemoryFormat> memory_format) {
  Tensor out =
      empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return out.random_(low, high, generator);
}

Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high,
                        std::optional<ScalarType> dtype,
                        std::optional<Layout> layout,
                        std::optional<Device> device,
                        std::optional<bool> pin_memory,
                        std::optional<MemoryFormat> memory_format) {
  return randint_like_low_generator(self, low, high, std::nullopt, dtype,
                                    layout, device, pin_memory, memory_format);
}

Tensor randint_like_generator(const Tensor& self, int64_t high,
                              std::optional<Generator> generator,
                              std::optional<ScalarType> dtype,
                              std::optional<Layout> layout,
                              std::optional<Device> device,
                              std::optional<bool> pin_memory,
                              std::optional<MemoryFormat> memory_format) {
  return randint_like_low_generator(self, 0, high, generator, dtype, layout,
                                    device, pin_memory, memory_format);
}

Tensor randint_like(const Tensor& self, int64_t high,
                    std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory,
                    std::optional<MemoryFormat> memory_format) {
  return randint_like_low_generator(self, 0, high, std::nullopt, dtype, layout,
                                    device, pin_memory, memory_format);
}

Tensor randint_like_tensor(const Tensor& self, const Tensor& high,
                           std::optional<ScalarType> dtype,
                           std::optional<Layout> layout,
                           std::optional<Device> device,
                           std::optional<bool> pin_memory,
                           std::optional<MemoryFormat> memory_format) {
  SY_CHECK(high.numel() == 1, Value,
           "[randint_like] high: expected a tensor of one element, got {}",
           describe(high));
  return randint_like_low_generator(self, 0, high.item().to_long(),
                                    std::nullopt, dtype, layout, device,
                                    pin_memory, memory_format);
}

Tensor fill_tensor(const Tensor& self, const Tensor& value) {
  Tensor out = sy::empty_like(self);
  return out.fill_(value);
}

Tensor& resize_as_(Tensor& self, const Tensor& the_template,
                   std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) {
    memory_format = the_template.suggest_memory_format();
  }
  return resize_(self, the_template.sizes(), memory_format);
}

Tensor& randperm_simple_out(int64_t n, Tensor& out) {
  return ops::randperm_generator_out::call(n, std::nullopt, out);
}

}  // namespace sy::composite
