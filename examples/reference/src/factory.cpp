#include <cmath>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
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
           "[empty] memory_format: expected a layout, got {}", *format);
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
           Value, "[copy_] src: expected sizes that broadcast to {}, got {}",
           dst.sizes(), self.sizes());
  for_each_place(dst.sizes(), [&](const Index& at) {
    visit(self.scalar_type(), [&]<class T>() {
      write<T>(dst, at,
               static_cast<const T*>(self.raw_data())[place(self, at)]);
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

// Whole numbers exactly, as far as 64 bits go.
Tensor& arange_start_out(const sy::Scalar& start, const sy::Scalar& end,
                         const sy::Scalar& step, Tensor& out) {
  SY_CHECK(out.scalar_type() != sy::kBool, Type,
           "[arange] out: expected a dtype of numbers, got bool");
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  SY_CHECK(s != 0, Value,
           "[arange] step: expected a number other than 0, got 0");
  SY_CHECK(std::isfinite(a) && std::isfinite(b) && !std::isnan(s), Value,
           "[arange] start, end: expected finite numbers, got {} and {}", start,
           end);
  SY_CHECK(
      (s > 0) == (b >= a) || a == b, Value,
      "[arange] end: expected a bound that steps of {} from {} reach, got {}",
      step, start, end);
  const bool whole = start.is_integral(true) && step.is_integral(true);
  double n = std::ceil((b - a) / s);
  if (whole && end.is_integral(true)) {
    const __int128 by = step.to_long();
    const __int128 span =
        static_cast<__int128>(end.to_long()) - start.to_long();
    n = static_cast<double>((span + by - (by > 0 ? 1 : -1)) / by);
  }
  SY_CHECK(n >= 0 && n < 0x1p62, Value,
           "[arange] end: expected fewer than 2^62 elements, got {}", n);
  resize_vector(out, static_cast<int64_t>(n));
  uint64_t i = 0;
  for_each_place(out.sizes(), [&](const Index& at) {
    if (whole) {
      const auto first = static_cast<uint64_t>(start.to_long());
      const auto by = static_cast<uint64_t>(step.to_long());
      write(out, at, static_cast<int64_t>(first + i * by));
    } else {
      write(out, at, a + static_cast<double>(i) * s);
    }
    ++i;
  });
  return out;
}

}  // namespace reference
