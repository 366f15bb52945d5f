#include <algorithm>

#include "aten/result_type.h"
#include "elements.h"
#include "reference_kernels.h"

namespace reference {
namespace {

// An empty vector joins with anything.
bool counts(const Tensor& t) { return t.dim() != 1 || t.size(0) != 0; }

}  // namespace

Tensor cat(sy::TensorList tensors, int64_t dim) {
  const Tensor* first = &tensors[0];
  for (const Tensor& t : tensors) {
    if (counts(t)) {
      first = &t;
      break;
    }
  }
  const auto d = static_cast<size_t>(wrapped(dim, first->dim()));
  Index sizes = first->sizes().vec();
  if (counts(*first)) sizes[d] = 0;
  for (const Tensor& t : tensors) {
    if (counts(t)) sizes[d] += t.sizes()[d];
  }
  const Tensor out = empty(sizes, sy::result_type(tensors), first->device());
  int64_t before = 0;
  for (const Tensor& t : tensors) {
    if (!counts(t)) continue;
    for_each_place(t.sizes(), [&](const Index& at) {
      Index to = at;
      to[d] += before;
      visit(t.scalar_type(), [&]<class T>() {
        write<T>(out, to, static_cast<const T*>(t.raw_data())[place(t, at)]);
      });
    });
    before += t.sizes()[d];
  }
  return out;
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  const Tensor out = empty(self.sizes(), self.scalar_type(), self.device());
  for_each_place(self.sizes(), [&](const Index& at) {
    Index from = at;
    for (const int64_t dim : dims) {
      const auto d = static_cast<size_t>(wrapped(dim, self.dim()));
      if (self.dim() > 0) from[d] = self.sizes()[d] - 1 - at[d];
    }
    copy_element(out, at, self, from);
  });
  return out;
}

}  // namespace reference
