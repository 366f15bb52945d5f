#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "sample_kernels.h"

namespace sample {

using std::optional;
using sy::Device;
using sy::Layout;
using sy::MemoryFormat;
using sy::ScalarType;
using sy::Tensor;

Tensor empty_memory_format(sy::IntArrayRef size, optional<ScalarType> dtype,
                           optional<Layout>, optional<Device> device,
                           optional<bool>, optional<MemoryFormat> format) {
  const ScalarType type = dtype.value_or(sy::default_dtype());
  if (format.value_or(MemoryFormat::Contiguous) == MemoryFormat::Contiguous) {
    return Tensor(sy::make_tensor(size, type, device.value()));
  }
  SY_CHECK(*format != MemoryFormat::Preserve, Value,
           "[empty] memory_format: expected a layout, got {}", *format);
  sy::Dims strides;
  strides.resize(static_cast<int64_t>(size.size()));
  sy::dense_strides_like(Tensor(sy::make_tensor(size, type, Device(sy::kMeta))),
                         *format, strides.data());
  return Tensor(sy::make_tensor_strided(size, strides, type, device.value()));
}

Tensor empty_strided(sy::IntArrayRef size, sy::IntArrayRef stride,
                     optional<ScalarType> dtype, optional<Layout>,
                     optional<Device> device, optional<bool>) {
  return Tensor(sy::make_tensor_strided(
      size, stride, dtype.value_or(sy::default_dtype()), device.value()));
}

}  // namespace sample
