#include "aten/ops/scatter.h"

#include "aten/composite/indexing.h"
#include "aten/engine/dims.h"
#include "aten/engine/guard.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/scatter_kernels.h"
#include "aten/ops/scatter_ops.h"

namespace sy::composite {

namespace {

// Writes src to a part of a fresh tensor.
void write(const char* op, const Tensor& part, const Tensor& src) {
  SY_CHECK(part.sizes() == src.sizes(), Value,
           "[{}] src: expected the sizes of what is replaced, {}, got {}", op,
           part.sizes(), src.sizes());
  part.copy_(src);
}

// How scatter_reduce names what scatter names otherwise.
std::string_view reduction_name(std::string_view reduce) {
  if (reduce == "add") return "sum";
  if (reduce == "multiply") return "prod";
  return reduce;
}

}  // namespace

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                      int64_t index) {
  const Tensor out = self.clone();
  write("select_scatter", out.select(dim, index), src);
  return out;
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim,
                     std::optional<int64_t> start, std::optional<int64_t> end,
                     int64_t step) {
  const Tensor out = self.clone();
  write("slice_scatter", out.slice(dim, start, end, step), src);
  return out;
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset,
                        int64_t dim1, int64_t dim2) {
  const Tensor out = self.clone();
  write("diagonal_scatter", out.diagonal(offset, dim1, dim2), src);
  return out;
}

// The whole storage is copied, since the view may show any of it.
Tensor as_strided_scatter(const Tensor& self, const Tensor& src,
                          IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) {
  const auto n = static_cast<int64_t>(self.storage()->nbytes() /
                                      static_cast<size_t>(self.itemsize()));
  const Tensor all = self.as_strided({n}, {1}, 0).clone();
  const Tensor out =
      all.as_strided(self.sizes(), self.strides(), self.storage_offset());
  write("as_strided_scatter",
        out.as_strided(size, stride,
                       storage_offset.value_or(self.storage_offset())),
        src);
  return out;
}

namespace {

void fill_diagonal(const Tensor& self, const Scalar& fill_value, bool wrap) {
  SY_CHECK(self.dim() >= 2, Value,
           "[fill_diagonal_] self: expected at least 2 dims, got {}",
           describe(self));
  int64_t step = 0, length = self.size(0);
  for (int64_t d = 0; d < self.dim(); ++d) {
    SY_CHECK(self.dim() == 2 || self.size(d) == self.size(0), Value,
             "[fill_diagonal_] self: expected dims of one size, got {}",
             self.sizes());
    step += self.stride(d);
    length = std::min(length, self.size(d));
  }
  const int64_t height = self.size(0), offset = self.storage_offset();
  const int64_t block = self.size(1) + 1;  // rows; the last is left out
  if (!wrap || self.dim() > 2 || height <= block) {
    self.as_strided({length}, {step}, offset).fill_(fill_value);
    return;
  }
  const int64_t blocks = height / block;
  const int64_t row = self.stride(0);
  self.as_strided({blocks, length}, {block * row, step}, offset)
      .fill_(fill_value);
  const int64_t rest = std::min(height - blocks * block, length);
  if (rest > 0) {
    self.as_strided({rest}, {step}, offset + blocks * block * row)
        .fill_(fill_value);
  }
}

}  // namespace

Tensor& fill_diagonal_(Tensor& self, const Scalar& fill_value, bool wrap) {
  fill_diagonal(self, fill_value, wrap);
  name_writer(self, &ops::fill_diagonal_::entry());
  return self;
}

// For backends that have no kernels of their own.
Tensor index_copy_by_scatter(const Tensor& self, int64_t dim,
                             const Tensor& index, const Tensor& source) {
  const Tensor x = with_dims(self), from = with_dims(source);
  return sy::scatter(x, dim,
                     indices_along("index_copy", index, dim, from.sizes()),
                     from)
      .reshape(self.sizes());
}

Tensor index_fill_by_scatter(const Tensor& self, int64_t dim,
                             const Tensor& index, const Scalar& value) {
  return sy::index_fill(self, dim, index, sy::full({}, value, self.options()));
}

Tensor index_fill_tensor_by_scatter(const Tensor& self, int64_t dim,
                                    const Tensor& index, const Tensor& value) {
  const Tensor x = with_dims(self);
  Dims sizes(x.sizes());
  sizes[static_cast<int>(wrap_dim("index_fill", dim, x.dim()))] = index.numel();
  const Tensor at =
      indices_along("index_fill", from_start(index, x.size(dim)), dim, sizes);
  const Tensor filler = value.to(self.options()).expand(IntArrayRef(sizes));
  return sy::scatter(x, dim, at, filler).reshape(self.sizes());
}

Tensor index_reduce_by_scatter(const Tensor& self, int64_t dim,
                               const Tensor& index, const Tensor& source,
                               std::string_view reduce, bool include_self) {
  const Tensor x = with_dims(self), from = with_dims(source);
  return sy::scatter_reduce(
             x, dim, indices_along("index_reduce", index, dim, from.sizes()),
             from, reduce, include_self)
      .reshape(self.sizes());
}

Tensor scatter_value_by_scatter(const Tensor& self, int64_t dim,
                                const Tensor& index, const Scalar& value) {
  return sy::scatter(self, dim, index,
                     sy::full({}, value, self.options()).expand(index.sizes()));
}

Tensor scatter_by_reduce(const Tensor& self, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduce) {
  return sy::scatter_reduce(self, dim, index, src, reduction_name(reduce),
                            true);
}

Tensor scatter_value_by_reduce(const Tensor& self, int64_t dim,
                               const Tensor& index, const Scalar& value,
                               std::string_view reduce) {
  return sy::scatter_reduce(
      self, dim, index,
      sy::full({}, value, self.options()).expand(index.sizes()),
      reduction_name(reduce), true);
}

}  // namespace sy::composite
