#include <cmath>

#include "aten/engine/dims.h"
#include "aten/engine/geometry.h"
#include "aten/operators.h"
#include "aten/ops/arithmetic.h"
#include "aten/ops/factory.h"
#include "aten/ops/lu.h"
#include "aten/ops/matrix_norm.h"
#include "aten/ops/matrix_norm_kernels.h"
#include "aten/ops/norm.h"
#include "aten/ops/reduction.h"
#include "aten/ops/spectral.h"
#include "aten/ops/unique.h"

namespace sy::composite {

namespace {

struct MatrixDims {
  int64_t row, column;
};

MatrixDims checked_dims(const char* op, const Tensor& A, IntArrayRef dim) {
  SY_CHECK(A.is_floating_point(), Type,
           "[{}] self: expected a floating dtype, got {}", op, A.dtype());
  SY_CHECK(A.dim() >= 2, Value, "[{}] self: expected at least two dims, got {}",
           op, A.dim());
  SY_CHECK(dim.size() == 2, Value, "[{}] dim: expected two dims, got {}", op,
           dim);
  const MatrixDims d{wrap_dim(op, dim[0], A.dim()),
                     wrap_dim(op, dim[1], A.dim())};
  SY_CHECK(d.row != d.column, Value,
           "[{}] dim: expected two distinct dims, got {}", op, dim);
  return d;
}

Tensor converted(const char* op, const Tensor& A,
                 std::optional<ScalarType> dtype) {
  if (!dtype) return A;
  SY_CHECK(promote_types(A.dtype(), *dtype) == *dtype, Type,
           "[{}] dtype: expected one that holds {}, got {}", op, A.dtype(),
           *dtype);
  return A.to(*dtype);
}

// A norm is given with both dims kept as ones.
Tensor without_dims(const Tensor& norm, const MatrixDims& d, bool keepdim) {
  if (keepdim) return norm;
  return norm.squeeze(std::max(d.row, d.column))
      .squeeze(std::min(d.row, d.column));
}

// The greatest or the least along a dim; nothing has a greatest norm of 0.
Tensor extreme(const Tensor& t, int64_t dim, bool greatest) {
  if (greatest && t.size(dim) == 0) return t.sum({dim}, true);
  return greatest ? amax(t, {dim}, true) : amin(t, {dim}, true);
}

Tensor singular_values(const Tensor& A, const MatrixDims& d) {
  return linalg_svdvals(
      A.movedim(IntArrayRef({d.row, d.column}), IntArrayRef({-2, -1})));
}

// Puts the two dims back as ones, in a result without them.
Tensor with_dims(const Tensor& norm, const MatrixDims& d, bool keepdim) {
  if (!keepdim) return norm;
  return norm.unsqueeze(std::min(d.row, d.column))
      .unsqueeze(std::max(d.row, d.column));
}

OptionalIntArrayRef all_dims() { return std::nullopt; }

bool takes_matrices(const char* op, const Tensor& A, OptionalIntArrayRef dim) {
  if (dim) {
    SY_CHECK(dim->size() == 1 || dim->size() == 2, Value,
             "[{}] dim: expected one or two dims, got {}", op, *dim);
    return dim->size() == 2;
  }
  SY_CHECK(A.dim() == 1 || A.dim() == 2, Value,
           "[{}] self: expected one or two dims where dim is not given, got {}",
           op, A.dim());
  return A.dim() == 2;
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord,
                          IntArrayRef dim, bool keepdim,
                          std::optional<ScalarType> dtype) {
  const char* op = "linalg_matrix_norm";
  const MatrixDims d = checked_dims(op, self, dim);
  const double order = ord.to_double();
  const double size = std::abs(order);
  SY_CHECK(size == 1 || size == 2 || std::isinf(size), Value,
           "[{}] ord: expected 1, 2, inf or one of them negated, got {}", op,
           order);
  const Tensor A = converted(op, self, dtype);
  if (size == 2) {
    const Tensor s = extreme(singular_values(A, d), -1, order > 0);
    return with_dims(s.squeeze(-1), d, keepdim);
  }
  const int64_t summed = size == 1 ? d.row : d.column;
  const int64_t other = size == 1 ? d.column : d.row;
  const Tensor sums = linalg_vector_norm(A, Scalar(1), {summed}, true);
  return without_dims(extreme(sums, other, order > 0), d, keepdim);
}

Tensor linalg_matrix_norm_str(const Tensor& self, std::string_view ord,
                              IntArrayRef dim, bool keepdim,
                              std::optional<ScalarType> dtype) {
  const char* op = "linalg_matrix_norm";
  const MatrixDims d = checked_dims(op, self, dim);
  SY_CHECK(ord == "fro" || ord == "nuc", Value,
           "[{}] ord: expected fro or nuc, got {}", op, ord);
  const Tensor A = converted(op, self, dtype);
  if (ord == "fro") return linalg_vector_norm(A, Scalar(2), dim, keepdim);
  return with_dims(singular_values(A, d).sum({-1}), d, keepdim);
}

Tensor nuclear_norm(const Tensor& self, bool keepdim) {
  return linalg_matrix_norm_str(self, "nuc", {-2, -1}, keepdim, std::nullopt);
}

Tensor nuclear_norm_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return linalg_matrix_norm_str(self, "nuc", dim, keepdim, std::nullopt);
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord,
                   OptionalIntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const char* op = "linalg_norm";
  if (dim || ord) {
    const bool matrices = takes_matrices(op, self, dim);
    if (ord && matrices) {
      const int64_t last[] = {-2, -1};
      return sy::linalg_matrix_norm(self, *ord, dim.value_or(IntArrayRef(last)),
                                    keepdim, dtype);
    }
  }
  return linalg_vector_norm(self, ord.value_or(Scalar(2)),
                            dim ? dim : all_dims(), keepdim, dtype);
}

Tensor linalg_norm_str(const Tensor& self, std::string_view ord,
                       OptionalIntArrayRef dim, bool keepdim,
                       std::optional<ScalarType> dtype) {
  if (!dim) takes_matrices("linalg_norm", self, dim);
  const int64_t last[] = {-2, -1};
  return sy::linalg_matrix_norm(self, ord, dim.value_or(IntArrayRef(last)),
                                keepdim, dtype);
}

namespace {

void check_cond(const Tensor& self) {
  SY_CHECK(self.dim() >= 2, Value,
           "[linalg_cond] self: expected at least two dims, got {}",
           self.dim());
}

Tensor no_elements(const Tensor& self) {
  return zeros(geometry::slice(self.sizes(), 0, -2), self.options());
}

// The norm times that of the inverse, infinite where there is none.
template <class Norm>
Tensor by_inverse(const Tensor& self, const Norm& norm) {
  const auto [inverse, info] = linalg_inv_ex(self);
  const Tensor product = norm(self) * norm(inverse);
  return where(info.gt(Scalar(0)), Scalar(INFINITY), product);
}

}  // namespace

Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_cond(self);
  if (self.numel() == 0) return no_elements(self);
  const double order = p.value_or(Scalar(2)).to_double();
  if (std::abs(order) == 2) {
    const Tensor s = linalg_svdvals(self);
    const Tensor most = s.select(-1, 0), least = s.select(-1, -1);
    return order > 0 ? most / least : least / most;
  }
  return by_inverse(self, [&](const Tensor& t) {
    return sy::linalg_matrix_norm(t, Scalar(order), {-2, -1}, false,
                                  std::nullopt);
  });
}

Tensor linalg_cond_str(const Tensor& self, std::string_view p) {
  check_cond(self);
  if (self.numel() == 0) return no_elements(self);
  if (p == "nuc") {
    const Tensor s = linalg_svdvals(self);
    return s.sum({-1}) * reciprocal(s).sum({-1});
  }
  return by_inverse(self, [&](const Tensor& t) {
    return sy::linalg_matrix_norm(t, p, {-2, -1}, false, std::nullopt);
  });
}

}  // namespace sy::composite
