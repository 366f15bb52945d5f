#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "aten/contract/linalg.h"
#include "aten/engine/columns.h"
#include "aten/engine/copy.h"
#include "aten/engine/dims.h"
#include "aten/engine/structured.h"
#include "aten/engine/view.h"
#include "backends/cuda/device/factor_params.cuh"
#include "backends/cuda/print/body.h"
#include "backends/cuda/runtime/launch.h"
#include "cuda_kernels.h"

// Factors of matrices by unblocked kernels: a block for each matrix.

namespace sy::cuda {

namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;
constexpr unsigned kFactorThreads = 256;

int64_t count_of(const Tensor& t) {
  int64_t n = 1;
  for (const int64_t size : t.sizes().slice(0, t.dim() - 2)) n *= size;
  return n;
}

// The matrices of a dense batch; one matrix may serve for all.
FactorMatrix matrix_of(const Tensor& t) {
  const auto n = static_cast<size_t>(t.dim());
  const IntArrayRef sizes = t.sizes(), strides = t.strides();
  const int64_t batch = count_of(t) == 1 ? 0 : sizes[n - 2] * sizes[n - 1];
  return {static_cast<char*>(t.raw_data()), batch, strides[n - 2],
          strides[n - 1]};
}

FactorMatrix transposed(FactorMatrix m) {
  std::swap(m.row, m.column);
  return m;
}

const Function& kernel_of(const Tensor& t, const char* name) {
  const Define define[] = {
      {"SY_ELEMENT", print::element_name(t.scalar_type())}};
  return kernel(t.device().index(), "factors.cu", name, define);
}

void check_fits(const char* op, int64_t blocks) {
  SY_CHECK(blocks <= kMost, Value, "[{}] expected at most {} columns, got {}",
           op, kMost, blocks);
}

// `self`, expanded, in column-major matrices of its own.
Tensor columns_of(const Tensor& self, IntArrayRef sizes) {
  const Tensor out = new_by_columns(self, sizes, self.scalar_type());
  copy_tensor(out, self.expand(sizes));
  return out;
}

// Factors the matrices of p.a in their place; `pivots` may be undefined.
// Returns where each failed.
Tensor factor(const char* op, const char* name, const Tensor& a,
              const Tensor& pivots, FactorParams p) {
  const auto n = static_cast<size_t>(a.dim());
  const Tensor info = new_result(a, a.sizes().slice(0, n - 2), kInt);
  check_fits(op, std::max({info.numel(), a.size(-2), a.size(-1)}));
  p.rows = static_cast<int>(a.size(-2));
  p.columns = static_cast<int>(a.size(-1));
  p.info = static_cast<int*>(info.raw_data());
  if (pivots.defined()) p.pivots = static_cast<int*>(pivots.raw_data());
  launch(a.device().index(), kernel_of(a, name),
         {{static_cast<unsigned>(info.numel())}, {kFactorThreads}}, p,
         {&a, &pivots, &info});
  return info;
}

void check_info(const char* op, const Tensor& info) {
  check_linalg_info(op, info.to(Device(kCPU), kInt));
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

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A,
                                                       bool pivot,
                                                       bool check_errors) {
  const Tensor LU = columns_of(A, A.sizes());
  Dims sizes(A.sizes().slice(0, static_cast<size_t>(A.dim() - 2)));
  sizes.push_back(std::min(A.size(-2), A.size(-1)));
  const Tensor pivots = new_result(A, sizes, kInt);
  FactorParams p = {};
  p.a = matrix_of(LU);
  p.pivot = pivot ? 1 : 0;
  const Tensor info = factor("linalg_lu_factor", "lu", LU, pivots, p);
  // A matrix that is not square has no solution anyway.
  if (check_errors && A.size(-2) == A.size(-1)) {
    check_info("linalg_lu_factor", info);
  }
  return {LU, pivots, info};
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
  const bool shared = count_of(self) == 1;
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
  check_fits("linalg_solve_triangular", std::max(rows, columns * count_of(X)));
  p.rows = static_cast<int>(rows);
  p.columns = static_cast<int>(columns);
  const auto threads = static_cast<unsigned>(
      std::clamp<int64_t>((rows + 31) / 32 * 32, 32, kFactorThreads));
  launch(X.device().index(), kernel_of(X, "solve_triangle"),
         {{static_cast<unsigned>(columns * count_of(X))}, {threads}}, p,
         {&a, &X});
  return X;
}

}  // namespace sy::cuda
