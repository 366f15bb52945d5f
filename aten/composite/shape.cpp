#include "aten/ops/shape.h"

#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/shape_kernels.h"

namespace sy::composite {

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const Dims sizes = infer_size("reshape", shape, self.numel());
  Dims strides;
  if (view_strides(self.sizes(), self.strides(), sizes, &strides)) {
    return self.view(sizes);
  }
  return sy::_unsafe_view(self.clone(MemoryFormat::Contiguous), sizes);
}

Tensor unsafe_view(const Tensor& self, IntArrayRef size) {
  const Dims sizes = infer_size("_unsafe_view", size, self.numel());
  const Dims strides = geometry::view_strides("_unsafe_view", self.sizes(),
                                              self.strides(), sizes);
  return alias_without_view(self, sizes, strides, self.storage_offset());
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim("flatten", start_dim, self.dim());
  const int64_t end = wrap_dim("flatten", end_dim, self.dim());
  SY_CHECK(start <= end, Value,
           "[flatten] end_dim: expected a dim from {} on, got {}", start,
           end_dim);
  if (self.dim() == 0) return self.reshape({1});
  if (start == end) return self;
  Dims sizes;
  int64_t merged = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < start || d > end) {
      sizes.push_back(self.size(d));
      continue;
    }
    merged *= self.size(d);
    if (d == end) sizes.push_back(merged);
  }
  return self.reshape(sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  SY_CHECK(!sizes.empty(), Value,
           "[unflatten] sizes: expected at least one size, got none");
  const int64_t d = wrap_dim("unflatten", dim, self.dim());
  SY_CHECK(self.dim() > 0, Index,
           "[unflatten] self: expected at least one dim, got none");
  const Dims inner = infer_size("unflatten", sizes, self.size(d));
  Dims out;
  for (int64_t k = 0; k < self.dim(); ++k) {
    if (k != d) {
      out.push_back(self.size(k));
    } else {
      for (const int64_t s : inner) out.push_back(s);
    }
  }
  return self.view(out);
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  SY_CHECK(memory_format != MemoryFormat::Preserve, Value,
           "[contiguous] memory_format: expected a format, got preserve");
  if (self.is_contiguous(memory_format)) return self;
  return self.clone(memory_format);
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Dims strides;
  strides.resize(self.dim());
  dense_strides_like(self, memory_format.value_or(MemoryFormat::Preserve),
                     strides.data());
  Tensor out = sy::empty_strided(self.sizes(), strides, self.options());
  return out.copy_(self);
}

// Each dim becomes two, (1, size), of which the first is expanded; merging the
// two again is the copy.
Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  const int64_t n = geometry::len(repeats), added = n - self.dim();
  SY_CHECK(added >= 0, Value,
           "[repeat] repeats: expected at least {} numbers, got {}", self.dim(),
           repeats);
  SY_CHECK(2 * n <= TensorImpl::kMaxDims, Value,
           "[repeat] repeats: expected at most {} numbers, got {}",
           TensorImpl::kMaxDims / 2, n);
  Dims split, expanded, merged;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t times = repeats[static_cast<size_t>(d)];
    SY_CHECK(times >= 0, Value,
             "[repeat] repeats: expected non-negative numbers, got {}",
             repeats);
    const int64_t size = d < added ? 1 : self.size(d - added);
    split.push_back(1);
    split.push_back(size);
    expanded.push_back(times);
    expanded.push_back(size);
    int64_t product = 0;
    SY_CHECK(!__builtin_mul_overflow(times, size, &product), Value,
             "[repeat] repeats: the result is too large: {}", repeats);
    merged.push_back(product);
  }
  return self.reshape(split)
      .expand(expanded)
      .clone(MemoryFormat::Contiguous)
      .view(merged);
}

namespace {

// How far right of the diagonal each element of a matrix lies.
Tensor distances(const Tensor& self) {
  const TensorOptions longs = self.options().dtype(kLong);
  return sy::arange(self.size(-1), longs) -
         sy::arange(self.size(-2), longs).unsqueeze(1);
}

Tensor kept(const Tensor& self, const Tensor& where) {
  return sy::where(where, self, sy::zeros({}, self.options()));
}

}  // namespace

// For backends that have no kernels of their own.
Tensor tril_by_where(const Tensor& self, int64_t diagonal) {
  return kept(self, distances(self) <= diagonal);
}

Tensor triu_by_where(const Tensor& self, int64_t diagonal) {
  return kept(self, distances(self) >= diagonal);
}

}  // namespace sy::composite
