#include "aten/ops/scan.h"

#include <tuple>

#include "aten/engine/dims.h"
#include "aten/engine/widened.h"
#include "aten/operators.h"
#include "aten/ops/factory.h"
#include "aten/ops/reduction.h"
#include "aten/ops/scan_kernels.h"
#include "aten/ops/shape.h"

namespace sy::composite {

namespace {

// The sizes of `t` with one index of a dim.
Tensor one_slice(const Tensor& t, int64_t dim, bool ones) {
  Dims sizes(t.sizes());
  sizes[static_cast<int>(wrap_dim("_linear_scan", dim, t.dim()))] = 1;
  return ones ? sy::ones(sizes, t.options()) : sy::zeros(sizes, t.options());
}

// Each slice moved to the next place of a dim, a constant in the first.
Tensor moved_on(const Tensor& t, int64_t dim, bool ones) {
  return sy::cat({one_slice(t, dim, ones), t.narrow(dim, 0, t.size(dim) - 1)},
                 dim);
}

// s with s_i = b_i + a_(i+1) s_(i+1).
Tensor scan_back(const Tensor& a, const Tensor& b, int64_t dim) {
  return sy::_linear_scan(moved_on(a.flip({dim}), dim, false), b.flip({dim}),
                          dim)
      .flip({dim});
}

bool is_single(const Tensor& t, int64_t dim) {
  return t.dim() == 0 || t.numel() == 0 || t.size(dim) == 1;
}

}  // namespace

// Needs no division, so that it is right where elements are 0, and in every
// derivative: it is the product of what is before an element, times the sum of
// what is behind it, each with the product of what lies between.
Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim,
                        const Tensor& output) {
  if (is_single(input, dim)) return grad;
  return moved_on(output, dim, true) * scan_back(input, grad, dim);
}

Tensor product_of_others(const Tensor& self, std::optional<int64_t> dim) {
  if (!dim.has_value() && self.dim() != 1) {
    return sy::_product_of_others(self.reshape({-1}), 0).reshape(self.sizes());
  }
  const int64_t d = dim.value_or(0);
  if (is_single(self, d)) return sy::ones_like(self);
  // Uses float64: parts of a product may lie further out than all of it.
  const Tensor wide = self.to(kDouble);
  const Tensor before = sy::cumprod(moved_on(wide, d, true), d);
  const Tensor behind =
      sy::cumprod(moved_on(wide.flip({d}), d, true), d).flip({d});
  return (before * behind).to(self.scalar_type());
}

std::tuple<Tensor, Tensor> linear_scan_backward(const Tensor& grad,
                                                const Tensor& a,
                                                const Tensor& result,
                                                int64_t dim) {
  if (is_single(a, dim)) return {sy::zeros_like(a), grad};
  const Tensor by_b = scan_back(a, grad, dim);
  return {by_b * moved_on(result, dim, false), by_b};
}

// For backends that have no kernel of their own: after each step an element
// knows of twice as many before it. Short dtypes are rounded once, as in the
// kernel.
Tensor linear_scan_by_doubling(const Tensor& a, const Tensor& b, int64_t dim) {
  if (is_single(b, dim)) return b.clone();
  const int64_t n = b.size(dim);
  Tensor factor = widened(a), sum = widened(b);
  for (int64_t step = 1; step < n; step *= 2) {
    const auto first = [&](const Tensor& t) { return t.narrow(dim, 0, step); };
    const auto front = [&](const Tensor& t) {
      return t.narrow(dim, 0, n - step);
    };
    const auto rest = [&](const Tensor& t) {
      return t.narrow(dim, step, n - step);
    };
    sum = sy::cat({first(sum), rest(sum) + rest(factor) * front(sum)}, dim);
    factor = sy::cat({first(factor), rest(factor) * front(factor)}, dim);
  }
  return sum.to(b.scalar_type());
}

}  // namespace sy::composite
