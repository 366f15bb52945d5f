#include "aten/copy.h"
#include "aten/dims.h"
#include "aten/view.h"
#include "elements.h"
#include "reference_kernels.h"

namespace reference {

using std::optional;
using sy::Device;
using sy::Layout;
using sy::MemoryFormat;

Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device) {
  return Tensor(sy::make_tensor(sizes, dtype, device));
}

Tensor empty_memory_format(IntArrayRef size, optional<ScalarType> dtype,
                           optional<Layout>, optional<Device> device,
                           optional<bool>, optional<MemoryFormat> format) {
  const ScalarType type = dtype.value_or(sy::default_dtype());
  if (format.value_or(MemoryFormat::Contiguous) == MemoryFormat::Contiguous) {
    return empty(size, type, device.value());
  }
  SY_CHECK(*format != MemoryFormat::Preserve, Value,
           "[empty] memory_format: expected a layout, got ", *format);
  sy::Dims strides;
  strides.resize(static_cast<int64_t>(size.size()));
  sy::dense_strides_like(empty(size, type, Device(sy::kMeta)), *format,
                         strides.data());
  return Tensor(sy::make_tensor_strided(size, strides, type, device.value()));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                     optional<ScalarType> dtype, optional<Layout>,
                     optional<Device> device, optional<bool>) {
  return Tensor(sy::make_tensor_strided(
      size, stride, dtype.value_or(sy::default_dtype()), device.value()));
}

Tensor& fill__Scalar(Tensor& self, const sy::Scalar& value) {
  for_each_place(self.sizes(), [&](const Index& at) {
    if (value.is_floating_point()) {
      write(self, at, value.to_double());
    } else {
      write(self, at, value.to_long());
    }
  });
  return self;
}

Tensor _copy_from(const Tensor& self, const Tensor& dst, bool) {
  if (self.device() != dst.device()) {
    sy::copy_between(dst, self);
    return dst;
  }
  SY_CHECK(IntArrayRef(sy::broadcast_sizes("copy_", dst.sizes(),
                                           self.sizes())) == dst.sizes(),
           Value, "[copy_] src: expected sizes that broadcast to ", dst.sizes(),
           ", got ", self.sizes());
  for_each_place(dst.sizes(), [&](const Index& at) {
    visit(self.scalar_type(), [&]<class T>() {
      write<T>(dst, at,
               static_cast<const T*>(self.data_ptr())[place(self, at)]);
    });
  });
  return dst;
}

sy::Scalar _local_scalar_dense(const Tensor& self) {
  const ScalarType t = self.scalar_type();
  if (t == sy::kBool) return read<bool>(self, Index(self.dim(), 0));
  if (sy::is_floating_type(t)) return read<double>(self, Index(self.dim(), 0));
  return read<int64_t>(self, Index(self.dim(), 0));
}

}  // namespace reference
