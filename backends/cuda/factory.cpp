#include <algorithm>
#include <cstring>

#include "aten/composite/ranges.h"
#include "aten/engine/copy.h"
#include "aten/engine/guard.h"
#include "aten/scalar_tensor.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/device/copy.cuh"
#include "backends/cuda/runtime/copy.h"
#include "backends/cuda/support/walk.h"

namespace sy::cuda {

Tensor empty_memory_format(IntArrayRef size, std::optional<ScalarType> dtype,
                           std::optional<Layout>, std::optional<Device> device,
                           std::optional<bool>,
                           std::optional<MemoryFormat> memory_format) {
  const ScalarType type = dtype ? *dtype : default_dtype();
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  if (SY_LIKELY(format == MemoryFormat::Contiguous)) {
    return Tensor(make_tensor(size, type, device.value_or(Device(kCUDA))));
  }
  SY_CHECK(format != MemoryFormat::Preserve, Value,
           "[empty] memory_format: expected a layout, got {}", format);
  int64_t strides[TensorImpl::kMaxDims];
  dense_strides_like(Tensor(make_tensor(size, type, Device(kMeta))), format,
                     strides);
  return Tensor(make_tensor_strided(size, {strides, size.size()}, type,
                                    device.value_or(Device(kCUDA))));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                     std::optional<ScalarType> dtype, std::optional<Layout>,
                     std::optional<Device> device, std::optional<bool>) {
  return Tensor(make_tensor_strided(size, stride,
                                    dtype.value_or(default_dtype()),
                                    device.value_or(Device(kCUDA))));
}

void fill(const TensorBase& t, const Scalar& value) {
  const Tensor one = scalar_to_tensor(value, t.dtype());
  if (t.numel() == 0) return;
  const auto item = static_cast<int64_t>(t.itemsize());
  const auto* const bytes = static_cast<const unsigned char*>(one.raw_data());
  const bool alike = std::all_of(
      bytes, bytes + item, [&](unsigned char b) { return b == bytes[0]; });
  if (alike && t.is_non_overlapping_and_dense()) {
    return fill_bytes(t, t.raw_data(), bytes[0], t.nbytes());
  }
  const int device = t.device().index();
  Walker iter(t.sizes());
  iter.add(t);
  iter.finish();
  each_walk<1>(iter, [&](Walk<1>& w, char* const* data) {
    const int64_t size = widen(w, 1, data, 0, item);
    finish_walk(w);
    FillParams p{{}, w, data[0], {}};
    for (int64_t i = 0; i < size; i += item) {
      std::memcpy(p.value + i, bytes, static_cast<size_t>(item));
    }
    launch(device, item_kernel(device, "factory.cu", "fill_items", size),
           shape_for_items(device, w.numel), p, {&t});
  });
}

Tensor& fill__Scalar(Tensor& self, const Scalar& value) {
  fill(self, value);
  return self;
}

Tensor& arange_start_out(const Scalar& start, const Scalar& end,
                         const Scalar& step, Tensor& out) {
  const ScalarType dtype = out.dtype();
  const int64_t n = arange_size(start, end, step, out);
  if (out.numel() != n) resize_output("arange", out, n);
  const bool whole = is_integral_type(dtype, false) &&
                     start.is_integral(true) && step.is_integral(true);
  if (n == 0) return out;
  // Others are converted: a kernel for each dtype would be compiled for little.
  const bool direct =
      dtype == kLong || dtype == kInt || dtype == kFloat || dtype == kDouble;
  const ScalarType made = direct ? dtype : whole ? kLong : kFloat;
  const Tensor row = direct && out.is_contiguous()
                         ? out
                         : empty_on(out.device(), out.sizes(), made);
  const int device = row.device().index();
  const Define types[] = {{"SY_TO", device_type(made)},
                          {"SY_FROM", whole             ? "int64_t"
                                      : made == kDouble ? "double"
                                                        : "float"}};
  ArangeParams p{{},
                 static_cast<char*>(row.raw_data()),
                 n,
                 whole ? 1 : 0,
                 whole ? start.to_long() : 0,
                 whole ? step.to_long() : 0,
                 start.to_double(),
                 step.to_double()};
  launch(device, kernel(device, "factory_arange.cu", "arange", types),
         shape_for_items(device, n), p, {&row});
  if (!row.is_same(out)) copy_strided(out, row);
  return out;
}

}  // namespace sy::cuda
