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

// As many as there are contributions to each place, at least one.
Tensor counts(const Tensor& grad, int64_t dim, const Tensor& index,
              const Tensor& src, bool include_self) {
  const Tensor start =
      include_self ? sy::ones_like(grad) : sy::zeros_like(grad);
  return start.scatter_add(dim, index, sy::ones_like(src)).clamp_min(1);
}

// A product without one of its factors is the product over that factor, or,
// where it is the only zero, the product with a one in its place.
Tensor product_source_grad(const Tensor& grad, const Tensor& self, int64_t dim,
                           const Tensor& index, const Tensor& src,
                           bool include_self, const Tensor& result) {
  const Tensor zero = src == 0;
  const Tensor zeros = sy::zeros_like(self)
                           .scatter_add(dim, index, zero.to(self.scalar_type()))
                           .gather(dim, index);
  const Tensor alone = sy::logical_and(zero, zeros == 1);
  const Tensor others = sy::scatter_reduce(
      self, dim, index, src.masked_fill(alone, 1), "prod", include_self);
  return sy::where(
      alone, (grad * others).gather(dim, index),
      (grad * result).gather(dim, index) / src.masked_fill(zero, 1));
}

// How scatter_reduce names what scatter names otherwise.
std::string_view reduction_name(std::string_view reduce) {
  if (reduce == "add") return "sum";
  if (reduce == "multiply") return "prod";
  return reduce;
}

}  // namespace

// The formulas are PyTorch's (scatter_reduce_backward).
std::tuple<Tensor, Tensor> scatter_reduce_backward(
    const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
    const Tensor& src, std::string_view reduce, bool include_self,
    const Tensor& result) {
  Tensor self_grad, src_grad;
  if (reduce == "sum") {
    self_grad = grad;
    src_grad = grad.gather(dim, index);
  } else if (reduce == "mean") {
    self_grad = grad / counts(grad, dim, index, src, include_self);
    src_grad = self_grad.gather(dim, index);
  } else if (reduce == "prod") {
    const Tensor factor = self.masked_fill(self == 0, 1);
    const Tensor product =
        sy::scatter_reduce(factor, dim, index, src, reduce, include_self);
    self_grad = grad * product / factor;
    src_grad =
        product_source_grad(grad, self, dim, index, src, include_self, result);
  } else {
    SY_CHECK(reduce == "amax" || reduce == "amin", Value,
             "[scatter_reduce] reduce: expected sum, mean, prod, amax or amin, "
             "got '{}'",
             reduce);
    // Equals share the gradient.
    const Tensor self_hits = (self == result).to(grad.scalar_type());
    const Tensor src_hits =
        (src == result.gather(dim, index)).to(grad.scalar_type());
    const Tensor start = include_self ? self_hits : sy::zeros_like(self_hits);
    const Tensor share =
        grad / start.scatter_add(dim, index, src_hits).clamp_min(1);
    // Where nothing arrives self stays.
    self_grad = include_self ? self_hits * share : grad;
    src_grad = src_hits * share.gather(dim, index);
  }
  if (!include_self) self_grad = sy::scatter(self_grad, dim, index, 0);
  return {self_grad, src_grad};
}

std::tuple<Tensor, Tensor> index_reduce_backward(
    const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
    const Tensor& source, std::string_view reduce, bool include_self,
    const Tensor& result) {
  Dims sizes(source.sizes());
  for (int64_t& s : sizes) s = 1;
  if (!sizes.empty()) {
    sizes[wrap_dim("index_reduce", dim, self.dim())] = index.numel();
  }
  const Tensor all = index.to(kLong).reshape(sizes).expand(source.sizes());
  return scatter_reduce_backward(grad, self, dim, all, source, reduce,
                                 include_self, result);
}

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
