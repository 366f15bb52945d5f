#include "backends/cuda/engine/layout.h"

#include "aten/engine/iter.h"

namespace sy::cuda {

ReduceLayout::ReduceLayout(const TensorBase& t, uint64_t reduced,
                           bool keepdim) {
  const auto item = static_cast<int64_t>(t.itemsize());
  const int64_t* const strides = t.strides().data();
  const int64_t* const sizes = t.sizes().data();
  const int n = static_cast<int>(t.dim());
  uint8_t order[TensorImpl::kMaxDims];
  sort_dims(&strides, 1, sizes, n, order);
  int64_t place[TensorImpl::kMaxDims];
  int64_t results = 1;
  for (int i = 0; i < n; ++i) {
    const int d = order[i];
    const bool is_reduced = (reduced >> d & 1) != 0;
    place[d] = is_reduced ? 0 : results;
    if (!is_reduced) results *= sizes[d];
    fits &=
        push_dim(is_reduced ? &reduce : &keep, sizes[d], {strides[d] * item});
  }
  close_walk(&keep);
  close_walk(&reduce);
  for (int d = 0; d < n; ++d) {
    if ((reduced >> d & 1) == 0 || keepdim) result_strides.push_back(place[d]);
  }
}

}  // namespace sy::cuda
