// Views that a `view:` entry cannot say (several results, a loop), and the
// gradients of views.

#include "aten/engine/view.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/widened.h"
#include "aten/ops/factory.h"
#include "aten/ops/view.h"
#include "aten/ops/view_kernels.h"
#include "aten/ops/view_ops.h"

namespace sy::composite {

Tensor detach(const Tensor& self) {
  return alias_without_view(self, self.sizes(), self.strides(),
                            self.storage_offset());
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  SY_CHECK(self.dim() > 0, Value,
           "[unbind] self: expected at least one dim, got none");
  const int64_t d = wrap_dim("unbind", dim, self.dim());
  const Dims sizes = geometry::without("unbind", self.sizes(), d);
  const Dims strides = geometry::without("unbind", self.strides(), d);
  const OperatorEntry& op = ops::unbind_int::entry();
  std::vector<Tensor> out;
  out.reserve(static_cast<size_t>(self.size(d)));
  for (int64_t i = 0; i < self.size(d); ++i) {
    out.push_back(
        make_view_output(self, op, static_cast<int>(i), sizes, strides,
                         self.storage_offset() + i * self.stride(d), &d, 1));
  }
  return out;
}

namespace {

// The pieces of `dim` of these sizes, as outputs of `op` with its arguments.
std::vector<Tensor> pieces(const Tensor& self, const OperatorEntry& op,
                           IntArrayRef piece_sizes, int64_t dim,
                           const int64_t* args, int n) {
  std::vector<Tensor> out;
  out.reserve(piece_sizes.size());
  Dims sizes(self.sizes());
  int64_t at = 0;
  for (const int64_t size : piece_sizes) {
    sizes[dim] = size;
    out.push_back(make_view_output(
        self, op, static_cast<int>(out.size()), sizes, self.strides(),
        self.storage_offset() + at * self.stride(dim), args, n));
    at += size;
  }
  return out;
}

}  // namespace

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  SY_CHECK(self.dim() > 0, Value,
           "[split] self: expected at least one dim, got none");
  const int64_t d = wrap_dim("split", dim, self.dim());
  const int64_t size = self.size(d);
  SY_CHECK(split_size > 0 || (split_size == 0 && size == 0), Value,
           "[split] split_size: expected a positive number, got {}",
           split_size);
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < size; at += split_size) {
    sizes.push_back(std::min(split_size, size - at));
  }
  if (sizes.empty()) sizes.push_back(0);
  const int64_t args[] = {split_size, d};
  return pieces(self, ops::split_Tensor::entry(), sizes, d, args, 2);
}

std::vector<Tensor> split_with_sizes(const Tensor& self,
                                     IntArrayRef split_sizes, int64_t dim) {
  SY_CHECK(self.dim() > 0, Value,
           "[split_with_sizes] self: expected at least one dim, got none");
  const int64_t d = wrap_dim("split_with_sizes", dim, self.dim());
  int64_t left = self.size(d);
  bool fits = true;
  for (const int64_t s : split_sizes) {
    fits = fits && s >= 0 && s <= left;
    if (fits) left -= s;
  }
  SY_CHECK(fits && left == 0, Value,
           "[split_with_sizes] split_sizes: expected non-negative numbers that "
           "sum to {}, got {}",
           self.size(d), split_sizes);
  // Each piece is remembered as a slice: with all sizes, n pieces would take
  // the memory of n * n numbers.
  std::vector<Tensor> out;
  out.reserve(split_sizes.size());
  Dims sizes(self.sizes());
  int64_t at = 0;
  for (const int64_t size : split_sizes) {
    sizes[d] = size;
    const int64_t args[] = {d, at, at + size, 1};
    out.push_back(make_view_output(
        self, ops::slice_Tensor::entry(), 0, sizes, self.strides(),
        self.storage_offset() + at * self.stride(d), args, 4));
    at += size;
  }
  return out;
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  SY_CHECK(self.dim() > 0, Value,
           "[chunk] self: expected at least one dim, got none");
  SY_CHECK(chunks > 0, Value,
           "[chunk] chunks: expected a positive number, got {}", chunks);
  const int64_t size = self.size(dim);
  if (size == 0) {  // as many empty pieces as asked for
    constexpr int64_t kMost = int64_t{1} << 20;
    SY_CHECK(
        chunks <= kMost, Value,
        "[chunk] chunks: expected at most {} of a dim without elements, got {}",
        kMost, chunks);
    const std::vector<int64_t> zeros(static_cast<size_t>(chunks), 0);
    return self.split_with_sizes(zeros, dim);
  }
  return self.split(size / chunks + (size % chunks != 0), dim);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  SY_CHECK(self.dim() > 0, Value,
           "[narrow] self: expected at least one dim, got none");
  SY_CHECK(length >= 0, Value,
           "[narrow] length: expected a non-negative number, got {}", length);
  const int64_t size = self.size(dim);
  SY_CHECK(start >= -size && start <= size, Index,
           "[narrow] start: expected a value in [{}, {}], got {}", -size, size,
           start);
  if (start < 0) start += size;
  SY_CHECK(start <= size - length, Value,
           "[narrow] length: expected at most {} from {} on, got {}",
           size - start, start, length);
  return self.slice(dim, start, start + length, 1);
}

Tensor movedim(const Tensor& self, IntArrayRef source,
               IntArrayRef destination) {
  SY_CHECK(source.size() == destination.size(), Value,
           "[movedim] destination: expected {} dims, got {}", source.size(),
           destination);
  const Dims from = geometry::wrap_dims("movedim", source, self.dim());
  const Dims to = geometry::wrap_dims("movedim", destination, self.dim());
  Dims order = geometry::fill(self.dim(), -1);
  for (int64_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (geometry::contains(from, next)) ++next;
    d = next++;
  }
  return self.permute(order);
}

Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes,
                       int64_t dim, int64_t index) {
  Tensor out = sy::zeros(input_sizes, grad_output.options());
  out.select(dim, index).copy_(grad_output);
  return out;
}

Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes,
                      int64_t dim, int64_t start, int64_t end, int64_t step) {
  Tensor out = sy::zeros(input_sizes, grad_output.options());
  out.slice(dim, start, end, step).copy_(grad_output);
  return out;
}

Tensor diagonal_backward(const Tensor& grad_output, IntArrayRef input_sizes,
                         int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor out = sy::zeros(input_sizes, grad_output.options());
  out.diagonal(offset, dim1, dim2).copy_(grad_output);
  return out;
}

// Windows overlap, so their elements are added one place at a time.
Tensor unfold_backward(const Tensor& grad_in, IntArrayRef input_sizes,
                       int64_t dim, int64_t size, int64_t step) {
  const Tensor wide = widened(grad_in);
  Tensor out = sy::zeros(input_sizes, wide.options());
  if (input_sizes.empty()) {
    if (size > 0) out.add_(wide.select(-1, 0));
    return out.to(grad_in.scalar_type());
  }
  const Dims expected =
      geometry::unfold_sizes("unfold_backward", input_sizes, dim, size, step);
  SY_CHECK(grad_in.sizes() == expected, Value,
           "[unfold_backward] grad_in: expected sizes {}, got {}", expected,
           describe(grad_in));
  const int64_t windows = grad_in.size(
      wrap_dim("unfold_backward", dim, geometry::len(input_sizes)));
  for (int64_t j = 0; windows > 0 && j < size; ++j) {
    out.slice(dim, j, j + (windows - 1) * step + 1, step)
        .add_(wide.select(-1, j));
  }
  return out.to(grad_in.scalar_type());
}

Tensor restore_dims(const Tensor& self, int64_t ndim, OptionalIntArrayRef dim,
                    bool keepdim) {
  if (keepdim || self.dim() == ndim) return self;
  const Dims reduced =
      geometry::wrap_dims("_restore_dims", dim.value_or(IntArrayRef()), ndim);
  Dims sizes;
  int64_t kept = 0;
  for (int64_t d = 0; d < ndim; ++d) {
    const bool one = reduced.empty() || geometry::contains(reduced, d);
    sizes.push_back(one ? 1 : self.size(kept++));
  }
  return sy::view(self, sizes);
}

}  // namespace sy::composite
