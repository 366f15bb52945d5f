#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "c10/process/parallel.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Linear algebra on LAPACK: identities for all layouts, errors, threads.

namespace sy {
namespace {

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(ints(got.sizes()), ints(want.sizes()));
  const auto a = values(got), b = values(want);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
  }
}

Tensor well_conditioned(IntArrayRef sizes, ScalarType t) {
  manual_seed(7);
  return randn(sizes, kDouble).to(t) +
         eye(sizes.back(), t) * Scalar(static_cast<double>(sizes.back()));
}

double precision(ScalarType t) { return t == kFloat ? 1e-4 : 1e-11; }

TEST(Lapack, SolvesForEveryLayoutAndSide) {
  for (const ScalarType t : {kFloat, kDouble}) {
    for (const int64_t n : {1, 2, 5, 33, 120}) {
      const Tensor a = well_conditioned({2, n, n}, t);
      const Tensor b = randn({2, n, 3}, kDouble).to(t);
      for (const Tensor& x : {a, a.mT(), a.mT().contiguous()}) {
        expect_close(matmul(x, linalg_solve(x, b)), b, precision(t));
        expect_close(matmul(linalg_solve(x, b.mT(), false), x), b.mT(),
                     precision(t));
        expect_close(matmul(x, linalg_inv(x)), eye(n, t).expand(x.sizes()),
                     precision(t));
        const auto [p, l, u] = linalg_lu(x);
        expect_close(matmul(p, matmul(l, u)), x, precision(t));
        const auto [lu, pivots] = linalg_lu_factor(x);
        for (const bool adjoint : {false, true}) {
          const Tensor y = adjoint ? x.mT() : x;
          expect_close(matmul(y, linalg_lu_solve(lu, pivots, b, true, adjoint)),
                       b, precision(t));
          expect_close(
              matmul(linalg_lu_solve(lu, pivots, b.mT(), false, adjoint), y),
              b.mT(), precision(t));
        }
      }
    }
  }
}

TEST(Lapack, BatchesBroadcast) {
  const Tensor a = well_conditioned({3, 1, 4, 4}, kDouble);
  const Tensor b = randn({2, 4, 5}, kDouble);
  const Tensor x = linalg_solve(a, b);
  EXPECT_EQ(ints(x.sizes()), (std::vector<int64_t>{3, 2, 4, 5}));
  expect_close(matmul(a, x), b.expand({3, 2, 4, 5}), 1e-12);
  const Tensor v = linalg_solve(a, randn({4}, kDouble));
  EXPECT_EQ(ints(v.sizes()), (std::vector<int64_t>{3, 1, 4}));
  const Tensor l = a.tril();
  expect_close(matmul(l, linalg_solve_triangular(l, b, false)),
               b.expand({3, 2, 4, 5}), 1e-12);
}

TEST(Lapack, FactorsMultiplyBack) {
  for (const ScalarType t : {kFloat, kDouble}) {
    for (const auto& sizes : {std::vector<int64_t>{2, 6, 4}, {4, 6}, {5, 5}}) {
      manual_seed(3);
      const Tensor a = randn(sizes, kDouble).to(t);
      for (const Tensor& x : {a, a.mT()}) {
        for (const char* mode : {"reduced", "complete"}) {
          const auto [q, r] = linalg_qr(x, mode);
          expect_close(matmul(q, r), x, precision(t));
          expect_close(matmul(q.mT(), q),
                       eye(q.size(-1), t).expand(matmul(q.mT(), q).sizes()),
                       precision(t));
        }
        for (const bool full : {false, true}) {
          const auto [u, s, vh] = linalg_svd(x, full);
          const int64_t k = s.size(-1);
          expect_close(
              matmul(u.narrow(-1, 0, k) * s.unsqueeze(-2), vh.narrow(-2, 0, k)),
              x, precision(t));
          expect_close(linalg_svdvals(x), s, precision(t));
        }
        const Tensor p = linalg_pinv(x, 1e-6);
        expect_close(matmul(x, matmul(p, x)), x, 10 * precision(t));
        const Tensor gram = matmul(x.mT(), x) + eye(x.size(-1), t);
        const Tensor l = linalg_cholesky(gram);
        expect_close(matmul(l, l.mT()), gram, precision(t));
        const Tensor u = linalg_cholesky(gram, true);
        expect_close(matmul(u.mT(), u), gram, precision(t));
        expect_close(matmul(gram, cholesky_inverse(u, true)),
                     eye(x.size(-1), t).expand(gram.sizes()),
                     10 * precision(t));
        const auto [w, v] = linalg_eigh(gram);
        expect_close(matmul(gram, v), v * w.unsqueeze(-2), 10 * precision(t));
        const auto [ld, pivots] = linalg_ldl_factor(gram);
        expect_close(matmul(gram, linalg_ldl_solve(ld, pivots, gram)), gram,
                     10 * precision(t));
      }
    }
  }
}

TEST(Lapack, IndefiniteBlocksOfTwo) {
  const Tensor a = tensor({{0.0, 1.0}, {1.0, 0.0}});
  const auto [ld, pivots] = linalg_ldl_factor(a);
  EXPECT_LT(values(pivots)[0], 0);
  expect_close(linalg_ldl_solve(ld, pivots, a), eye(2, kDouble), 1e-12);
}

TEST(Lapack, ReflectionsMultiply) {
  manual_seed(5);
  const Tensor a = randn({2, 5, 3}, kDouble), c = randn({2, 5, 4}, kDouble);
  const auto [h, tau] = geqrf(a);
  const Tensor wide = cat({h, zeros({2, 5, 2}, kDouble)}, -1);
  const Tensor q = linalg_householder_product(wide, tau);
  expect_close(ormqr(h, tau, c), matmul(q, c), 1e-12);
  expect_close(ormqr(h, tau, c, true, true), matmul(q.mT(), c), 1e-12);
  expect_close(ormqr(h, tau, c.mT(), false), matmul(c.mT(), q), 1e-12);
}

TEST(Lapack, SingularMatricesAreErrors) {
  const Tensor a = tensor({{1.0, 2.0}, {2.0, 4.0}});
  const Tensor both = stack({eye(2, kDouble), a});
  SY_EXPECT_ERROR(linalg_inv(a), LinAlgError,
                  "[linalg_inv] A: expected nonsingular matrices, got a zero "
                  "in place 2 of the diagonal of U");
  SY_EXPECT_ERROR(linalg_inv(both), LinAlgError, "(matrix 1 of the batch)");
  SY_EXPECT_ERROR(linalg_solve(a, a), LinAlgError, "[linalg_solve] A");
  SY_EXPECT_ERROR(linalg_lu_factor(a), LinAlgError, "[linalg_lu_factor] A");
  SY_EXPECT_ERROR(linalg_cholesky(-both), LinAlgError,
                  "[linalg_cholesky] self: expected positive definite");
  const Tensor column = tensor({{1.0, 0.0}, {1.0, 0.0}, {1.0, 0.0}});
  SY_EXPECT_ERROR(linalg_lstsq(column, column, {}, "gels"), LinAlgError,
                  "[linalg_lstsq] self: expected matrices of full");
  EXPECT_EQ(values(std::get<1>(linalg_inv_ex(both)))[1], 2);
  EXPECT_EQ(linalg_det(a).item<double>(), 0);
}

TEST(Lapack, NaNAndInfinityEnd) {
  for (const double v : {double{NAN}, double{INFINITY}}) {
    const Tensor a = full({6, 6}, Scalar(v), kDouble);
    SY_EXPECT_ERROR(linalg_svd(a), ValueError,
                    "[linalg_svd] A: expected finite elements");
    SY_EXPECT_ERROR(linalg_eigh(a), ValueError, "[linalg_eigh] A");
    SY_EXPECT_ERROR(linalg_lstsq(a, a), ValueError, "[linalg_lstsq] self");
    EXPECT_TRUE(std::isnan(linalg_det(a).item<double>()));
    EXPECT_TRUE(std::isnan(values(std::get<0>(linalg_qr(a)))[0]));
    EXPECT_FALSE(std::isfinite(values(linalg_matrix_exp(a))[0]));
  }
}

TEST(Lapack, ExponentialsOfTheLargestNumbers) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(values(linalg_matrix_exp(tensor({{-most}}, kDouble))),
            std::vector<double>{0});
  EXPECT_TRUE(
      std::isinf(values(linalg_matrix_exp(tensor({{most}}, kDouble)))[0]));
}

TEST(Lapack, PivotsOutsideAreErrors) {
  const Tensor lu = eye(3, kDouble);
  for (const int32_t p : {0, 4, -1, std::numeric_limits<int32_t>::min()}) {
    const Tensor pivots = tensor({1, 2, p}).to(kInt);
    SY_EXPECT_ERROR(linalg_lu_solve(lu, pivots, lu), ValueError,
                    "[linalg_lu_solve] pivots: expected rows");
    SY_EXPECT_ERROR(lu_unpack(lu, pivots), ValueError, "[lu_unpack] pivots");
    SY_EXPECT_ERROR(linalg_ldl_solve(lu, pivots, lu), ValueError,
                    "[linalg_ldl_solve] pivots: expected rows");
  }
}

TEST(Lapack, EmptyMatrices) {
  EXPECT_EQ(linalg_det(zeros({0, 0})).item<double>(), 1);
  EXPECT_EQ(linalg_solve(zeros({2, 0, 0}), zeros({2, 0, 3})).numel(), 0);
  const auto [u, s, vh] = linalg_svd(zeros({0, 3}));
  EXPECT_EQ(values(vh), values(eye(3)));
  EXPECT_EQ(s.numel(), 0);
  EXPECT_EQ(values(std::get<0>(linalg_lstsq(zeros({0, 2}), zeros({0, 1})))),
            (std::vector<double>{0, 0}));
}

// A new process, because libgomp's threads are not in a forked one.
TEST(Lapack, WorksAfterAFork) {
  const int threads = get_num_threads();
  set_num_threads(2);
  const Tensor a = well_conditioned({400, 400}, kDouble);
  const Tensor before = linalg_inv(a);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const Tensor after = linalg_inv(a);
    const double off = (after - before).abs().max().item<double>();
    _exit(off < 1e-10 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  set_num_threads(threads);
}

TEST(Lapack, SeveralThreadsAtOnce) {
  const Tensor a = well_conditioned({300, 300}, kDouble);
  const Tensor expected = linalg_inv(a);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        const double off =
            (linalg_inv(a) - expected).abs().max().item<double>();
        wrong += !(off < 1e-10);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Contraction, Einsum) {
  manual_seed(2);
  const Tensor a = randn({2, 3, 4}, kDouble), b = randn({2, 4, 5}, kDouble);
  expect_close(einsum("bij,bjk->bik", {a, b}), bmm(a, b), 1e-12);
  expect_close(einsum("bij,bjk", {a, b}), bmm(a, b).sum({0}), 1e-12);
  expect_close(einsum("...ij->...ji", {a}), a.mT(), 0);
  expect_close(einsum("bij->", {a}), a.sum(), 1e-12);
  const Tensor c = randn({3, 3}, kDouble);
  expect_close(einsum("ii", {c}), trace(c), 1e-12);
  expect_close(einsum("ii->i", {c}), c.diagonal(), 0);
  expect_close(einsum("ij,jk,kl->il", {c, c, c}, IntArrayRef({1, 2, 0, 1})),
               mm(c, mm(c, c)), 1e-12);
  expect_close(einsum("B a , b->abB", {c, c.select(0, 0)}),
               (c.t().unsqueeze(1) * c.select(0, 0).view({1, 3, 1})), 1e-12);
  SY_EXPECT_ERROR(einsum("ij", {a}), ValueError, "[einsum] equation");
  SY_EXPECT_ERROR(einsum("i..j", {c}), ValueError, "[einsum] equation");
  SY_EXPECT_ERROR(einsum("i1", {c}), ValueError, "letters");
  SY_EXPECT_ERROR(einsum("ij->ijk", {c}), ValueError, "result");
  SY_EXPECT_ERROR(einsum("ij->ii", {c}), ValueError, "result");
  SY_EXPECT_ERROR(einsum("ij,jk", {c, a.select(0, 0).t()}), ValueError,
                  "broadcast");
  SY_EXPECT_ERROR(einsum("ij,jk->ik", {c, c}, IntArrayRef({0, 2})), ValueError,
                  "[einsum] path");
  SY_EXPECT_ERROR(einsum("", {}), ValueError, "[einsum] tensors");
}

}  // namespace
}  // namespace sy
