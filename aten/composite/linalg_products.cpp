#include <vector>

#include "aten/composite/linalg_products_contraction.h"
#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/engine/operator_steps.h"
#include "aten/operators.h"
#include "aten/ops/linalg.h"
#include "aten/ops/linalg_products.h"
#include "aten/ops/linalg_products_kernels.h"
#include "aten/ops/reduction.h"

namespace sy::composite {

namespace {

// The dims of t that are not chosen, then the chosen ones; or the other way
// round.
Dims order_of(const Tensor& t, const Dims& chosen, bool first) {
  Dims order;
  if (first) order = chosen;
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (!geometry::contains(chosen, d)) order.push_back(d);
  }
  if (!first) {
    for (const int64_t d : chosen) order.push_back(d);
  }
  return order;
}

void check_distinct(const Dims& dims, const char* argument) {
  uint64_t seen = 0;
  for (const int64_t d : dims) {
    SY_CHECK((seen >> d & 1) == 0, Value,
             "[tensordot] {}: expected distinct dims, got {}", argument,
             IntArrayRef(dims));
    seen |= uint64_t{1} << d;
  }
}

// The product of matrices i … j by the fewest multiplications.
class Chain {
 public:
  explicit Chain(const std::vector<Tensor>& matrices) : m_(matrices) {
    const size_t n = m_.size();
    best_.assign(n * n, 0);
    split_.assign(n * n, 0);
    for (size_t length = 1; length < n; ++length) {
      for (size_t i = 0; i + length < n; ++i) choose(i, i + length);
    }
  }

  Tensor product(size_t i, size_t j) const {
    if (i == j) return m_[i];
    const size_t k = split_[i * m_.size() + j];
    return mm(product(i, k), product(k + 1, j));
  }

 private:
  void choose(size_t i, size_t j) {
    const size_t n = m_.size();
    double& best = best_[i * n + j];
    for (size_t k = i; k < j; ++k) {
      const double cost = best_[i * n + k] + best_[(k + 1) * n + j] +
                          side(m_[i], 0) * side(m_[k], 1) * side(m_[j], 1);
      if (k > i && cost >= best) continue;
      best = cost;
      split_[i * n + j] = k;
    }
  }
  static double side(const Tensor& t, int64_t d) {
    return static_cast<double>(t.size(d));
  }

  const std::vector<Tensor>& m_;
  std::vector<double> best_;
  std::vector<size_t> split_;
};

Tensor expanded(Tensor t, IntArrayRef expand, int64_t total) {
  const Dims ones = geometry::wrap_dims("_trilinear", expand, total);
  for (int64_t d = 0; d < total; ++d) {
    if (geometry::contains(ones, d)) t = t.unsqueeze(d);
  }
  SY_CHECK(t.dim() == total, Value,
           "[_trilinear] expand: expected {} distinct dims, got {}",
           total - t.dim() + ones.size(), expand);
  return t;
}

Tensor rows_of(const Tensor& t) {
  return t.reshape(
      {t.dim() == 1 ? 1 : geometry::prod(geometry::slice(t.sizes(), 0, -1)),
       t.size(-1)});
}

}  // namespace

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta, const Scalar& alpha) {
  const int64_t b = batch1.size(0), k = batch1.size(2);
  // One product of matrices, the batch being a part of what is summed.
  const Tensor wide = batch1.transpose(0, 1).reshape({batch1.size(1), b * k});
  SY_CHECK(
      wide.numel() > 0 || self.is_floating_point() || !beta.is_floating_point(),
      Type,
      "[addbmm] beta: expected an integer to go with {}, got a floating number",
      self.dtype());
  return addmm(self, wide, batch2.reshape({b * k, batch2.size(2)}), beta,
               alpha);
}

Tensor& addbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2,
                const Scalar& beta, const Scalar& alpha) {
  using generated::before_write_of;
  const Tensor before = generated::before_write(self, batch1, batch2);
  const Tensor result =
      sy::addbmm(before, before_write_of(batch1, self, before),
                 before_write_of(batch2, self, before), beta, alpha);
  if (self.sizes() != result.sizes()) self.resize_(result.sizes());
  return self.copy_(result);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t n = std::max(self.dim(), other.dim());
  Dims a, b, sizes;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t i = d - n + self.dim(), j = d - n + other.dim();
    a.push_back(i < 0 ? 1 : self.size(i));
    a.push_back(1);
    b.push_back(1);
    b.push_back(j < 0 ? 1 : other.size(j));
    int64_t size = 0;
    SY_CHECK(!__builtin_mul_overflow(a[2 * d], b[2 * d + 1], &size), Value,
             "[kron] other: the result is too large");
    sizes.push_back(size);
  }
  return (self.reshape(a) * other.reshape(b)).reshape(sizes);
}

Tensor linalg_multi_dot(TensorList tensors) {
  const char* op = "linalg_multi_dot";
  const size_t n = tensors.size();
  SY_CHECK(n >= 2, Value, "[{}] tensors: expected at least two, got {}", op, n);
  std::vector<Tensor> all(tensors.begin(), tensors.end());
  for (size_t i = 0; i < n; ++i) {
    const bool end = i == 0 || i == n - 1;
    SY_CHECK(all[i].dim() == 2 || (end && all[i].dim() == 1), Value,
             "[{}] tensors: expected {} in place {}, got {} dims", op,
             end ? "a vector or a matrix" : "a matrix", static_cast<int64_t>(i),
             all[i].dim());
    SY_CHECK(all[i].dtype() == all[0].dtype(), Type,
             "[{}] tensors: expected one dtype, got {} and {}", op,
             all[0].dtype(), all[i].dtype());
  }
  const bool row = all[0].dim() == 1, column = all[n - 1].dim() == 1;
  if (row) all[0] = all[0].unsqueeze(0);
  if (column) all[n - 1] = all[n - 1].unsqueeze(1);
  for (size_t i = 0; i + 1 < n; ++i) {
    SY_CHECK(all[i].size(1) == all[i + 1].size(0), Value,
             "[{}] tensors: expected sizes that multiply, got {} and {}", op,
             all[i].sizes(), all[i + 1].sizes());
  }
  Tensor product = Chain(all).product(0, n - 1);
  if (column) product = product.squeeze(1);
  return row ? product.squeeze(0) : product;
}

Tensor chain_matmul(TensorList matrices) {
  for (const Tensor& t : matrices) {
    SY_CHECK(t.dim() == 2, Value,
             "[chain_matmul] matrices: expected matrices, got {} dims",
             t.dim());
  }
  SY_CHECK(!matrices.empty(), Value,
           "[chain_matmul] matrices: expected at least one, got none");
  return matrices.size() == 1 ? matrices[0].clone()
                              : sy::linalg_multi_dot(matrices);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other) {
  const char* op = "tensordot";
  SY_CHECK(dims_self.size() == dims_other.size(), Value,
           "[{}] dims_other: expected as many dims as of self, {}, got {}", op,
           dims_self.size(), dims_other.size());
  SY_CHECK(self.dtype() == other.dtype(), Type,
           "[{}] other: expected the dtype of self, {}, got {}", op,
           self.dtype(), other.dtype());
  const Dims a = geometry::wrap_dims(op, dims_self, self.dim());
  const Dims b = geometry::wrap_dims(op, dims_other, other.dim());
  SY_CHECK((self.dim() > 0 && other.dim() > 0) || a.empty(), Index,
           "[{}] dims_self: expected tensors with dims to sum over, got none",
           op);
  check_distinct(a, "dims_self");
  check_distinct(b, "dims_other");
  // A dim of size 1 in one of them is summed in the other.
  Tensor x = self, y = other;
  int64_t inner = 1;
  for (int i = 0; i < a.size(); ++i) {
    const int64_t m = x.size(a[i]), n = y.size(b[i]);
    SY_CHECK(m == n || m == 1 || n == 1, Value,
             "[{}] other: expected size {} along dim {}, got {}", op, m, b[i],
             n);
    if (m == 1 && n != 1) y = y.sum({b[i]}, true, y.dtype());
    if (n == 1 && m != 1) x = x.sum({a[i]}, true, x.dtype());
    inner *= x.size(a[i]);
  }
  Dims sizes;
  int64_t rows = 1, cols = 1;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (geometry::contains(a, d)) continue;
    sizes.push_back(x.size(d));
    rows *= x.size(d);
  }
  for (int64_t d = 0; d < y.dim(); ++d) {
    if (geometry::contains(b, d)) continue;
    sizes.push_back(y.size(d));
    cols *= y.size(d);
  }
  return mm(x.permute(order_of(x, a, false)).reshape({rows, inner}),
            y.permute(order_of(y, b, true)).reshape({inner, cols}))
      .reshape(sizes);
}

Tensor trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3,
                 IntArrayRef expand1, IntArrayRef expand2, IntArrayRef expand3,
                 IntArrayRef sumdim, int64_t unroll_dim) {
  const char* op = "_trilinear";
  SY_CHECK(i1.dtype() == i2.dtype() && i1.dtype() == i3.dtype(), Type,
           "[{}] i1: expected one dtype for all, got {}, {} and {}", op,
           i1.dtype(), i2.dtype(), i3.dtype());
  const int64_t total = i1.dim() + static_cast<int64_t>(expand1.size());
  SY_CHECK(unroll_dim >= 0 && unroll_dim < std::max<int64_t>(total, 1), Index,
           "[{}] unroll_dim: expected a dim from 0 to {}, got {}", op,
           total - 1, unroll_dim);
  const Tensor a = expanded(i1, expand1, total);
  const Tensor b = expanded(i2, expand2, total);
  const Tensor c = expanded(i3, expand3, total);
  const Dims sum = geometry::wrap_dims(op, sumdim, total);
  const Dims absent = geometry::wrap_dims(op, expand3, total);
  Dims early, late;
  for (int64_t d = 0; d < total; ++d) {
    if (!geometry::contains(sum, d)) continue;
    (geometry::contains(absent, d) ? early : late).push_back(d);
  }
  Tensor result =
      contract("_trilinear", contract("_trilinear", a, b, early), c, late);
  for (int64_t d = total; d-- > 0;) {
    if (geometry::contains(sum, d)) result = result.squeeze(d);
  }
  return result;
}

Tensor bilinear(const Tensor& input1, const Tensor& input2,
                const Tensor& weight, const std::optional<Tensor>& bias) {
  const char* op = "bilinear";
  SY_CHECK(input1.dtype() == input2.dtype() && input1.dtype() == weight.dtype(),
           Type, "[{}] input1: expected one dtype for all, got {}, {} and {}",
           op, input1.dtype(), input2.dtype(), weight.dtype());
  SY_CHECK(weight.dim() == 3, Value, "[{}] weight: expected three dims, got {}",
           op, weight.dim());
  SY_CHECK(
      input1.dim() > 0 && input1.dim() == input2.dim() &&
          geometry::slice(input1.sizes(), 0, -1) ==
              IntArrayRef(geometry::slice(input2.sizes(), 0, -1)),
      Value,
      "[{}] input2: expected the sizes of input1 but for the last, {}, got {}",
      op, input1.sizes(), input2.sizes());
  const int64_t o = weight.size(0), i = weight.size(1), j = weight.size(2);
  SY_CHECK(input1.size(-1) == i && input2.size(-1) == j, Value,
           "[{}] weight: expected sizes to go with {} and {} features, got {}",
           op, input1.size(-1), input2.size(-1), weight.sizes());
  const bool has_bias = bias && bias->defined();
  SY_CHECK(!has_bias || (bias->dim() == 1 && bias->size(0) == o), Value,
           "[{}] bias: expected {} elements, got sizes {}", op, o,
           has_bias ? bias->sizes() : IntArrayRef());
  const Tensor x = rows_of(input1), y = rows_of(input2);
  const int64_t n = x.size(0);
  const Tensor half =
      mm(x, weight.permute({1, 0, 2}).reshape({i, o * j})).reshape({n, o, j});
  Dims sizes = geometry::slice(input1.sizes(), 0, -1);
  sizes.push_back(o);
  const Tensor product = bmm(half, y.unsqueeze(2)).reshape(sizes);
  return has_bias ? product + *bias : product;
}

Tensor cross(const Tensor& self, const Tensor& other,
             std::optional<int64_t> dim) {
  if (dim) return sy::linalg_cross(self, other, *dim);
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 3) return sy::linalg_cross(self, other, d);
  }
  fail(ErrorKind::Value, "[cross] self: expected a dim of size 3, got sizes {}",
       self.sizes());
}

}  // namespace sy::composite
