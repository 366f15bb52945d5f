#include <algorithm>

#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/indexing.h"
#include "aten/ops/padding.h"
#include "aten/ops/padding_kernels.h"
#include "aten/ops/shape.h"
#include "aten/tensor_new.h"

namespace sy::composite {

namespace {

// `size` with both amounts, which may be negative.
int64_t padded_size(const char* op, int64_t size, int64_t before,
                    int64_t after) {
  SY_CHECK(size + before + after >= 0, Value,
           "[{}] pad: expected sizes of at least 0, got {} with {} and {}", op,
           size, before, after);
  return size + before + after;
}

void check_amounts(const char* op, const Tensor& self, IntArrayRef pad) {
  SY_CHECK(pad.size() % 2 == 0, Value,
           "[{}] pad: expected two amounts for each dim, got {}", op, pad);
  SY_CHECK(static_cast<int64_t>(pad.size()) <= 2 * self.dim(), Value,
           "[{}] pad: expected at most {} amounts for {}, got {}", op,
           2 * self.dim(), self.sizes(), pad);
  constexpr int64_t kMost = int64_t{1} << 40;
  for (const int64_t p : pad) {
    SY_CHECK(p >= -kMost && p <= kMost, Value,
             "[{}] pad: expected amounts of at most 2^40, got {}", op, pad);
  }
}

// `size` indices of dim d from `start` on, for a kernel's own use.
Tensor part(const Tensor& t, int64_t d, int64_t start, int64_t size) {
  Dims sizes(t.sizes());
  sizes[d] = size;
  return alias_without_view(t, sizes, t.strides(),
                            t.storage_offset() + start * t.stride(d));
}

}  // namespace

// The border is filled dim by dim, so that nothing is written twice.
Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad,
                       const Scalar& value) {
  check_amounts("constant_pad_nd", self, pad);
  const auto n = static_cast<int64_t>(pad.size() / 2);
  Dims sizes(self.sizes());
  Tensor source = self;
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(2 * i);
    const int64_t d = self.dim() - 1 - i, size = self.size(d);
    sizes[d] = padded_size("constant_pad_nd", size, pad[k], pad[k + 1]);
    const int64_t first = std::max<int64_t>(0, -pad[k]);
    const int64_t last = size - std::max<int64_t>(0, -pad[k + 1]);
    SY_CHECK(first <= last, Value,
             "[constant_pad_nd] pad: expected to cut off at most {} indices of "
             "dim {}, got {} and {}",
             size, d, pad[k], pad[k + 1]);
    source = part(source, d, first, last - first);
  }
  Tensor out = sy::empty(sizes, self.options(), self.suggest_memory_format());
  Tensor rest = out;
  for (int64_t i = n; i-- > 0;) {
    const auto k = static_cast<size_t>(2 * i);
    const int64_t d = self.dim() - 1 - i;
    const int64_t before = std::max<int64_t>(0, pad[k]);
    const int64_t after = std::max<int64_t>(0, pad[k + 1]);
    const int64_t size = rest.size(d);
    if (before > 0) part(rest, d, 0, before).fill_(value);
    if (after > 0) part(rest, d, size - after, after).fill_(value);
    rest = part(rest, d, before, size - before - after);
  }
  rest.copy_(source);
  return out;
}

Tensor pad_circular(const Tensor& self, IntArrayRef pad) {
  check_amounts("_pad_circular", self, pad);
  const auto n = static_cast<int64_t>(pad.size() / 2);
  SY_CHECK(self.dim() == n + 1 || self.dim() == n + 2, Value,
           "[_pad_circular] pad: expected amounts for all but one or two of {} "
           "dims, got {}",
           self.dim(), pad);
  Tensor out = self;
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(2 * i);
    const int64_t d = self.dim() - 1 - i, size = self.size(d);
    const int64_t before = pad[k], after = pad[k + 1];
    padded_size("_pad_circular", size, before, after);
    const int64_t first = std::max<int64_t>(0, -before);
    const int64_t last = size - std::max<int64_t>(0, -after);
    SY_CHECK(first <= last && before <= last - first && after <= last - first,
             Value,
             "[_pad_circular] pad: expected amounts of at most {} for dim {}, "
             "got {} and {}",
             size, d, before, after);
    const Tensor middle = out.slice(d, first, last);
    std::vector<Tensor> parts;
    if (before > 0) parts.push_back(out.slice(d, last - before, last));
    parts.push_back(middle);
    if (after > 0) parts.push_back(out.slice(d, first, first + after));
    out = parts.size() == 1 ? middle : sy::cat(parts, d);
  }
  return out.is_alias_of(self) ? out.clone(MemoryFormat::Contiguous) : out;
}

Tensor pad_enum(const Tensor& self, IntArrayRef pad, int64_t mode,
                std::optional<double> value) {
  check_amounts("pad", self, pad);
  SY_CHECK(mode >= 0 && mode <= 3, Value,
           "[_pad_enum] mode: expected a value in [0, 3], got {}", mode);
  if (mode == 3) return sy::constant_pad_nd(self, pad, value.value_or(0));
  SY_CHECK(value.value_or(0) == 0, Value,
           "[pad] value: expected none unless mode is constant, got {}",
           *value);
  const auto n = static_cast<int64_t>(pad.size() / 2);
  SY_CHECK(n >= 1 && n <= 3 && (self.dim() == n + 1 || self.dim() == n + 2),
           Value,
           "[pad] pad: expected amounts for all but one or two of the dims of "
           "self and for at most 3, got {} for {}",
           pad, self.sizes());
  if (mode == 2) return sy::_pad_circular(self, pad);
  switch (2 * n + mode) {
    case 2: return sy::reflection_pad1d(self, pad);
    case 3: return sy::replication_pad1d(self, pad);
    case 4: return sy::reflection_pad2d(self, pad);
    case 5: return sy::replication_pad2d(self, pad);
    case 6: return sy::reflection_pad3d(self, pad);
    default: return sy::replication_pad3d(self, pad);
  }
}

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode,
           std::optional<double> value) {
  constexpr std::string_view kModes[] = {"reflect", "replicate", "circular",
                                         "constant"};
  const auto* const at = std::find(std::begin(kModes), std::end(kModes), mode);
  SY_CHECK(
      at != std::end(kModes), Value,
      "[pad] mode: expected constant, reflect, replicate or circular, got '{}'",
      mode);
  return pad_enum(self, pad, at - kModes, value);
}

namespace {

// Borders that show elements of the tensor itself, made of index_select and
// index_add: for backends that have no kernels of their own for them.

using ElementAt = int64_t (*)(int64_t x, int64_t size);

// The element that place x shows, from before the start of a dim to beyond its
// end.
int64_t reflected(int64_t x, int64_t size) {
  const int64_t at = x < 0 ? -x : x < size ? x : 2 * (size - 1) - x;
  return std::clamp<int64_t>(at, 0, size - 1);
}

int64_t replicated(int64_t x, int64_t size) {
  return std::clamp<int64_t>(x, 0, size - 1);
}

Tensor shown(ElementAt element_at, int64_t size, int64_t before, int64_t after,
             Device device) {
  std::vector<int64_t> from;
  for (int64_t j = 0; j < size + before + after; ++j) {
    from.push_back(element_at(j - before, size));
  }
  return sy::tensor(from, kLong).to(device);
}

// padding: of the last dim first.
Tensor pad(ElementAt element_at, const Tensor& self, IntArrayRef padding) {
  Tensor out = self;
  for (size_t i = 0; i < padding.size(); i += 2) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i / 2);
    out = sy::index_select(out, dim,
                           shown(element_at, self.size(dim), padding[i],
                                 padding[i + 1], self.device()));
  }
  return out;
}

Tensor pad_backward(ElementAt element_at, const Tensor& grad_output,
                    const Tensor& self, IntArrayRef padding) {
  const ScalarType dtype = grad_output.scalar_type();
  Tensor grad = widened(grad_output);
  for (size_t i = 0; i < padding.size(); i += 2) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i / 2);
    std::vector<int64_t> sizes = grad.sizes().vec();
    sizes[static_cast<size_t>(dim)] = self.size(dim);
    grad = sy::index_add(sy::zeros(sizes, grad.options()), dim,
                         shown(element_at, self.size(dim), padding[i],
                               padding[i + 1], self.device()),
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
