// Borders that show elements of the tensor itself, made of index_select and
// index_add: for backends that have no kernels of their own for them.

#include <algorithm>

#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/copy.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/padding.h"
#include "aten/ops/padding_kernels.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

using Place = int64_t (*)(int64_t x, int64_t size);

// The element that place x shows, from before the start of a dim to beyond its
// end.
int64_t reflected(int64_t x, int64_t size) {
  const int64_t at = x < 0 ? -x : x < size ? x : 2 * (size - 1) - x;
  return std::clamp<int64_t>(at, 0, size - 1);
}
int64_t replicated(int64_t x, int64_t size) {
  return std::clamp<int64_t>(x, 0, size - 1);
}

Tensor shown(Place place, int64_t size, int64_t before, int64_t after,
             Device device) {
  std::vector<int64_t> from;
  for (int64_t j = 0; j < size + before + after; ++j) {
    from.push_back(place(j - before, size));
  }
  return sy::tensor(from, kLong).to(device);
}

// padding: of the last dim first.
Tensor pad(Place place, const Tensor& self, IntArrayRef padding) {
  Tensor out = self;
  for (size_t i = 0; i < padding.size(); i += 2) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i / 2);
    out = sy::index_select(out, dim,
                           shown(place, self.size(dim), padding[i],
                                 padding[i + 1], self.device()));
  }
  return out;
}

Tensor pad_backward(Place place, const Tensor& grad_output, const Tensor& self,
                    IntArrayRef padding) {
  const ScalarType dtype = grad_output.scalar_type();
  Tensor grad = widened(grad_output);
  for (size_t i = 0; i < padding.size(); i += 2) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i / 2);
    std::vector<int64_t> sizes = grad.sizes().vec();
    sizes[static_cast<size_t>(dim)] = self.size(dim);
    grad = sy::index_add(
        sy::zeros(sizes, grad.options()), dim,
        shown(place, self.size(dim), padding[i], padding[i + 1], self.device()),
        grad);
  }
  return grad.to(dtype);
}

}  // namespace

Tensor reflection_pad_by_index(const Tensor& self, IntArrayRef padding) {
  return pad(&reflected, self, padding);
}

Tensor replication_pad_by_index(const Tensor& self, IntArrayRef padding) {
  return pad(&replicated, self, padding);
}

Tensor reflection_pad_backward_by_index(const Tensor& grad_output,
                                        const Tensor& self,
                                        IntArrayRef padding) {
  return pad_backward(&reflected, grad_output, self, padding);
}

Tensor replication_pad_backward_by_index(const Tensor& grad_output,
                                         const Tensor& self,
                                         IntArrayRef padding) {
  return pad_backward(&replicated, grad_output, self, padding);
}

}  // namespace sy::composite
