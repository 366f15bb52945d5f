#include "aten/engine/layout.h"

#include <algorithm>

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"

namespace sy {

DimOrder DimOrder::like(const TensorBase& t) {
  switch (t.suggest_memory_format()) {
    case MemoryFormat::ChannelsLast: return {0, 2, 3, 1};
    case MemoryFormat::ChannelsLast3d: return {0, 2, 3, 4, 1};
    default: return {};
  }
}

bool DimOrder::is_row_major() const {
  for (int k = 0; k < n_; ++k) {
    if (dims_[k] != k) return false;
  }
  return true;
}

void DimOrder::strides_of(IntArrayRef sizes, int64_t* strides) const {
  if (static_cast<size_t>(n_) != sizes.size()) {
    return contiguous_strides(sizes, strides);
  }
  int64_t stride = 1;
  for (int k = n_; k-- > 0;) {
    strides[dims_[k]] = stride;
    stride *= std::max<int64_t>(sizes[dims_[k]], 1);
  }
}

Tensor new_result(const TensorBase& like, IntArrayRef sizes, ScalarType dtype,
                  const DimOrder& order) {
  if (SY_LIKELY(order.is_row_major())) {
    return Tensor(make_tensor(sizes, dtype, like.device()));
  }
  int64_t strides[TensorImpl::kMaxDims];
  order.strides_of(sizes, strides);
  return Tensor(make_tensor_strided(sizes, {strides, sizes.size()}, dtype,
                                    like.device()));
}

Tensor laid_out(const Tensor& result, const DimOrder& order) {
  const IntArrayRef sizes = result.sizes();
  int64_t strides[TensorImpl::kMaxDims];
  order.strides_of(sizes, strides);
  bool fits = true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    fits = fits && (sizes[d] <= 1 || result.strides()[d] == strides[d]);
  }
  if (fits || result.numel() == 0) return result;
  const Tensor out = new_result(result, sizes, result.scalar_type(), order);
  copy_tensor(out, result);
  return out;
}

void lay_out(const Tensor& out, const DimOrder& order) {
  if (order.is_row_major() || !out.is_contiguous()) return;
  int64_t strides[TensorImpl::kMaxDims];
  order.strides_of(out.sizes(), strides);
  out.impl()->set_sizes_and_strides(out.sizes(), {strides, out.sizes().size()},
                                    out.storage_offset());
}

}  // namespace sy
