// The derivatives of scatter_reduce and index_reduce.

#include <algorithm>
#include <tuple>
#include <vector>

#include "aten/composite/indexing.h"
#include "aten/engine/dims.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/comparison.h"
#include "aten/ops/factory.h"
#include "aten/ops/padding.h"
#include "aten/ops/scan.h"
#include "aten/ops/scatter.h"
#include "aten/ops/scatter_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/sort.h"
#include "c10/dispatch/thread_state.h"

namespace sy::composite {

Tensor with_zeros_behind(const Tensor& self, IntArrayRef sizes) {
  if (self.sizes() == sizes) return self;
  if (self.numel() == 0) return sy::zeros(sizes, self.options());
  // A tensor without dims is as one of one element.
  if (self.dim() != static_cast<int64_t>(sizes.size())) {
    return self.reshape(sizes);
  }
  std::vector<int64_t> pad;
  for (int64_t d = self.dim(); d-- > 0;) {
    pad.push_back(0);
    pad.push_back(sizes[static_cast<size_t>(d)] - self.size(d));
  }
  return sy::constant_pad_nd(self, pad, Scalar(0));
}

namespace {

// The part of a source that goes anywhere: as much as there are indices.
Tensor used_part(const Tensor& src, const Tensor& index) {
  if (src.dim() != index.dim()) return src.reshape(index.sizes());
  Tensor part = src;
  for (int64_t d = 0; d < src.dim(); ++d) {
    if (part.size(d) != index.size(d)) part = part.narrow(d, 0, index.size(d));
  }
  return part;
}

// The number of contributions to each place, at least one.
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

struct Gradients {
  Tensor self, src;
};

Gradients product_grads(const Tensor& grad, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& src,
                        bool include_self, const Tensor& result) {
  const Tensor factor = self.masked_fill(self == 0, 1);
  const Tensor product =
      sy::scatter_reduce(factor, dim, index, src, "prod", include_self);
  return {
      grad * product / factor,
      product_source_grad(grad, self, dim, index, src, include_self, result)};
}

// The place in self, in row-major order, of each element of the source.
Tensor places_of(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor at = sy::zeros({}, index.options().dtype(kLong));
  int64_t step = 1;
  for (int64_t d = self.dim(); d-- > 0; step *= self.size(d)) {
    Dims sizes(index.sizes());
    for (int64_t k = 0; k < index.dim(); ++k) sizes[k] = k == d ? sizes[k] : 1;
    at = at + (d == dim ? index.to(kLong)
                        : sy::arange(index.size(d), at.options())
                              .reshape(IntArrayRef(sizes))) *
                  step;
  }
  return at.expand(index.sizes()).reshape({-1});
}

// The product, for each factor, of those before it that go to the same place.
// `fresh` says where a place begins.
Tensor products_before(const Tensor& factors, const Tensor& fresh) {
  const Tensor before = sy::cat({sy::ones({1}, factors.options()),
                                 factors.narrow(0, 0, factors.size(0) - 1)},
                                0);
  return sy::_linear_scan(before.masked_fill(fresh, 0),
                          fresh.to(factors.scalar_type()), 0);
}

// The same without a division: right in every derivative where factors are 0.
// Factors that go to one place lie together, once they are sorted.
Gradients product_grads_by_sorting(const Tensor& grad, const Tensor& self,
                                   int64_t dim, const Tensor& index,
                                   const Tensor& src, bool include_self) {
  Tensor places = places_of(self, dim, index);
  Tensor factors = src.reshape({-1});
  const int64_t sources = factors.numel();
  if (include_self) {
    places = sy::cat({places, sy::arange(self.numel(), places.options())}, 0);
    factors = sy::cat({factors, self.reshape({-1})}, 0);
  }
  const auto [sorted, order] = sy::sort(places, /*stable=*/true, 0, false);
  const Tensor x = factors.gather(0, order);
  const Tensor changes = sorted.narrow(0, 1, sorted.numel() - 1)
                             .ne(sorted.narrow(0, 0, sorted.numel() - 1));
  const Tensor end = sy::ones({1}, changes.options());
  const Tensor before = products_before(x, sy::cat({end, changes}, 0));
  const Tensor behind =
      products_before(x.flip({0}), sy::cat({changes, end}, 0).flip({0}))
          .flip({0});
  const Tensor others = (before * behind).gather(0, sy::argsort(order));
  const Tensor all = grad.reshape({-1}).gather(0, places) * others;
  const Tensor own = include_self ? all.narrow(0, sources, self.numel())
                                  : sy::zeros({self.numel()}, grad.options());
  // Elements of self stay where nothing arrives.
  return {include_self ? own.reshape(self.sizes()) : grad,
          all.narrow(0, 0, sources).reshape(src.sizes())};
}

bool recorded(const Tensor& t) { return t.defined() && t.requires_grad(); }

}  // namespace

// The formulas are PyTorch's (scatter_reduce_backward), but for products.
std::tuple<Tensor, Tensor> scatter_reduce_backward(
    const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
    const Tensor& given_src, std::string_view reduce, bool include_self,
    const Tensor& result) {
  if (index.numel() == 0) return {grad, sy::zeros_like(given_src)};
  const Tensor src = used_part(given_src, index);
  Tensor self_grad, src_grad;
  if (reduce == "sum") {
    self_grad = grad;
    src_grad = grad.gather(dim, index);
  } else if (reduce == "mean") {
    self_grad = grad / counts(grad, dim, index, src, include_self);
    src_grad = self_grad.gather(dim, index);
  } else if (reduce == "prod") {
    const bool again = GradMode::is_enabled() &&
                       (recorded(grad) || recorded(self) || recorded(src));
    const Gradients g =
        again
            ? product_grads_by_sorting(
                  grad, self, wrap_dim("scatter_reduce", dim, self.dim()),
                  index, src, include_self)
            : product_grads(grad, self, dim, index, src, include_self, result);
    self_grad = g.self;
    src_grad = g.src;
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
    // Elements of self stay where nothing arrives.
    self_grad = include_self ? self_hits * share : grad;
    src_grad = src_hits * share.gather(dim, index);
  }
  if (!include_self) self_grad = sy::scatter(self_grad, dim, index, 0);
  return {self_grad, with_zeros_behind(src_grad, given_src.sizes())};
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

}  // namespace sy::composite
