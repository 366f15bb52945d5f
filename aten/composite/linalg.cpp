#include "aten/ops/linalg.h"

#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "aten/operators.h"
#include "aten/ops/linalg_kernels.h"

namespace sy::composite {

namespace {

// `list` without its last n elements, then more.
Dims joined(IntArrayRef list, size_t n, std::initializer_list<int64_t> more) {
  Dims r(list.slice(0, list.size() - n));
  for (const int64_t v : more) r.push_back(v);
  return r;
}

// All dims but the last as one.
Tensor as_matrix(const Tensor& t) {
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < t.dim(); ++d) rows *= t.size(d);
  return t.reshape({rows, t.size(-1)});
}

void check_inner(const Tensor& self, const Tensor& other) {
  const int64_t k = self.size(-1);
  const int64_t rows = other.dim() == 1 ? other.size(0) : other.size(-2);
  SY_CHECK(k == rows, Value,
           "[matmul] other: expected {} {} to multiply with {}, got {}", k,
           other.dim() == 1 ? "elements" : "rows", self.sizes(), other.sizes());
}

// The product of tensors of at least two dims, one of more: the others
// broadcast.
Tensor batched(const Tensor& self, const Tensor& other) {
  const int64_t m = self.size(-2), k = self.size(-1), n = other.size(-1);
  const auto batch_of = [](const Tensor& t) {
    return t.sizes().slice(0, t.sizes().size() - 2);
  };
  const Dims batch = broadcast_sizes("matmul", batch_of(self), batch_of(other));
  int64_t count = 1;
  for (const int64_t b : batch) count *= b;
  Dims a_sizes = batch, b_sizes = batch, sizes = batch;
  a_sizes.push_back(m);
  a_sizes.push_back(k);
  b_sizes.push_back(k);
  b_sizes.push_back(n);
  sizes.push_back(m);
  sizes.push_back(n);
  const Tensor a = self.expand(a_sizes).reshape({count, m, k});
  const Tensor b = other.expand(b_sizes).reshape({count, k, n});
  return sy::bmm(a, b).reshape(sizes);
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  SY_CHECK(a != 0 && b != 0, Value,
           "[matmul] self, other: expected at least 1 dim, got {} and {}",
           self.sizes(), other.sizes());
  check_inner(self, other);
  if (a == 1 && b == 1) return sy::dot(self, other);
  if (a == 2 && b == 1) return sy::mv(self, other);
  if (a == 2 && b == 2) return sy::mm(self, other);
  if (a == 1) return composite::matmul(self.unsqueeze(0), other).squeeze(-2);
  if (b == 1) return composite::matmul(self, other.unsqueeze(1)).squeeze(-1);
  if (b == 2) {
    // All batches are rows of one matrix.
    return sy::mm(as_matrix(self), other)
        .view(joined(self.sizes(), 1, {other.size(-1)}));
  }
  return batched(self, other);
}

Tensor linear(const Tensor& input, const Tensor& weight,
              const std::optional<Tensor>& bias) {
  SY_CHECK(input.dim() >= 1, Value,
           "[linear] input: expected at least 1 dim, got {}", describe(input));
  SY_CHECK(weight.dim() == 1 || weight.dim() == 2, Value,
           "[linear] weight: expected 1 or 2 dims, got {}", describe(weight));
  SY_CHECK(input.size(-1) == weight.size(-1), Value,
           "[linear] weight: expected {} columns to multiply with {}, got {}",
           input.size(-1), input.sizes(), weight.sizes());
  const bool has_bias = bias.has_value() && bias->defined();
  if (weight.dim() == 1) {
    const Tensor product = composite::matmul(input, weight);
    return has_bias ? product + *bias : product;
  }
  const Tensor transposed = weight.t();
  if (!has_bias) return composite::matmul(input, transposed);
  if (bias->dim() > 1 || input.dim() == 1) {
    return composite::matmul(input, transposed) + *bias;
  }
  if (input.dim() == 2) return sy::addmm(*bias, input, transposed);
  return sy::addmm(*bias, as_matrix(input), transposed)
      .view(joined(input.sizes(), 1, {weight.size(0)}));
}

// For backends that have no kernels of their own.
Tensor mm_by_bmm(const Tensor& self, const Tensor& mat2) {
  return sy::bmm(self.unsqueeze(0), mat2.unsqueeze(0)).squeeze(0);
}

Tensor int_mm_by_mm(const Tensor& self, const Tensor& mat2) {
  return sy::mm(self.to(kInt), mat2.to(kInt));
}

Tensor mv_by_mm(const Tensor& self, const Tensor& vec) {
  return sy::mm(self, vec.unsqueeze(1)).squeeze(1);
}

Tensor dot_by_mm(const Tensor& self, const Tensor& tensor) {
  return sy::mm(self.unsqueeze(0), tensor.unsqueeze(1)).reshape({});
}

Tensor addmm_by_mm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                   const Scalar& beta, const Scalar& alpha) {
  // Narrow floats are rounded once, at the end.
  const ScalarType given = self.scalar_type();
  const ScalarType wide = is_reduced_floating_type(given) ? kFloat : given;
  // Integers are scaled by integers.
  const auto factor = [&](const Scalar& f) {
    return is_floating_type(given) ? f : Scalar(f.to_long());
  };
  const Tensor product = sy::mm(mat1.to(wide), mat2.to(wide)) * factor(alpha);
  // The term that beta = 0 leaves out may be NaN.
  if (factor(beta).to_double() == 0) {
    return product.to(given);
  }
  return (product + self.to(wide) * factor(beta)).to(given);
}

}  // namespace sy::composite
