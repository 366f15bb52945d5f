#include <algorithm>
#include <vector>

#include "aten/engine/dims.h"
#include "aten/operators.h"
#include "aten/ops/calculus.h"
#include "aten/ops/calculus_kernels.h"
#include "aten/ops/comparison.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scan.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/ops/view_alias.h"

namespace sy::composite {

namespace {

// t from `begin` on to `end` (counted from the end if negative) along dim.
Tensor part(const Tensor& t, int64_t dim, int64_t begin, int64_t end) {
  const int64_t n = t.size(dim);
  begin = std::min(begin, n);
  return narrow(t, dim, begin, std::max<int64_t>(0, n + end - begin));
}

Tensor neighbours(const Tensor& y, int64_t dim) {
  return part(y, dim, 0, -1) + part(y, dim, 1, 0);
}

int64_t checked_dim(const char* op, const Tensor& y, int64_t dim) {
  SY_CHECK(y.dim() > 0, Index, "[{}] y: expected at least one dim, got none",
           op);
  return wrap_dim(op, dim, y.dim());
}

// The distances of places x, as they go with the elements of y.
Tensor distances(const char* op, const Tensor& y, const Tensor& x,
                 int64_t dim) {
  SY_CHECK(x.dtype() != kBool && y.dtype() != kBool, Type,
           "[{}] y: expected numbers, got bool", op);
  Tensor at = x;
  if (x.dim() == 1) {
    SY_CHECK(x.size(0) == y.size(dim), Value,
             "[{}] x: expected as many places as y has samples, {}, got {}", op,
             y.size(dim), x.size(0));
    Dims sizes;
    for (int64_t d = 0; d < y.dim(); ++d) {
      sizes.push_back(d == dim ? x.size(0) : 1);
    }
    at = x.reshape(sizes);
  } else if (x.dim() < y.dim()) {
    Dims sizes;
    for (int64_t d = x.dim(); d < y.dim(); ++d) sizes.push_back(1);
    for (const int64_t s : x.sizes()) sizes.push_back(s);
    at = x.reshape(sizes);
  }
  const int64_t along = dim - y.dim();
  SY_CHECK(at.size(along) > 0, Value,
           "[{}] x: expected at least one place, got {}", op, x.sizes());
  return part(at, along, 1, 0) - part(at, along, 0, -1);
}

// Zeros of y's sizes without dim, as there is nothing to integrate.
Tensor nothing(const Tensor& y, int64_t dim) {
  return sum(y, {dim}).to(y.dtype());
}

}  // namespace

Tensor diff(const Tensor& self, int64_t n, int64_t dim,
            const std::optional<Tensor>& prepend,
            const std::optional<Tensor>& append) {
  dim = wrap_dim("diff", dim, self.dim());
  std::vector<Tensor> parts;
  for (const std::optional<Tensor>& t :
       {prepend, std::optional(self), append}) {
    if (!t || !t->defined()) continue;
    SY_CHECK(
        t->dim() == self.dim(), Value,
        "[diff] prepend, append: expected as many dims as self, {}, got {}",
        self.dim(), t->dim());
    parts.push_back(*t);
  }
  if (n == 0) return self.clone();
  Tensor t = parts.size() == 1 ? self : cat(parts, dim);
  const bool is_bool = t.dtype() == kBool;
  for (n = std::min(n, t.size(dim)); n > 0; --n) {
    const Tensor after = part(t, dim, 1, 0), before = part(t, dim, 0, -1);
    t = is_bool ? logical_xor(after, before) : after - before;
  }
  return t.is_same(self) ? t.clone() : t;
}

Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = checked_dim("trapezoid", y, dim);
  if (y.size(dim) == 0) return nothing(y, dim);
  const Tensor dx = distances("trapezoid", y, x, dim);
  return (neighbours(y, dim) * dx).sum({dim}) / 2.0;
}

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = checked_dim("trapezoid", y, dim);
  if (y.size(dim) == 0) return nothing(y, dim);
  SY_CHECK(y.dtype() != kBool, Type,
           "[trapezoid] y: expected numbers, got bool");
  const Tensor ends = y.select(dim, 0) + y.select(dim, -1);
  return (y.sum({dim}) - ends * 0.5) * dx.to_double();
}

Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = checked_dim("cumulative_trapezoid", y, dim);
  const Tensor dx = distances("cumulative_trapezoid", y, x, dim);
  return cumsum(neighbours(y, dim) * dx, dim) / 2.0;
}

Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  dim = checked_dim("cumulative_trapezoid", y, dim);
  SY_CHECK(y.dtype() != kBool, Type,
           "[cumulative_trapezoid] y: expected numbers, got bool");
  return cumsum(neighbours(y, dim) * (dx.to_double() / 2), dim);
}

}  // namespace sy::composite
