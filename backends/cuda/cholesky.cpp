#include <algorithm>
#include <tuple>
#include <utility>

#include "aten/engine/dims.h"
#include "aten/engine/view.h"
#include "backends/cuda/backend_gen.h"
#include "backends/cuda/runtime/launch.h"
#include "backends/cuda/support/factors.h"

namespace sy::cuda {

namespace {

FactorMatrix transposed(FactorMatrix m) {
  std::swap(m.row, m.column);
  return m;
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper,
                                              bool check_errors) {
  const Tensor L = columns_of(self, self.sizes());
  FactorParams p = {};
  // U of U^T U is L of the transpose.
  p.a = upper ? transposed(matrix_of(L)) : matrix_of(L);
  const Tensor info = factor("linalg_cholesky", "cholesky", L, Tensor(), p);
  if (check_errors) check_info("linalg_cholesky", info);
  return {L, info};
}

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper,
                               bool left, bool unitriangular) {
  const auto n = static_cast<size_t>(self.dim() - 2);
  const Dims batch =
      broadcast_sizes("linalg_solve_triangular", self.sizes().slice(0, n),
                      B.sizes().slice(0, static_cast<size_t>(B.dim() - 2)));
  const auto with = [&](const Tensor& t) {
    Dims sizes(batch);
    sizes.push_back(t.size(-2));
    sizes.push_back(t.size(-1));
    return sizes;
  };
  const Tensor X = columns_of(B, with(B));
  if (X.numel() == 0) return X;
  const bool shared = count_matrices(self) == 1;
  const Tensor a = shared ? self : columns_of(self, with(self));
  TriangleParams p = {};
  p.a = matrix_of(a);
  p.x = matrix_of(X);
  int64_t rows = X.size(-2), columns = X.size(-1);
  p.upper = upper ? 1 : 0;
  if (!left) {  // X A = B is A^T X^T = B^T
    p.a = transposed(p.a);
    p.x = transposed(p.x);
    p.upper = 1 - p.upper;
    std::swap(rows, columns);
  }
  p.unit = unitriangular ? 1 : 0;
  check_fits("linalg_solve_triangular",
             std::max(rows, columns * count_matrices(X)));
  p.rows = static_cast<int>(rows);
  p.columns = static_cast<int>(columns);
  const auto threads = static_cast<unsigned>(
      std::clamp<int64_t>((rows + 31) / 32 * 32, 32, kFactorThreads));
  launch(X.device().index(), factor_kernel(X, "solve_triangle"),
         {{static_cast<unsigned>(columns * count_matrices(X))}, {threads}}, p,
         {&a, &X});
  return X;
}

}  // namespace sy::cuda
