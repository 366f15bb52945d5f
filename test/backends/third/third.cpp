#include <cstring>

#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "aten/ops/all.h"
#include "c10/device/backend.h"
#include "test/backends/third/backend_gen.h"

namespace sy::third {
namespace {

class Devices final : public DeviceInterface {
 public:
  Allocator& allocator(int) override { return cpu_allocator(); }
  void copy_from_host(void* dst, const void* src, size_t bytes, int) override {
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes, int) override {
    if (bytes != 0) std::memcpy(dst, src, bytes);
  }
  void copy_on_device(void* dst, const void* src, size_t bytes, int) override {
    if (bytes != 0) std::memmove(dst, src, bytes);
  }
};

// Calls f for contiguous tensors of one size; others are expanded before.
template <class F>
Tensor each(const Tensor& a, const Tensor& b, const F& f) {
  const Dims sizes = broadcast_sizes("third", a.sizes(), b.sizes());
  const Tensor x = a.expand(sizes).contiguous();
  const Tensor y = b.expand(sizes).contiguous();
  Tensor out = empty(sizes, a.options());
  const auto* p = static_cast<const float*>(x.raw_data());
  const auto* q = static_cast<const float*>(y.raw_data());
  auto* r = static_cast<float*>(out.raw_data());
  for (int64_t i = 0; i < out.numel(); ++i) r[i] = f(p[i], q[i]);
  return out;
}

}  // namespace

DeviceInterface& devices() {
  static auto* const d = new Devices;
  return *d;
}

Tensor add_Tensor(const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  const float scale = alpha.toFloat();
  return each(self, other, [=](float a, float b) { return a + scale * b; });
}

Tensor mul_Tensor(const Tensor& self, const Tensor& other) {
  return each(self, other, [](float a, float b) { return a * b; });
}

Tensor relu(const Tensor& self) {
  return each(self, self, [](float a, float) { return a < 0 ? 0 : a; });
}

Tensor empty_memory_format(IntArrayRef size, std::optional<ScalarType> dtype,
                           std::optional<Layout>, std::optional<Device> device,
                           std::optional<bool>, std::optional<MemoryFormat>) {
  return Tensor(
      make_tensor(size, dtype.value_or(default_dtype()), device.value()));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                     std::optional<ScalarType> dtype, std::optional<Layout>,
                     std::optional<Device> device, std::optional<bool>) {
  return Tensor(make_tensor_strided(
      size, stride, dtype.value_or(default_dtype()), device.value()));
}

}  // namespace sy::third
