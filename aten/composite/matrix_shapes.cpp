#include "aten/ops/matrix_shapes.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/linalg.h"
#include "aten/ops/matrix_shapes_kernels.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scan.h"
#include "aten/ops/shape.h"
#include "aten/result_type.h"

namespace sy::composite {

namespace {

// 1, x, x^2 … along a new last dim.
Tensor powers(const Tensor& x, int64_t n) {
  const ScalarType dtype = x.is_floating_point() ? x.dtype() : kLong;
  Dims sizes(x.sizes());
  sizes.push_back(n);
  if (n == 0) return empty(sizes, x.options().dtype(dtype));
  const Tensor each = x.to(dtype).unsqueeze(-1);
  if (n == 1) return ones_like(each);
  sizes[x.dim()] = n - 1;
  return cat({ones_like(each), cumprod(each.expand(sizes), -1)}, -1);
}

void check_weights(const char* argument, const Tensor& w, int64_t count,
                   bool whole) {
  SY_CHECK(w.dim() <= 1, Value, "[cov] {}: expected at most one dim, got {}",
           argument, w.dim());
  SY_CHECK(w.is_floating_point() != whole && w.dtype() != kBool, Type,
           "[cov] {}: expected {}, got {}", argument,
           whole ? "integers" : "a floating dtype", w.dtype());
  SY_CHECK(w.numel() == count, Value,
           "[cov] {}: expected one weight for each of {} observations, got {}",
           argument, count, w.numel());
  SY_CHECK(w.device().type() == kMeta || !any(w.lt(Scalar(0))).item<bool>(),
           Value, "[cov] {}: expected no negative weights, got some", argument);
}

}  // namespace

Tensor block_diag(TensorList tensors) {
  int64_t rows = 0, cols = 0;
  ScalarType dtype = tensors.empty() ? kFloat : tensors[0].dtype();
  for (const Tensor& t : tensors) {
    SY_CHECK(t.dim() <= 2, Value,
             "[block_diag] tensors: expected at most two dims, got {}",
             t.dim());
    const bool fits =
        !__builtin_add_overflow(rows, t.dim() == 2 ? t.size(0) : 1, &rows) &&
        !__builtin_add_overflow(cols, t.dim() == 0 ? 1 : t.size(-1), &cols);
    SY_CHECK(fits, Value, "[block_diag] tensors: the result is too large");
    dtype = promote_types(dtype, t.dtype());
  }
  if (tensors.empty()) return empty({1, 0}, TensorOptions());
  const Tensor out = zeros({rows, cols}, tensors[0].options().dtype(dtype));
  int64_t row = 0, col = 0;
  for (const Tensor& t : tensors) {
    const int64_t height = t.dim() == 2 ? t.size(0) : 1;
    const int64_t width = t.dim() == 0 ? 1 : t.size(-1);
    out.narrow(0, row, height).narrow(1, col, width).copy_(t);
    row += height;
    col += width;
  }
  return out;
}

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  const Tensor all = powers(x, N.value_or(x.size(0)));
  return increasing ? all : all.flip({1});
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  const Tensor vectors = x.dim() == 0 ? x.unsqueeze(0) : x;
  return powers(vectors, N.value_or(vectors.size(-1)));
}

Tensor cov(const Tensor& self, int64_t correction,
           const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  SY_CHECK(self.dim() <= 2, Value,
           "[cov] self: expected at most two dims, got {}", self.dim());
  SY_CHECK(self.dtype() != kBool, Type,
           "[cov] self: expected numbers, got bool");
  const Tensor in = self.dim() < 2 ? self.reshape({1, self.numel()}) : self;
  const int64_t count = in.size(1);
  const bool by_count = fweights && fweights->defined();
  const bool by_size = aweights && aweights->defined();
  Tensor w;
  if (by_count) {
    check_weights("fweights", *fweights, count, true);
    w = *fweights;
  }
  if (by_size) {
    check_weights("aweights", *aweights, count, false);
    w = w.defined() ? w * *aweights : *aweights;
  }
  const ScalarType dtype = self.is_floating_point() ? self.dtype() : kFloat;
  const auto number = [&](double v) {
    return full(IntArrayRef(), Scalar(v), in.options().dtype(dtype));
  };
  const Tensor total =
      w.defined() ? w.sum() : number(static_cast<double>(count));
  const Tensor mean = (w.defined() ? in * w : in).sum({1}) / total;
  const auto lost = Scalar(static_cast<double>(correction));
  Tensor freedom = total;
  if (by_size && correction != 0) {
    freedom = total - (w * *aweights).sum() / total * lost;
  } else {
    freedom = total - lost;
  }
  const Tensor centred = in - mean.unsqueeze(1);
  const Tensor weighted = w.defined() ? centred * w : centred;
  return (mm(centred, weighted.to(centred.dtype()).t()) /
          freedom.clamp_min(Scalar(0)))
      .squeeze();
}

}  // namespace sy::composite
