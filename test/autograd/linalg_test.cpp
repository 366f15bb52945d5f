#include <gtest/gtest.h>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "autograd/api.h"
#include "autograd/gradcheck.h"
#include "test/aten/tensor_values.h"
#include "test/c10/expect_error.h"

// Gradients of what reads a part of its argument (one triangle), or is fixed up
// to a sign only, so that an element alone cannot be moved.

namespace sy {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

Tensor matrix(IntArrayRef sizes, uint64_t seed = 1) {
  manual_seed(seed);
  return randn(sizes, kDouble).requires_grad_();
}

Tensor symmetric(const Tensor& x) { return x + x.mT(); }

Tensor definite(const Tensor& x) {
  return matmul(x, x.mT()) + eye(x.size(-2), kDouble);
}

void check(autograd::GradcheckFunction f, const std::vector<Tensor>& inputs) {
  autograd::GradcheckOptions options;
  options.second_order = true;
  const auto r = autograd::gradcheck(f, inputs, options);
  EXPECT_TRUE(r.ok()) << r.problem;
}

TEST(LinalgGradients, Cholesky) {
  for (const bool upper : {false, true}) {
    check([&](TensorList x) { return linalg_cholesky(definite(x[0]), upper); },
          {matrix({2, 3, 3})});
    const auto factor = [&](const Tensor& x) {
      const Tensor l = x.tril() + eye(3, kDouble) * Scalar(4);
      return upper ? l.mT() : l;
    };
    check(
        [&](TensorList x) { return cholesky_solve(x[1], factor(x[0]), upper); },
        {matrix({3, 3}), matrix({2, 3, 2}, 2)});
    check([&](TensorList x) { return cholesky_inverse(factor(x[0]), upper); },
          {matrix({2, 3, 3})});
  }
}

TEST(LinalgGradients, Eigenvalues) {
  for (const char* triangle : {"L", "U"}) {
    check(
        [&](TensorList x) {
          const auto [l, v] = linalg_eigh(symmetric(x[0]), triangle);
          return Pair(l, abs(v));
        },
        {matrix({2, 3, 3})});
    check(
        [&](TensorList x) {
          return linalg_eigvalsh(symmetric(x[0]), triangle);
        },
        {matrix({3, 3})});
  }
  check([](TensorList x) { return linalg_matrix_sqrth(definite(x[0])); },
        {matrix({2, 3, 3})});
  check(
      [](TensorList x) {
        return linalg_pinv(symmetric(x[0]), std::optional<double>(),
                           std::optional<double>(), true);
      },
      {matrix({3, 3})});
}

TEST(LinalgGradients, SingularValues) {
  for (const auto& sizes : {std::vector<int64_t>{3, 3}, {2, 4, 2}, {2, 4}}) {
    check(
        [](TensorList x) {
          const auto [u, s, vh] = linalg_svd(x[0], false);
          return std::make_tuple(abs(u), s, abs(vh));
        },
        {matrix(sizes)});
    check([](TensorList x) { return linalg_svdvals(x[0]); }, {matrix(sizes)});
    check(
        [](TensorList x) {
          return linalg_pinv(x[0], std::optional<double>(),
                             std::optional<double>());
        },
        {matrix(sizes)});
  }
}

TEST(LinalgGradients, EqualSingularValuesAreFineWithoutVectors) {
  Tensor x = eye(3, kDouble).requires_grad_();
  linalg_svdvals(x).sum().backward();
  EXPECT_EQ(values(x.grad()), values(eye(3, kDouble)));
  Tensor y = eye(3, kDouble).requires_grad_();
  std::get<1>(linalg_svd(y)).sum().backward();
  EXPECT_EQ(values(y.grad()), values(eye(3, kDouble)));
  Tensor z = eye(3, kDouble).requires_grad_();
  std::get<0>(linalg_eigh(z)).sum().backward();
  EXPECT_EQ(values(z.grad()), values(eye(3, kDouble)));
}

TEST(LinalgGradients, Polar) {
  check([](TensorList x) { return linalg_polar(x[0]); }, {matrix({2, 4, 3})});
  check([](TensorList x) { return linalg_polar(x[0]); }, {matrix({3, 3})});
}

TEST(LinalgGradients, FactorsAndSolutions) {
  for (const bool left : {false, true}) {
    for (const bool adjoint : {false, true}) {
      check(
          [&](TensorList x) {
            const auto [lu, pivots] = linalg_lu_factor(x[0]);
            return linalg_lu_solve(lu, pivots, left ? x[1] : x[1].mT(), left,
                                   adjoint);
          },
          {matrix({3, 3}), matrix({2, 3, 2}, 2)});
    }
  }
  check(
      [](TensorList x) {
        const auto [lu, pivots] = linalg_lu_factor(x[0]);
        const auto [p, l, u] = lu_unpack(lu, pivots);
        return Pair(l, u);
      },
      {matrix({2, 4, 3})});
}

TEST(LinalgGradients, LeastSquares) {
  for (const char* driver : {"gels", "gelsd", "gelsy"}) {
    check(
        [&](TensorList x) {
          const auto r = linalg_lstsq(x[0], x[1], std::nullopt, driver);
          return std::string_view(driver) == "gelsy"
                     ? std::vector<Tensor>{std::get<0>(r)}
                     : std::vector<Tensor>{std::get<0>(r), std::get<1>(r)};
        },
        {matrix({2, 4, 2}), matrix({2, 4, 3}, 2)});
  }
  check([](TensorList x) { return std::get<0>(linalg_lstsq(x[0], x[1])); },
        {matrix({2, 3, 2}), matrix({2, 3}, 2)});
}

TEST(LinalgGradients, DeterminantOfASingularMatrix) {
  Tensor x = tensor({{1.0, 2.0}, {2.0, 4.0}}).requires_grad_();
  linalg_det(x).backward();
  const std::vector<double> expected{4, -2, -2, 1};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(values(x.grad())[i], expected[i], 1e-12) << i;
  }
  Tensor zero = zeros({2, 2}, kDouble).requires_grad_();
  linalg_det(zero).backward();
  for (const double v : values(zero.grad())) EXPECT_NEAR(v, 0, 1e-12);
}

// A result that nothing flows into is left out, not taken along as zeros, which
// would make NaN of these.
TEST(LinalgGradients, OfOneFactorAlone) {
  const Tensor same = eye(3, kDouble).mul(2).requires_grad_();
  const auto finite = [&](const Tensor& root) {
    const Tensor g = autograd::grad(root.sum(), same)[0];
    EXPECT_TRUE(g.isfinite().all().item<bool>());
  };
  finite(std::get<1>(linalg_svd(same)));
  finite(std::get<0>(linalg_eigh(same)));
  const auto check = [](std::vector<Tensor> (*f)(const Tensor&), size_t which,
                        IntArrayRef sizes) {
    autograd::GradcheckOptions options;
    options.second_order = true;
    const auto r = autograd::gradcheck(
        [&](TensorList t) { return f(t[0])[which]; }, {matrix(sizes)}, options);
    EXPECT_TRUE(r.ok()) << which << ": " << r.problem;
  };
  const auto qr = [](const Tensor& t) -> std::vector<Tensor> {
    const auto [q, r] = linalg_qr(t);
    return {q, r};
  };
  const auto polar = [](const Tensor& t) -> std::vector<Tensor> {
    const auto [u, h] = linalg_polar(t);
    return {u, h};
  };
  for (const size_t which : {0, 1}) {
    check(qr, which, {3, 2});
    check(qr, which, {2, 3});
    check(polar, which, {3, 2});
  }
  const Tensor x = matrix({2, 2});
  EXPECT_FALSE(autograd::grad(std::get<0>(linalg_slogdet(x)), x, {}, {}, false,
                              /*allow_unused=*/true)[0]
                   .defined())
      << "of the sign";
}

TEST(LinalgGradients, WhatHasNoneSaysSo) {
  const Tensor x = matrix({4, 2});
  SY_EXPECT_ERROR(std::get<1>(linalg_qr(x, "r")).sum().backward(), ValueError,
                  "[linalg_qr] mode: expected reduced or complete");
  SY_EXPECT_ERROR(std::get<0>(linalg_qr(x, "complete")).sum().backward(),
                  ValueError, "[linalg_qr] mode: expected reduced");
}

}  // namespace
}  // namespace sy
