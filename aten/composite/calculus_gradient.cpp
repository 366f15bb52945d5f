#include <vector>

#include "aten/engine/dims.h"
#include "aten/operators.h"
#include "aten/ops/calculus_kernels.h"
#include "aten/ops/shape.h"
#include "aten/ops/view.h"
#include "aten/ops/view_alias.h"

namespace sy::composite {

namespace {

// Second-order differences inside, one-sided ones of edge_order at the ends:
// Fornberg, Generation of Finite Difference Formulas on Arbitrarily Spaced
// Grids, 1988.
class Slope {
 public:
  Slope(const Tensor& f, int64_t dim, int64_t edge_order)
      : f_(f), dim_(dim), n_(f.size(dim)), order_(edge_order) {}

  Tensor at_distance(const Scalar& h) const {
    const double d = h.to_double();
    const Tensor inner = (f(2, n_ - 2) - f(0, n_ - 2)) / (2 * d);
    if (order_ == 1) {
      return cat({(f(1) - f(0)) / d, inner, (f(n_ - 1) - f(n_ - 2)) / d}, dim_);
    }
    const Tensor first = (f(0) * -1.5 + f(1) * 2.0 + f(2) * -0.5) / d;
    const Tensor last =
        (f(n_ - 1) * 1.5 + f(n_ - 2) * -2.0 + f(n_ - 3) * 0.5) / d;
    return cat({first, inner, last}, dim_);
  }

  Tensor at_places(const Tensor& x) const {
    const Tensor h = narrow(x, 0, 1, n_ - 1) - narrow(x, 0, 0, n_ - 1);
    Tensor inner;
    if (n_ > 2) {
      const Tensor a = narrow(h, 0, 0, n_ - 2), b = narrow(h, 0, 1, n_ - 2);
      inner = f(0, n_ - 2) * along(-b / (a * (a + b))) +
              f(1, n_ - 2) * along((b - a) / (a * b)) +
              f(2, n_ - 2) * along(a / (b * (a + b)));
    } else {
      inner = f(0, 0) * along(narrow(h, 0, 0, 0));
    }
    if (order_ == 1) {
      return cat({(f(1) - f(0)) / h.select(0, 0), inner,
                  (f(n_ - 1) - f(n_ - 2)) / h.select(0, n_ - 2)},
                 dim_);
    }
    const Tensor a = h.select(0, 0), b = h.select(0, 1);
    const Tensor first = f(0) * (-(a * 2 + b) / (a * (a + b))) +
                         f(1) * ((a + b) / (a * b)) +
                         f(2) * (-a / (b * (a + b)));
    const Tensor y = h.select(0, n_ - 3), z = h.select(0, n_ - 2);
    const Tensor last = f(n_ - 3) * (z / (y * (y + z))) +
                        f(n_ - 2) * (-(y + z) / (y * z)) +
                        f(n_ - 1) * ((z * 2 + y) / (z * (y + z)));
    return cat({first, inner, last}, dim_);
  }

 private:
  Tensor f(int64_t at, int64_t n = 1) const { return narrow(f_, dim_, at, n); }
  // A vector as it goes along the dim.
  Tensor along(const Tensor& v) const {
    Dims sizes;
    for (int64_t d = 0; d < f_.dim(); ++d) {
      sizes.push_back(d == dim_ ? v.numel() : 1);
    }
    return v.reshape(sizes);
  }
  static Tensor cat(const std::vector<Tensor>& parts, int64_t dim) {
    return sy::cat(parts, dim);
  }

  const Tensor& f_;
  int64_t dim_, n_, order_;
};

Dims checked_dims(const Tensor& self, OptionalIntArrayRef dim,
                  int64_t edge_order) {
  SY_CHECK(self.dtype() != kByte, Type,
           "[gradient] self: expected a dtype other than uint8");
  SY_CHECK(edge_order == 1 || edge_order == 2, Value,
           "[gradient] edge_order: expected 1 or 2, got {}", edge_order);
  Dims dims;
  const int64_t n = dim ? static_cast<int64_t>(dim->size()) : self.dim();
  uint64_t seen = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d =
        dim ? wrap_dim("gradient", (*dim)[static_cast<size_t>(i)], self.dim())
            : i;
    SY_CHECK((seen >> d & 1) == 0, Value,
             "[gradient] dim: expected distinct dims, got {}", *dim);
    seen |= uint64_t{1} << d;
    SY_CHECK(self.dim() > 0 && self.size(d) > edge_order, Value,
             "[gradient] self: expected at least edge_order + 1 = {} samples "
             "along dim {}, got {}",
             edge_order + 1, d, self.sizes());
    dims.push_back(d);
  }
  return dims;
}

void check_count(size_t given, const Dims& dims) {
  SY_CHECK(static_cast<int64_t>(given) == dims.size(), Value,
           "[gradient] spacing: expected one for each of {} dims, got {}",
           dims.size(), given);
}

std::vector<Tensor> by_distance(const Tensor& self, ArrayRef<Scalar> spacing,
                                OptionalIntArrayRef dim, int64_t edge_order) {
  const Dims dims = checked_dims(self, dim, edge_order);
  if (spacing.size() != 1) check_count(spacing.size(), dims);
  std::vector<Tensor> out;
  for (int i = 0; i < dims.size(); ++i) {
    const size_t at = spacing.size() == 1 ? 0 : static_cast<size_t>(i);
    out.push_back(Slope(self, dims[i], edge_order).at_distance(spacing[at]));
  }
  return out;
}

std::vector<Tensor> by_places(const Tensor& self, TensorList spacing,
                              OptionalIntArrayRef dim, int64_t edge_order) {
  const Dims dims = checked_dims(self, dim, edge_order);
  check_count(spacing.size(), dims);
  std::vector<Tensor> out;
  for (int i = 0; i < dims.size(); ++i) {
    const Tensor& x = spacing[static_cast<size_t>(i)];
    SY_CHECK(x.dim() == 1 && x.numel() == self.size(dims[i]), Value,
             "[gradient] spacing: expected a vector of {} places, got sizes {}",
             self.size(dims[i]), x.sizes());
    out.push_back(Slope(self, dims[i], edge_order).at_places(x));
  }
  return out;
}

OptionalIntArrayRef as_list(const std::optional<int64_t>& dim) {
  if (!dim) return std::nullopt;
  return IntArrayRef(&*dim, 1);
}

}  // namespace

std::vector<Tensor> gradient_scalarint(const Tensor& self,
                                       const std::optional<Scalar>& spacing,
                                       std::optional<int64_t> dim,
                                       int64_t edge_order) {
  const Scalar h = spacing.value_or(Scalar(1));
  return by_distance(self, ArrayRef<Scalar>(&h, 1), as_list(dim), edge_order);
}

std::vector<Tensor> gradient_scalararray(const Tensor& self,
                                         const Scalar& spacing, IntArrayRef dim,
                                         int64_t edge_order) {
  return by_distance(self, ArrayRef<Scalar>(&spacing, 1), dim, edge_order);
}

std::vector<Tensor> gradient_scalarrayint(const Tensor& self,
                                          ArrayRef<Scalar> spacing,
                                          std::optional<int64_t> dim,
                                          int64_t edge_order) {
  return by_distance(self, spacing, as_list(dim), edge_order);
}

std::vector<Tensor> gradient_scalarrayarray(const Tensor& self,
                                            ArrayRef<Scalar> spacing,
                                            IntArrayRef dim,
                                            int64_t edge_order) {
  return by_distance(self, spacing, dim, edge_order);
}

std::vector<Tensor> gradient_tensorarrayint(const Tensor& self,
                                            TensorList spacing,
                                            std::optional<int64_t> dim,
                                            int64_t edge_order) {
  return by_places(self, spacing, as_list(dim), edge_order);
}

std::vector<Tensor> gradient_tensorarray(const Tensor& self, TensorList spacing,
                                         IntArrayRef dim, int64_t edge_order) {
  return by_places(self, spacing, dim, edge_order);
}

Tensor not_implemented(const Tensor&, std::string_view argument) {
  fail(ErrorKind::NotImplemented, "{}: the derivative is not implemented",
       argument);
}

}  // namespace sy::composite
