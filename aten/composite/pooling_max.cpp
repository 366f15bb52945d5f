#include <tuple>

#include "aten/composite/pooling_by_index.h"
#include "aten/contract/pooling_windows.h"
#include "aten/engine/guard.h"
#include "aten/engine/operator_steps.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/pooling_max.h"
#include "aten/ops/pooling_max_kernels.h"
#include "aten/ops/pooling_max_ops.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

namespace {

using namespace pooling;

// Zeros but for the elements of self, at their indices in a plane.
Tensor placed(const char* op, const Tensor& self, const Tensor& indices,
              IntArrayRef size) {
  const auto n = static_cast<int64_t>(size.size());
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.resize(sizes.size() - size.size());
  const auto planes = [&](const Tensor& t) { return t.flatten(-n, -1); };
  std::vector<int64_t> flat = sizes;
  flat.push_back(checked_numel(op, size, self.itemsize()));
  sizes.insert(sizes.end(), size.begin(), size.end());
  return sy::zeros(flat, self.options())
      .scatter(-1, planes(indices), planes(self))
      .reshape(sizes);
}

// Indices are for a derivative. Arguments that either of the two would refuse
// are refused here, in the name of `op`.
template <class WithIndices>
Tensor max_pool(const char* op, int64_t n, WithIndices with_indices,
                const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  SY_CHECK(self.dtype() != kBool, Value, "[{}] self: expected numbers, got {}",
           op, self.dtype());
  geometry::pooled_sizes(op, n, self.sizes(), kernel_size, stride, padding,
                         dilation, ceil_mode);
  if (GradMode::is_enabled() && self.requires_grad()) {
    return std::get<0>(
        with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
  }
  return sy::_max_pool(self, n, kernel_size, stride, padding, dilation,
                       ceil_mode);
}

}  // namespace

// For backends that have it with indices.
Tensor max_pool_by_index(const Tensor& self, int64_t n, IntArrayRef kernel_size,
                         IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation, bool ceil_mode) {
  const auto pool = n == 1   ? sy::max_pool1d_with_indices
                    : n == 2 ? sy::max_pool2d_with_indices
                             : sy::max_pool3d_with_indices;
  return std::get<0>(
      pool(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool("max_pool1d", 1, sy::max_pool1d_with_indices, self,
                  kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool("max_pool2d", 2, sy::max_pool2d_with_indices, self,
                  kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool("max_pool3d", 3, sy::max_pool3d_with_indices, self,
                  kernel_size, stride, padding, dilation, ceil_mode);
}

// For backends that have no kernels of their own.
std::tuple<Tensor, Tensor> max_pool1d_by_index(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return largest(pooling_windows("max_pool1d", 1, self, kernel_size, stride,
                                 padding, dilation, ceil_mode),
                 self);
}

std::tuple<Tensor, Tensor> max_pool2d_by_index(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return largest(pooling_windows("max_pool2d", 2, self, kernel_size, stride,
                                 padding, dilation, ceil_mode),
                 self);
}

std::tuple<Tensor, Tensor> max_pool3d_by_index(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return largest(pooling_windows("max_pool3d", 3, self, kernel_size, stride,
                                 padding, dilation, ceil_mode),
                 self);
}

std::tuple<Tensor&, Tensor&> max_pool3d_with_indices_out(
    const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, Tensor& out,
    Tensor& indices) {
  const OperatorEntry& op = ops::max_pool3d_with_indices_out::entry();
  const auto [values, places] = sy::max_pool3d_with_indices(
      self, kernel_size, stride, padding, dilation, ceil_mode);
  const auto store = [&](const Tensor& result, Tensor& to) {
    generated::check_out_dtype(op, to, result.scalar_type());
    if (to.defined() && to.sizes() == result.sizes()) {
      assert_no_internal_overlap("max_pool3d_with_indices", "out", to);
      to.resize_(result.sizes(), self.dim() == 5 ? self.suggest_memory_format()
                                                 : MemoryFormat::Contiguous);
    }
    store_result(op, result, to);
  };
  store(values, out);
  store(places, indices);
  return {out, indices};
}

Tensor max_pool2d_backward_by_scatter(const Tensor& grad_output,
                                      const Tensor& self, IntArrayRef,
                                      IntArrayRef, IntArrayRef, IntArrayRef,
                                      bool, const Tensor& indices) {
  return spread_like(grad_output, indices, self, 2);
}

Tensor max_pool3d_backward_by_scatter(const Tensor& grad_output,
                                      const Tensor& self, IntArrayRef,
                                      IntArrayRef, IntArrayRef, IntArrayRef,
                                      bool, const Tensor& indices) {
  return spread_like(grad_output, indices, self, 3);
}

Tensor max_unpool2d_by_scatter(const Tensor& self, const Tensor& indices,
                               IntArrayRef output_size) {
  return placed("max_unpool2d", self, indices, output_size);
}

Tensor max_unpool3d_by_scatter(const Tensor& self, const Tensor& indices,
                               IntArrayRef output_size, IntArrayRef,
                               IntArrayRef) {
  return placed("max_unpool3d", self, indices, output_size);
}

}  // namespace sy::composite
