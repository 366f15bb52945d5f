#include "aten/engine/copy.h"

#include "aten/engine/dims.h"
#include "backends/cpu/reduction_argmax.h"
#include "backends/cpu/sort_kernels_gen.h"
#include "backends/cpu/support/dtype_switch.h"
#include "c10/process/parallel.h"

namespace sy::cpu {

namespace {

constexpr int64_t kGrain = 32768;

// The elements at the places that were found along dim.
void take(const Tensor& self, int64_t dim, const Tensor& places,
          const Tensor& values) {
  if (values.numel() == 0) return;
  const int64_t at = wrap_dim("max", dim, self.dim());
  const Tensor x = contiguous_cpu(self);
  const Tensor index = contiguous_cpu(places);
  const Tensor to =
      values.is_contiguous()
          ? values
          : Tensor(make_tensor(values.sizes(), values.dtype(), Device(kCPU)));
  int64_t size = 1, inner = 1;
  for (int64_t d = at; d < self.dim(); ++d) {
    (d == at ? size : inner) *= self.sizes()[static_cast<size_t>(d)];
  }
  const auto* k = static_cast<const int64_t*>(index.raw_data());
  visit_element_size(self.itemsize(), [&]<class T>() {
    const auto* from = static_cast<const T*>(x.raw_data());
    auto* y = static_cast<T*>(to.raw_data());
    parallel_for(0, values.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = from[(i / inner * size + k[i]) * inner + i % inner];
      }
    });
  });
  if (!to.is_same(values)) copy_cpu(values, to);
}

}  // namespace

void max_dim_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
                 const Tensor& indices) {
  find_extremes("max", true, self, dim, indices);
  take(self, dim, indices, values);
}

void min_dim_out(const Tensor& self, int64_t dim, bool, const Tensor& values,
                 const Tensor& indices) {
  find_extremes("min", false, self, dim, indices);
  take(self, dim, indices, values);
}

}  // namespace sy::cpu
