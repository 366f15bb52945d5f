#include <algorithm>

#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/ops/factory.h"
#include "aten/ops/storage_kernels.h"

namespace sy::composite {

namespace {

void check_without_gradient(const char* argument, const Tensor& t) {
  SY_CHECK(!t.requires_grad(), Value,
           "[set_] {}: expected a tensor that requires no gradient, got one "
           "that does",
           argument);
}

void check_source(const Tensor& self, const Tensor& source) {
  SY_CHECK(source.dtype() == self.dtype(), Type,
           "[set_] source: expected {}, the dtype of self, got {}",
           self.dtype(), describe(source));
  SY_CHECK(source.device() == self.device(), Value,
           "[set_] source: expected a tensor on {}, got {}", self.device(),
           describe(source));
  check_without_gradient("source", source);
}

Tensor& adopt(Tensor& self, const Tensor& source, IntArrayRef sizes,
              IntArrayRef strides, int64_t offset) {
  check_without_gradient("self", self);
  TensorImpl& t = *self.impl();
  const uint32_t before = t.version();
  const Dims new_sizes(sizes), new_strides(strides);
  static_cast<void>(t.take_view_meta());
  t.set_storage(source.storage());
  t.set_sizes_and_strides(new_sizes, new_strides, offset);
  // A node that saved self for a gradient must see that it is another: versions
  // belong to storages.
  do {
    t.bump_version(nullptr);
  } while (t.version() <= before);
  return self;
}

}  // namespace

Tensor& set_empty_(Tensor& self) {
  const Tensor none = sy::empty({0}, self.options());
  return adopt(self, none, none.sizes(), none.strides(), 0);
}

Tensor& set_to_source_(Tensor& self, const Tensor& source) {
  check_source(self, source);
  return adopt(self, source, source.sizes(), source.strides(),
               source.storage_offset());
}

Tensor& set_to_part_(Tensor& self, const Tensor& source, int64_t storage_offset,
                     IntArrayRef size, IntArrayRef stride) {
  check_source(self, source);
  SY_CHECK(source.is_contiguous(), Value,
           "[set_] source: expected a contiguous tensor, got {}",
           describe(source));
  SY_CHECK(storage_offset >= 0, Value,
           "[set_] storage_offset: expected at least 0, got {}",
           storage_offset);
  SY_CHECK(stride.empty() || stride.size() == size.size(), Value,
           "[set_] stride: expected {} strides for sizes {}, got {}",
           size.size(), size, stride);
  SY_CHECK(size.size() <= TensorImpl::kMaxDims, Value,
           "[set_] size: expected at most {} dims, got {}",
           int{TensorImpl::kMaxDims}, size.size());
  checked_numel("set_", size, self.itemsize());
  Dims strides(stride);
  if (stride.empty()) {
    strides.resize(static_cast<int>(size.size()));
    contiguous_strides(size, strides.data());
  }
  int64_t end = 0, bytes = 0;
  const auto item = static_cast<int64_t>(self.itemsize());
  SY_CHECK(!__builtin_add_overflow(storage_offset, 1, &end) &&
               !__builtin_mul_overflow(end, item, &bytes),
           Value,
           "[set_] storage_offset: expected a place within 2^63 - 1 bytes, got "
           "{}",
           storage_offset);
  bool empty = false, fits = true;
  for (size_t d = 0; d < size.size(); ++d) {
    SY_CHECK(strides[d] >= 0, Value,
             "[set_] stride: expected strides of at least 0, got {}", stride);
    int64_t reach = 0;
    empty = empty || size[d] == 0;
    fits = fits && !__builtin_mul_overflow(size[d] - 1, strides[d], &reach) &&
           !__builtin_add_overflow(end, reach, &end);
  }
  fits = fits && !__builtin_mul_overflow(end, item, &bytes);
  SY_CHECK(empty || fits, Value,
           "[set_] size: expected an end within 2^63 - 1 bytes, got sizes {}, "
           "strides {} and offset {}",
           size, IntArrayRef(strides), storage_offset);
  check_without_gradient("self", self);
  if (!empty && static_cast<size_t>(bytes) > source.storage()->nbytes()) {
    source.storage()->resize(static_cast<size_t>(bytes));
  }
  return adopt(self, source, size, strides, storage_offset);
}

}  // namespace sy::composite
