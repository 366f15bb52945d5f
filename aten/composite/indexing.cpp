// Slices at indices, made of gather and scatter: for backends that have no
// kernels of their own for them.

#include "aten/composite/indexing.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/indexing.h"
#include "aten/ops/indexing_kernels.h"
#include "aten/ops/scatter.h"

namespace sy::composite {

// A tensor without dims is a vector of one element here.
Tensor with_dims(const Tensor& t) { return t.dim() == 0 ? t.reshape(1) : t; }

// A vector of indices along `dim` for every element of `sizes`.
Tensor indices_along(const char* op, const Tensor& index, int64_t dim,
                     IntArrayRef sizes) {
  std::vector<int64_t> shape(sizes.size(), 1);
  const int64_t d = wrap_dim(op, dim, static_cast<int64_t>(sizes.size()));
  shape[static_cast<size_t>(d)] = index.numel();
  return index.to(kLong).reshape(shape).expand(sizes);
}

// The same places counted from the start; those outside stay outside.
Tensor from_start(const Tensor& index, int64_t n) {
  const Tensor i = index.to(kLong);
  return sy::where(i < 0, i + n, i);
}

Tensor index_select_by_gather(const Tensor& self, int64_t dim,
                              const Tensor& index) {
  const Tensor x = with_dims(self);
  Dims sizes(x.sizes());
  sizes[static_cast<int>(wrap_dim("index_select", dim, x.dim()))] =
      index.numel();
  const Tensor out =
      sy::gather(x, dim, indices_along("index_select", index, dim, sizes));
  return self.dim() == 0 ? out.reshape(self.sizes()) : out;
}

Tensor index_add_by_scatter(const Tensor& self, int64_t dim,
                            const Tensor& index, const Tensor& source,
                            const Scalar& alpha) {
  const Tensor x = with_dims(self), from = with_dims(source);
  return sy::scatter_add(x, dim,
                         indices_along("index_add", index, dim, from.sizes()),
                         from * alpha)
      .reshape(self.sizes());
}

Tensor scatter_add_by_reduce(const Tensor& self, int64_t dim,
                             const Tensor& index, const Tensor& src) {
  return sy::scatter_reduce(self, dim, index, src, "sum", true);
}

}  // namespace sy::composite
