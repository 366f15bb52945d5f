#include "backends/cpu/engine/reduce_layout.h"

#include "aten/engine/iter.h"

namespace sy::cpu {

namespace {

// Adds a dim that is slower than those there.
void push(DimGroup* g, int64_t size, int64_t stride) {
  g->numel *= size;
  if (size == 1) return;
  if (g->n > 0 && stride == g->strides[g->n - 1] * g->sizes[g->n - 1]) {
    g->sizes[g->n - 1] *= size;
    return;
  }
  g->sizes[g->n] = size;
  g->strides[g->n] = stride;
  ++g->n;
}

}  // namespace

ReduceLayout::ReduceLayout(const TensorBase& t, uint64_t reduced_dims,
                           bool keepdim)
    : data(static_cast<const char*>(t.raw_data())),
      itemsize(static_cast<int64_t>(t.itemsize())) {
  const int64_t* strides = t.strides().data();
  const int64_t* sizes = t.sizes().data();
  const int n = static_cast<int>(t.dim());
  uint8_t order[TensorImpl::kMaxDims];
  sort_dims(&strides, 1, sizes, n, order);
  int64_t buffer_stride[TensorImpl::kMaxDims];
  for (int i = 0; i < n; ++i) {
    const int d = order[i];
    const bool is_reduced = (reduced_dims >> d & 1) != 0;
    DimGroup* g = is_reduced ? &reduced : &kept;
    buffer_stride[d] = is_reduced ? 0 : kept.numel;
    push(g, sizes[d], strides[d] * itemsize);
  }
  for (int d = 0; d < n; ++d) {
    if ((reduced_dims >> d & 1) == 0 || keepdim) {
      result_strides.push_back(buffer_stride[d]);
    }
  }
}

}  // namespace sy::cpu
