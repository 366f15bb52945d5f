#include "aten/engine/columns.h"

#include <utility>

#include "aten/engine/dims.h"
#include "aten/engine/structured.h"

namespace sy {

namespace {

// The sizes with the last two swapped.
Dims transposed(IntArrayRef sizes) {
  Dims out(sizes);
  std::swap(out[out.size() - 1], out[out.size() - 2]);
  return out;
}

}  // namespace

Tensor new_by_columns(const TensorBase& like, IntArrayRef sizes,
                      ScalarType dtype) {
  const size_t n = sizes.size();
  if (n < 2 || static_cast<int64_t>(n) < like.dim()) {
    return new_result(like, sizes, dtype);
  }
  const Tensor result = new_result(like, transposed(sizes), dtype);
  Dims strides = transposed(result.strides());
  result.impl()->set_sizes_and_strides(Dims(sizes), strides, 0);
  return result;
}

void store_as_laid_out(const OperatorEntry& op, const Tensor& result,
                       Tensor& out) {
  if (out.defined() && out.sizes() != result.sizes() &&
      !result.is_contiguous() && result.is_non_overlapping_and_dense()) {
    prepare_out(op, out, result.sizes(), result.dtype(), result.device());
    const Dims sizes(result.sizes()), strides(result.strides());
    out.impl()->set_sizes_and_strides(sizes, strides, out.storage_offset());
  }
  store_result(op, result, out);
}

}  // namespace sy
