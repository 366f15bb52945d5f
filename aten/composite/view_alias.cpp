#include <algorithm>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "aten/ops/view_alias_kernels.h"

namespace sy::composite {

// Shares the storage and nothing else: a gradient of other elements is none.
Tensor view_dtype(const Tensor& self, ScalarType dtype) {
  const auto from = static_cast<int64_t>(self.itemsize());
  const auto to = static_cast<int64_t>(element_size(dtype));
  SY_CHECK(to != 0, Type, "[view] dtype: expected a dtype, got {}", dtype);
  Dims sizes(self.sizes()), strides(self.strides());
  int64_t offset = self.storage_offset();
  const int last = sizes.size() - 1;
  if (from != to) {
    SY_CHECK(last >= 0, Value,
             "[view] self: expected at least one dim to see {} as {}, got none",
             self.scalar_type(), dtype);
    SY_CHECK(strides[last] == 1, Value,
             "[view] self: expected a last dim of stride 1 to see {} as {}, "
             "got stride {}",
             self.scalar_type(), dtype, strides[last]);
  }
  if (from > to) {
    const int64_t ratio = from / to;
    for (int d = 0; d < last; ++d) strides[d] *= ratio;
    sizes[last] *= ratio;
    offset *= ratio;
  } else if (from < to) {
    const int64_t ratio = to / from;
    bool fits = sizes[last] % ratio == 0 && offset % ratio == 0;
    for (int d = 0; d < last; ++d) {
      fits = fits && strides[d] % ratio == 0;
      strides[d] /= ratio;
    }
    SY_CHECK(fits, Value,
             "[view] self: expected a last dim, an offset and strides that {} "
             "divides to see {} as {}, got sizes {}, strides {} and offset {}",
             ratio, self.scalar_type(), dtype, self.sizes(), self.strides(),
             offset);
    sizes[last] /= ratio;
    offset /= ratio;
  }
  Tensor out = alias_without_view(self, sizes, strides, offset);
  out.impl()->set_dtype(dtype);
  return out;
}

Tensor reshape_from_tensor(const Tensor& self, const Tensor& shape) {
  SY_CHECK(shape.dim() == 1 && is_integral_type(shape.scalar_type(), false),
           Value,
           "[_reshape_from_tensor] shape: expected a vector of whole numbers, "
           "got {}",
           describe(shape));
  SY_CHECK(shape.numel() <= TensorImpl::kMaxDims, Value,
           "[_reshape_from_tensor] shape: expected at most {} sizes, got {}",
           int{TensorImpl::kMaxDims}, shape.numel());
  const Tensor sizes = contiguous_cpu(
      shape.is_cpu() ? shape : shape.to(Device(kCPU), kLong), kLong);
  return self.reshape(IntArrayRef(static_cast<const int64_t*>(sizes.raw_data()),
                                  static_cast<size_t>(sizes.numel())));
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  Dims sizes;
  for (const Tensor& t : tensors) {
    SY_CHECK(
        t.defined(), Value,
        "[broadcast_tensors] tensors: expected tensors, got an undefined one");
    sizes = broadcast_sizes("broadcast_tensors", sizes, t.sizes());
  }
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(t.expand(sizes));
  return out;
}

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start,
                     int64_t length) {
  SY_CHECK(
      start.dim() == 0 && is_integral_type(start.scalar_type(), false), Value,
      "[narrow] start: expected a whole number in a tensor of no dims, got {}",
      describe(start));
  return self.narrow(dim, start.item().to_long(), length);
}

}  // namespace sy::composite
