#include "c10/memory/pinned_memory.h"

#include "aten/engine/copy.h"
#include "aten/ops/copy.h"
#include "aten/ops/copy_kernels.h"
#include "aten/tensor.h"

namespace sy::composite {

bool is_pinned(const Tensor& self, std::optional<Device> device) {
  const Storage& storage = self.storage();
  return storage && sy::is_pinned(*storage, device);
}

Tensor pin_memory(const Tensor& self, std::optional<Device> device) {
  return composite::is_pinned(self, device) ? self
                                            : sy::_pin_memory(self, device);
}

Tensor _pin_memory(const Tensor& self, std::optional<Device> device) {
  SY_CHECK(self.is_cpu(), Value,
           "[pin_memory] self: expected a tensor on cpu, got {}: only memory "
           "of the host is pinned",
           describe(self));
  Dims strides;
  strides.resize(self.dim());
  dense_strides_like(self, MemoryFormat::Preserve, strides.data());
  Tensor result(make_pinned_tensor(self.sizes(), strides, self.dtype(),
                                   pinning_backend("pin_memory", device)));
  copy_cpu(result, self);
  return result;
}

}  // namespace sy::composite
