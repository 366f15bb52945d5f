#include <algorithm>

#include "aten/result_type.h"
#include "elements.h"
#include "reference_kernels.h"

namespace reference {
namespace {

// out[at] = self[from(at)] for every place.
template <class F>
Tensor moved(const Tensor& self, const F& from) {
  const Tensor out = empty(self.sizes(), self.scalar_type(), self.device());
  for_each_place(self.sizes(), [&](const Index& at) {
    copy_element(out, at, self, from(at));
  });
  return out;
}

// Rows and columns are the last two dims.
Tensor triangle(const Tensor& self, int64_t diagonal, bool lower) {
  const Tensor out = empty(self.sizes(), self.scalar_type(), self.device());
  for_each_place(self.sizes(), [&](const Index& at) {
    const int64_t distance = at[at.size() - 1] - at[at.size() - 2];
    if (lower ? distance <= diagonal : distance >= diagonal) {
      copy_element(out, at, self, at);
    } else {
      write<int64_t>(out, at, 0);
    }
  });
  return out;
}

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
        write<T>(out, to, static_cast<const T*>(t.data_ptr())[place(t, at)]);
      });
    });
    before += t.sizes()[d];
  }
  return out;
}

Tensor flip(const Tensor& self, IntArrayRef dims) {
  return moved(self, [&](Index at) {
    for (const int64_t dim : dims) {
      const auto d = static_cast<size_t>(wrapped(dim, self.dim()));
      if (self.dim() > 0) at[d] = self.sizes()[d] - 1 - at[d];
    }
    return at;
  });
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  if (dims.empty()) {
    const int64_t n = self.numel();
    const Tensor flat = self.reshape(-1);
    return moved(flat,
                 [&](const Index& at) {
                   const int64_t from = (at[0] - shifts[0] % n + n) % n;
                   return Index{from};
                 })
        .reshape(self.sizes());
  }
  return moved(self, [&](Index at) {
    for (size_t k = 0; k < dims.size(); ++k) {
      const auto d = static_cast<size_t>(wrapped(dims[k], self.dim()));
      if (self.dim() == 0) continue;
      const int64_t n = self.sizes()[d];
      at[d] = (at[d] - shifts[k] % n + n) % n;
    }
    return at;
  });
}

Tensor tril(const Tensor& self, int64_t diagonal) {
  return triangle(self, diagonal, true);
}

Tensor triu(const Tensor& self, int64_t diagonal) {
  return triangle(self, diagonal, false);
}

}  // namespace reference
