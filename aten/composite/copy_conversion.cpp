// The operators of the family `copy`: between dtypes, devices and the host.

#include <algorithm>

#include "aten/engine/apart.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/ops/comparison.h"
#include "aten/ops/copy.h"
#include "aten/ops/copy_kernels.h"
#include "aten/ops/copy_ops.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/result_type.h"
#include "aten/scalar_tensor.h"
#include "c10/device/backend.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

// A device without a number is the current one of its kind, the first.
bool same_device(Device own, Device asked) {
  return own.type() == asked.type() && (!asked.has_index() || own.index() < 0 ||
                                        own.index() == asked.index());
}

Tensor convert(const Tensor& self, ScalarType dtype, Device device,
               bool non_blocking, bool copy,
               std::optional<MemoryFormat> memory_format,
               std::optional<bool> pin_memory = std::nullopt) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  if (!copy && dtype == self.dtype() && same_device(self.device(), device) &&
      (format == MemoryFormat::Preserve || self.is_contiguous(format)) &&
      (!pin_memory.value_or(false) || self.is_pinned())) {
    return self;
  }
  return sy::_to_copy(
      self,
      TensorOptions().dtype(dtype).device(device).pinned_memory(pin_memory),
      non_blocking, memory_format);
}

// Whether a copy arrives in memory that the device pins. A copy to the host
// that is not waited for does, if the device pins memory.
bool lands_pinned(const Tensor& self, ScalarType dtype, Device device,
                  bool non_blocking) {
  return non_blocking && device.is_cpu() && self.device().type() > kMeta &&
         dtype == self.dtype() &&
         device_interface(self.device().type()).pinned_allocator() != nullptr;
}

template <class T>
bool equal_elements(const Tensor& a, const Tensor& b) {
  const T* x = static_cast<const T*>(a.raw_data());
  return std::equal(x, x + a.numel(), static_cast<const T*>(b.raw_data()));
}

}  // namespace

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
  check_defined("copy_", "self", self);
  check_defined("copy_", "src", src);
  if (self.is_same(src)) return self;
  assert_no_internal_overlap("copy_", "self", self);
  assert_no_partial_overlap("copy_", self, "src", src);
  if (SY_UNLIKELY(self.is_alias_of(src) &&
                  sharing(self, src) == Sharing::TooHard)) {
    copy_tensor(self, generated::copy_apart(src));
    return self;
  }
  copy_tensor(self, src, non_blocking);
  return self;
}

Tensor to_copy(const Tensor& self, std::optional<ScalarType> dtype,
               std::optional<Layout>, std::optional<Device> device,
               std::optional<bool> pin_memory, bool non_blocking,
               std::optional<MemoryFormat> memory_format) {
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(self, memory_format.value_or(MemoryFormat::Preserve),
                     strides);
  const IntArrayRef stride_list(strides, static_cast<size_t>(self.dim()));
  const ScalarType t = dtype.value_or(self.dtype());
  const Device d = device.value_or(self.device());
  Tensor result;
  if (lands_pinned(self, t, d, non_blocking)) {
    result = Tensor(
        make_pinned_tensor(self.sizes(), stride_list, t, self.device().type()));
  } else if (d.type() <= kMeta && !pin_memory.value_or(false)) {
    result = Tensor(make_tensor_strided(self.sizes(), stride_list, t, d));
  } else {
    result = sy::empty_strided(
        self.sizes(), stride_list,
        TensorOptions().dtype(t).device(d).pinned_memory(pin_memory));
  }
  return copy_(result, self, non_blocking);
}

Tensor to_dtype_layout(const Tensor& self, std::optional<ScalarType> dtype,
                       std::optional<Layout>, std::optional<Device> device,
                       std::optional<bool> pin_memory, bool non_blocking,
                       bool copy, std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype.value_or(self.scalar_type()),
                 device.value_or(self.device()), non_blocking, copy,
                 memory_format, pin_memory);
}

Tensor to_device(const Tensor& self, Device device, ScalarType dtype,
                 bool non_blocking, bool copy,
                 std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, device, non_blocking, copy, memory_format);
}

Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking,
                bool copy, std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, self.device(), non_blocking, copy, memory_format);
}

Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking,
                bool copy, std::optional<MemoryFormat> memory_format) {
  return convert(self, other.scalar_type(), other.device(), non_blocking, copy,
                 memory_format);
}

Scalar item(const Tensor& self) {
  SY_CHECK(self.numel() == 1, Value,
           "[item] self: expected a tensor of one element, got {}",
           describe(self));
  // A capture has to see what is read.
  return self.is_cpu() && thread_state.capture == nullptr
             ? read_scalar("item", self)
             : sy::_local_scalar_dense(self);
}

bool is_nonzero(const Tensor& self) {
  SY_CHECK(self.numel() == 1, Value,
           "[is_nonzero] self: expected a tensor of one element, got {}",
           describe(self));
  return composite::item(self).to_bool();
}

bool equal(const Tensor& self, const Tensor& other) {
  SY_CHECK(self.device() == other.device(), Value,
           "[equal] other: expected a tensor on {}, got {}", self.device(),
           describe(other));
  if (self.sizes() != other.sizes()) return false;
  if (self.dtype() != other.dtype()) {
    const ScalarType common = result_type({self, other});
    return composite::equal(self.to(common), other.to(common));
  }
  SY_CHECK(!self.is_meta(), NotImplemented,
           "[equal] self: expected a tensor with data, got {}", describe(self));
  if (thread_state.capture != nullptr) {  // it has to see what is read
    return self.numel() == 0 ||
           composite::item(sy::all(sy::eq(self, other))).to_bool();
  }
  const auto on_host = [](const Tensor& t) {
    return contiguous_cpu(t.is_cpu() ? t : sy::to_device(t, Device(kCPU)));
  };
  const Tensor a = on_host(self), b = on_host(other);
  switch (self.dtype()) {
#define SY_EQUAL(T, Enum) \
  case ScalarType::Enum: return equal_elements<T>(a, b);
    SY_FORALL_SCALAR_TYPES(SY_EQUAL)
#undef SY_EQUAL
    default: return false;
  }
}

}  // namespace sy::composite
