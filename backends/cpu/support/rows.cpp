#include "backends/cpu/support/rows.h"

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/view.h"

namespace sy::cpu {

Tensor with_dim_last(const Tensor& t, int64_t dim) {
  if (dim + 1 >= t.dim()) return t;
  Dims sizes, strides;
  for (int64_t i = 0; i < t.dim(); ++i) {
    const int64_t d = i + 1 == t.dim() ? dim : i < dim ? i : i + 1;
    sizes.push_back(t.sizes()[static_cast<size_t>(d)]);
    strides.push_back(t.strides()[static_cast<size_t>(d)]);
  }
  return alias_without_view(t, sizes, strides, t.storage_offset());
}

Tensor rows_of(const Tensor& t, int64_t dim) {
  return contiguous_cpu(with_dim_last(t, dim));
}

RowCount count_rows(const Tensor& t, int64_t dim) {
  RowCount count{1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    (d == dim ? count.length : count.rows) *= t.sizes()[static_cast<size_t>(d)];
  }
  return count;
}

RowsOut::RowsOut(const Tensor& out, std::optional<int64_t> dim)
    : target_(dim ? with_dim_last(out, *dim) : out),
      room_(target_.is_contiguous()
                ? target_
                : Tensor(make_tensor(target_.sizes(), out.dtype(),
                                     Device(kCPU)))) {}

void RowsOut::store() const {
  if (!room_.is_same(target_)) copy_cpu(target_, room_);
}

}  // namespace sy::cpu
