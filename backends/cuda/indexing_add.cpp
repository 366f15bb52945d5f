#include "aten/engine/view.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/scatter.h"

namespace sy::cuda {

Tensor& scatter_add_(Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src) {
  const Route r = route_of_elements("scatter_add", self, dim, index, &src);
  if (index.numel() > 0) join(r, self, source_of(src, self), kJoinAdd, {});
  return self;
}

Tensor& index_add_(Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& source, const Scalar& alpha) {
  SY_CHECK(!alpha.is_boolean() || self.dtype() == kBool, Type,
           "[index_add] alpha: expected a number for {}, got a bool",
           self.dtype());
  SY_CHECK(!alpha.is_floating_point() || self.is_floating_point(), Type,
           "[index_add] alpha: expected a whole number for {}, got {}",
           self.dtype(), alpha);
  check_slices("index_add", self, dim, index, source);
  JoinHow how;
  how.alpha = element_bits(alpha, self.dtype());
  how.scales = alpha.equal(1) ? 0 : 1;
  join(route_of_slices("index_add", self, dim, index, false), self,
       source_of(source, self), kJoinAdd, how);
  return self;
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src) {
  Tensor out = copy_of(self);
  return scatter_add_(out, dim, index, src);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index,
                 const Tensor& source, const Scalar& alpha) {
  Tensor out = copy_of(self);
  return index_add_(out, dim, index, source, alpha);
}

}  // namespace sy::cuda
