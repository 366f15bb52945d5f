#include "names.h"

// Making tensors computes nothing, so these are not counted as calls.

namespace accel {
namespace {

using sy::Device;
using sy::Layout;
using sy::MemoryFormat;
using sy::ScalarType;
using sy::Tensor;
template <class T>
using Optional = std::optional<T>;

Tensor empty(sy::IntArrayRef size, Optional<ScalarType> dtype,
             Optional<Layout>, Optional<Device> device, Optional<bool>,
             Optional<MemoryFormat>) {
  return Tensor(sy::make_tensor(size, dtype.value_or(sy::default_dtype()),
                                device.value()));
}

Tensor empty_strided(sy::IntArrayRef size, sy::IntArrayRef stride,
                     Optional<ScalarType> dtype, Optional<Layout>,
                     Optional<Device> device, Optional<bool>) {
  return Tensor(sy::make_tensor_strided(
      size, stride, dtype.value_or(sy::default_dtype()), device.value()));
}

}  // namespace
}  // namespace accel

ACCEL_KERNELS(aten, m) {
  m.impl("empty.memory_format", SY_FN(accel::empty));
  m.impl("empty_strided", SY_FN(accel::empty_strided));
}
