#include <cmath>
#include <numbers>
#include <utility>

#include "aten/contract/linalg.h"
#include "aten/engine/view.h"
#include "matrix.h"
#include "reference_kernels.h"

// P L D L^T P^T = A for symmetric matrices, D of blocks of one and two rows, as
// Bunch and Kaufman choose them (1977). A pivot is the row, counted from 1,
// exchanged with that of a block, or with the second one of a block of two,
// which has it negated and twice.

namespace reference {
namespace {

// Exchanges the rows and columns i and j of the part of `a` from k on.
void exchange(Matrix& a, int64_t k, int64_t i, int64_t j) {
  for (int64_t c = k; c < a.cols; ++c) std::swap(a(i, c), a(j, c));
  for (int64_t r = k; r < a.rows; ++r) std::swap(a(r, i), a(r, j));
}

// The greatest off-diagonal element of a row of the part from k on, and where.
std::pair<double, int64_t> greatest(const Matrix& a, int64_t row, int64_t k) {
  std::pair<double, int64_t> most(0, row);
  for (int64_t j = k; j < a.cols; ++j) {
    if (j != row && std::abs(a(row, j)) > most.first) {
      most = {std::abs(a(row, j)), j};
    }
  }
  return most;
}

// Eliminates `size` columns from k on, one or two, from the rest of `a`.
void eliminate(Matrix& a, int64_t k, int64_t size) {
  const int64_t rest = k + size;
  if (size == 1) {
    for (int64_t i = rest; i < a.rows; ++i) {
      for (int64_t j = rest; j < a.cols; ++j) {
        a(i, j) -= a(i, k) * a(k, j) / a(k, k);
      }
    }
    for (int64_t i = rest; i < a.rows; ++i) a(i, k) /= a(k, k);
    return;
  }
  const double p = a(k, k), q = a(k + 1, k), r = a(k + 1, k + 1);
  const double det = p * r - q * q;
  for (int64_t i = rest; i < a.rows; ++i) {
    const double x = a(i, k), y = a(i, k + 1);
    const double l0 = (r * x - q * y) / det, l1 = (p * y - q * x) / det;
    for (int64_t j = rest; j < a.cols; ++j) {
      a(i, j) -= l0 * a(k, j) + l1 * a(k + 1, j);
    }
    a(i, k) = l0;
    a(i, k + 1) = l1;
  }
}

// A walk from the first block finds the beginning of the block that a pivot of
// two rows belongs to.
int factor(Matrix& a, std::vector<int64_t>& pivots) {
  const double alpha = (1 + std::sqrt(17.0)) / 8;
  int info = 0;
  for (int64_t k = 0; k < a.rows;) {
    const double own = std::abs(a(k, k));
    const auto [column, row] = greatest(a, k, k);
    int64_t p = k, size = 1;
    if (std::max(own, column) == 0 || std::isnan(own)) {
      if (info == 0) info = static_cast<int>(k) + 1;
      pivots.push_back(++k);
      continue;
    }
    if (own < alpha * column) {
      const double other = greatest(a, row, k).first;
      if (own < alpha * column * (column / other)) {
        p = row;
        size = std::abs(a(row, row)) >= alpha * other ? 1 : 2;
      }
    }
    exchange(a, k, k + size - 1, p);
    eliminate(a, k, size);
    for (int64_t i = 0; i < size; ++i) {
      pivots.push_back(size == 1 ? p + 1 : -(p + 1));
    }
    k += size;
  }
  return info;
}

void exchange_rows(Matrix& a, int64_t i, int64_t j) {
  for (int64_t c = 0; c < a.cols; ++c) std::swap(a(i, c), a(j, c));
}

// x = D^-1 x for the block at k.
void divide(const Matrix& a, int64_t k, bool pair, Matrix& x) {
  for (int64_t j = 0; j < x.cols; ++j) {
    if (!pair) {
      x(k, j) /= a(k, k);
      continue;
    }
    const double p = a(k, k), q = a(k + 1, k), r = a(k + 1, k + 1);
    const double det = p * r - q * q, u = x(k, j), v = x(k + 1, j);
    x(k, j) = (r * u - q * v) / det;
    x(k + 1, j) = (p * v - q * u) / det;
  }
}

void solve(const Matrix& a, const std::vector<int64_t>& pivots, Matrix& x) {
  const int64_t n = a.rows;
  std::vector<int64_t> blocks;
  const auto size_at = [&](int64_t k) {
    return pivots[static_cast<size_t>(k)] < 0 ? 2 : 1;
  };
  const auto exchanged = [&](int64_t k) {
    const int64_t p = std::abs(pivots[static_cast<size_t>(k)]) - 1;
    exchange_rows(x, k + size_at(k) - 1, p);
  };
  for (int64_t k = 0; k < n; k += size_at(k)) {
    blocks.push_back(k);
    exchanged(k);
    for (int64_t c = k; c < k + size_at(k); ++c) {
      for (int64_t i = k + size_at(k); i < n; ++i) {
        for (int64_t j = 0; j < x.cols; ++j) x(i, j) -= a(i, c) * x(c, j);
      }
    }
    divide(a, k, size_at(k) == 2, x);
  }
  for (size_t b = blocks.size(); b-- > 0;) {
    const int64_t k = blocks[b];
    for (int64_t c = k; c < k + size_at(k); ++c) {
      for (int64_t i = k + size_at(k); i < n; ++i) {
        for (int64_t j = 0; j < x.cols; ++j) x(c, j) -= a(i, c) * x(i, j);
      }
    }
    exchanged(k);
  }
}

// Only the lower triangle counts.
Matrix mirrored(Matrix a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = i + 1; j < a.cols; ++j) a(i, j) = a(j, i);
  }
  return a;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self,
                                                        bool,
                                                        bool check_errors) {
  const Index batch = batch_of(self);
  const Tensor LD = empty(self.sizes(), self.scalar_type(), self.device());
  const Tensor pivots =
      empty(with_last(batch, {self.size(-1)}), sy::kInt, self.device());
  const Tensor info = empty(batch, sy::kInt, self.device());
  for_each_place(batch, [&](const Index& at) {
    Matrix a = mirrored(read_matrix(self, at));
    std::vector<int64_t> p;
    write(info, at, factor(a, p));
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = i + 1; j < a.cols; ++j) a(i, j) = 0;
      write(pivots, with_last(at, {i}), p[static_cast<size_t>(i)]);
    }
    write_matrix(LD, at, a);
  });
  if (check_errors) {
    sy::check_linalg_info("linalg_ldl_factor", info.to(sy::Device(sy::kCPU)));
  }
  return {LD, pivots, info};
}

Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B,
                        bool) {
  const sy::Dims shared =
      sy::broadcast_sizes("linalg_ldl_solve", batch_of(LD), batch_of(B));
  const Index batch(shared.begin(), shared.end());
  const int64_t n = LD.size(-1);
  const Tensor out = empty(with_last(batch, {B.size(-2), B.size(-1)}),
                           B.scalar_type(), B.device());
  for_each_place(batch, [&](const Index& at) {
    std::vector<int64_t> p;
    for (int64_t k = 0; k < n; ++k) {
      p.push_back(read<int64_t>(pivots, with_last(at, {k})));
    }
    for (int64_t k = 0; k < n; ++k) {
      const int64_t v = p[static_cast<size_t>(k)];
      const bool twice =
          v > 0 || (k + 1 < n && p[static_cast<size_t>(k) + 1] == v);
      SY_CHECK(v != 0 && std::abs(v) <= n && twice, Value,
               "[linalg_ldl_solve] pivots: expected rows counted from 1 up to "
               "{}, negated and twice for a block of two, got {}",
               n, v);
      if (v < 0) ++k;
    }
    Matrix x = read_matrix(B, at);
    solve(read_matrix(LD, at), p, x);
    write_matrix(out, at, x);
  });
  return out;
}

}  // namespace reference
