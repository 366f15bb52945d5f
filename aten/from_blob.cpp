#include "aten/from_blob.h"

#include "aten/engine/dims.h"

namespace sy::detail {

namespace {

// Bytes from the first element to the end of the last.
size_t reach(IntArrayRef sizes, IntArrayRef strides, size_t itemsize) {
  int64_t last = 0;
  bool overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    SY_CHECK(strides[d] >= 0, Value,
             "[from_blob] strides: expected non-negative, got {}", strides);
    if (sizes[d] == 0) return 0;
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &step) ||
                __builtin_add_overflow(last, step, &last);
  }
  int64_t bytes = 0;
  overflow |=
      __builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, static_cast<int64_t>(itemsize), &bytes);
  SY_CHECK(!overflow, Value,
           "[from_blob] strides: the elements reach beyond 2^63 bytes with "
           "sizes {} and strides {}",
           sizes, strides);
  return static_cast<size_t>(bytes);
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const IntArrayRef* strides,
                 Deleter deleter, void* context, const TensorOptions& options) {
  const ScalarType dtype = options.dtype();
  const Device device = options.device();
  SY_CHECK(!device.is_meta(), Value,
           "[from_blob] options: expected a device with memory, got {}",
           device);
  const size_t item = element_size(dtype);
  const int64_t numel = checked_numel("from_blob", sizes, item);
  SY_CHECK(
      data != nullptr || numel == 0, Value,
      "[from_blob] data: expected memory for {} elements, got a null pointer",
      numel);
  Dims row_major;
  if (strides == nullptr) {
    row_major = Dims(sizes);
    contiguous_strides(sizes, row_major.data());
  } else {
    SY_CHECK(
        strides->size() == sizes.size(), Value,
        "[from_blob] strides: expected {} strides, one for each size, got {}",
        sizes.size(), strides->size());
    row_major = Dims(*strides);
  }
  Storage storage = StorageImpl::adopt(data, reach(sizes, row_major, item),
                                       device, deleter, context);
  storage->set_handed_out();  // by the caller, who knows the address
  Tensor out(TensorImpl::make(std::move(storage), dtype, device,
                              DispatchKeySet::dense(device.type()), sizes,
                              row_major, 0));
  if (options.requires_grad()) out.requires_grad_();
  return out;
}

}  // namespace sy::detail
