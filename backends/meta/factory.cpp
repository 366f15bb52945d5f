#include "aten/composite/ranges.h"
#include "aten/engine/copy.h"
#include "backends/meta/factory_kernels_gen.h"

namespace sy::meta {

Tensor empty_meta(IntArrayRef size, std::optional<ScalarType> dtype,
                  std::optional<Layout>, std::optional<Device>,
                  std::optional<bool>,
                  std::optional<MemoryFormat> memory_format) {
  Tensor result(
      make_tensor(size, dtype.value_or(default_dtype()), Device(kMeta)));
  if (memory_format && *memory_format != MemoryFormat::Contiguous) {
    SY_CHECK(*memory_format != MemoryFormat::Preserve, Value,
             "[empty] memory_format: expected a layout, got {}",
             *memory_format);
    int64_t strides[TensorImpl::kMaxDims];
    dense_strides_like(result, *memory_format, strides);
    result.impl()->set_sizes_and_strides(size, {strides, size.size()}, 0);
  }
  return result;
}

Tensor empty_strided_meta(IntArrayRef size, IntArrayRef stride,
                          std::optional<ScalarType> dtype,
                          std::optional<Layout>, std::optional<Device>,
                          std::optional<bool>) {
  return Tensor(make_tensor_strided(
      size, stride, dtype.value_or(default_dtype()), Device(kMeta)));
}

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step,
                   Tensor& out) {
  const int64_t n = arange_size(start, end, step, out);
  if (out.sizes() != IntArrayRef(n)) out.impl()->resize(n);
  return out;
}

Tensor& randperm_out(int64_t n, std::optional<Generator>, Tensor& out) {
  SY_CHECK(n >= 0, Value, "[randperm] n: expected at least 0, got {}", n);
  SY_CHECK(out.dtype() != kBool, Type,
           "[randperm] dtype: expected a dtype of numbers, got bool");
  if (out.sizes() != IntArrayRef(n)) out.impl()->resize(n);
  return out;
}

Tensor& fill_meta_(Tensor& self, const Scalar&) { return self; }

}  // namespace sy::meta
