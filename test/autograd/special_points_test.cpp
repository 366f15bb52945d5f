#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "aten/tensor_new.h"
#include "autograd/api.h"

// Derivatives of order 1, 2 and 3 where a formula is not the same as at its
// neighbours: at 0, where several elements are 0, at ties, far out. They vary
// the function, the place, the order and the dtype. The right values are known
// in closed form. They never vary the device and the layout.

namespace sy {
namespace {

using Function = std::function<Tensor(const Tensor&)>;
using Numbers = std::vector<double>;

double derivative(const Function& f, double at, int order,
                  ScalarType dtype = kDouble) {
  const Tensor x = tensor({at}, kDouble).to(dtype).requires_grad_();
  Tensor y = f(x).sum();
  for (int i = 0; i < order; ++i) {
    y = autograd::grad({y}, {x}, {}, true, true)[0].sum();
  }
  return y.item<double>();
}

// The gradient, the Hessian … of a number, flat.
Tensor derivatives(const Function& f, const Tensor& at, int order) {
  const Tensor x = at.detach().requires_grad_();
  Tensor y = f(x).reshape({-1});
  for (int i = 0; i < order; ++i) {
    std::vector<Tensor> rows;
    for (int64_t k = 0; k < y.numel(); ++k) {
      // A constant has no history.
      const Tensor g = y.requires_grad() ? autograd::grad({y[k]}, {x}, {}, true,
                                                          true, true)[0]
                                         : Tensor();
      rows.push_back((g.defined() ? g : zeros_like(x)).reshape({-1}));
    }
    y = cat(rows);
  }
  return y.detach();
}

void expect_near(const Tensor& got, const Numbers& right, double tolerance) {
  ASSERT_EQ(got.numel(), static_cast<int64_t>(right.size()));
  for (size_t i = 0; i < right.size(); ++i) {
    EXPECT_NEAR(got[static_cast<int64_t>(i)].item<double>(), right[i],
                tolerance)
        << "element " << i;
  }
}

TEST(SpecialPoints, ProductsAtZeros) {
  const Function kinds[] = {
      [](const Tensor& x) { return prod(x); },
      [](const Tensor& x) { return prod(x, 0); },
      [](const Tensor& x) {
        return prod(x.reshape({1, 3}), 1, true);
      },
      [](const Tensor& x) { return cumprod(x, 0)[2]; },
      [](const Tensor& x) {
        return cumprod(x.reshape({3, 1}), 0)[2];
      },
      [](const Tensor& x) {
        return ones({1}, kDouble)
            .scatter_reduce(0, zeros({3}, kLong), x, "prod");
      },
      [](const Tensor& x) {
        return ones({1}, kDouble).index_reduce(0, zeros({3}, kLong), x, "prod");
      },
      [](const Tensor& x) {
        return x.slice(0, 0, 1).scatter_reduce(0, zeros({2}, kLong),
                                               x.slice(0, 1), "prod");
      },
  };
  const Numbers places[] = {{2, 3, 4},           {0, 3, 4},     {2, 0, 4},
                            {0, 0, 4},           {0, 3, 0},     {0, 0, 0},
                            {1e-200, 3, 1e-200}, {-2, 0, 1e-30}};
  for (size_t k = 0; k < std::size(kinds); ++k) {
    for (const Numbers& p : places) {
      SCOPED_TRACE("kind " + std::to_string(k));
      const double a = p[0], b = p[1], c = p[2];
      const Tensor x = tensor(p, kDouble);
      expect_near(derivatives(kinds[k], x, 1), {b * c, a * c, a * b}, 1e-12);
      expect_near(derivatives(kinds[k], x, 2), {0, c, b, c, 0, a, b, a, 0},
                  1e-12);
      Numbers third(27, 0.0);
      for (const int i : {5, 7, 11, 15, 19, 21}) third[size_t(i)] = 1;
      expect_near(derivatives(kinds[k], x, 3), third, 1e-12);
    }
  }
}

TEST(SpecialPoints, GradientsAreThoseThatCreateAGraph) {
  manual_seed(3);
  const Tensor x = randn({4, 5}, kDouble) * (rand({4, 5}, kDouble) > 0.4);
  for (const int64_t dim : {0, 1}) {
    const Function kinds[] = {
        [&](const Tensor& t) { return prod(t, dim); },
        [&](const Tensor& t) { return cumprod(t, dim); },
        [&](const Tensor& t) {
          return t.scatter_reduce(dim, zeros({2, 3}, kLong), t * 2, "prod");
        },
    };
    for (const Function& f : kinds) {
      const auto gradient = [&](bool create_graph) {
        const Tensor at = x.detach().requires_grad_();
        return autograd::grad({f(at).sum()}, {at}, {}, true, create_graph)[0]
            .detach();
      };
      EXPECT_TRUE(gradient(false).allclose(gradient(true), 1e-12, 1e-12));
    }
  }
}

TEST(SpecialPoints, VanderHasPowersOfZero) {
  const auto squares = [](const Tensor& x) {
    return linalg_vander(x, 3).select(1, 2).sum();
  };
  expect_near(derivatives(squares, tensor(Numbers{0, 3}, kDouble), 2),
              {2, 0, 0, 2}, 1e-12);
}

TEST(SpecialPoints, DeterminantsOfSingularMatrices) {
  const Function det2 = [](const Tensor& a) { return det(a); };
  for (const Numbers& m :
       {Numbers{1, 2, 2, 4}, {0, 0, 0, 0}, {1, 0, 0, 0}, {3, 1, 1, 2}}) {
    const Tensor a = tensor(m, kDouble).reshape({2, 2});
    expect_near(derivatives(det2, a, 1), {m[3], -m[2], -m[1], m[0]}, 1e-12);
    Numbers second(16, 0.0);
    second[3] = second[12] = 1;
    second[6] = second[9] = -1;
    expect_near(derivatives(det2, a, 2), second, 1e-12);
    expect_near(derivatives(det2, a, 3), Numbers(64, 0.0), 1e-12);
  }
  // A matrix of rank 1: the slopes are 0, theirs are not.
  const Tensor ones3 = ones({3, 3}, kDouble);
  EXPECT_NEAR(derivatives(det2, ones3, 1).abs().max().item<double>(), 0, 1e-12);
  const Tensor second = derivatives(det2, ones3, 2);
  EXPECT_EQ(second.abs().sum().item<double>(), 36);
  EXPECT_NEAR(second.sum().item<double>(), 0, 1e-12);
  // A batch, singular in part.
  const Tensor batch = stack({eye(3, kDouble), ones3, zeros({3, 3}, kDouble)});
  const auto sums = [](const Tensor& a) { return det(a).sum(); };
  EXPECT_TRUE(derivatives(sums, batch, 2).isfinite().all().item<bool>());
}

TEST(SpecialPoints, StatisticsOfBatchesChangeWithTheirInput) {
  manual_seed(5);
  const Tensor x0 = randn({4, 2}, kDouble), v = randn({4, 2}, kDouble);
  const Tensor c = randn({4, 2}, kDouble), w = randn({2}, kDouble);
  const Function kinds[] = {
      [&](const Tensor& x) {
        return batch_norm(x, w, {}, {}, {}, true, 0.1, 1e-2, false);
      },
      [&](const Tensor& x) {
        return instance_norm(x.t().reshape({1, 2, 4}), w, {}, {}, {}, true, 0.1,
                             1e-2, false)
            .reshape({2, 4})
            .t();
      },
  };
  for (const Function& f : kinds) {
    // The k-th derivative of the number f(x0 + t v) c by t.
    const auto along = [&](double t0, int order) {
      const Tensor t = tensor({t0}, kDouble).requires_grad_();
      Tensor y = (f(x0 + t * v) * c).sum();
      for (int i = 0; i < order; ++i) {
        y = autograd::grad({y}, {t}, {}, true, true)[0].sum();
      }
      return y.item<double>();
    };
    for (int order = 1; order <= 4; ++order) {
      const double h = 1e-5;
      const double slope = (along(h, order - 1) - along(-h, order - 1)) / 2 / h;
      EXPECT_NEAR(along(0, order), slope, 1e-5 * (1 + std::abs(slope)))
          << "order " << order;
    }
  }
}

TEST(SpecialPoints, TheAngleOfNoVector) {
  const Tensor y = zeros({1}).requires_grad_(), x = zeros({1}).requires_grad_();
  atan2(y, x).backward();
  EXPECT_EQ(y.grad().item<float>(), 0);
  EXPECT_EQ(x.grad().item<float>(), 0);
  for (const double size : {1e-30, 1e-20, 1.0, 1e20, 1e30}) {
    const auto f = [&](const Tensor& t) {
      return atan2(t, full({1}, size, t.options()));
    };
    EXPECT_NEAR(derivative(f, 0, 1, kFloat) * size, 1, 1e-6) << size;
  }
  for (int order = 1; order <= 3; ++order) {
    const auto along = [](const Tensor& t) { return atan2(t, t * 0); };
    EXPECT_TRUE(std::isfinite(derivative(along, 0, order))) << order;
    const auto length = [](const Tensor& t) { return hypot(t, t * 0); };
    EXPECT_TRUE(std::isfinite(derivative(length, 0, order))) << order;
  }
}

TEST(SpecialPoints, SincAroundZero) {
  constexpr double pi = std::numbers::pi;
  const Function f = [](const Tensor& t) { return sinc(t); };
  for (const double at : {0.0, 1e-300, 1e-30, 1e-8, 1e-4}) {
    EXPECT_NEAR(derivative(f, at, 1),
                (-pi * pi / 3 + std::pow(pi, 4) / 30 * at * at) * at, 1e-9 * at)
        << at;
    EXPECT_NEAR(derivative(f, at, 2), -pi * pi / 3, 1e-6) << at;
    EXPECT_NEAR(derivative(f, at, 3), std::pow(pi, 4) / 5 * at,
                1e-6 * at + 1e-14)
        << at;
    EXPECT_NEAR(derivative(f, at, 4), std::pow(pi, 4) / 5, 1e-5) << at;
  }
  EXPECT_NEAR(derivative(f, 1e-30, 1, kFloat), 0, 1e-28);
  // Both formulas, where one ends.
  for (int order = 1; order <= 3; ++order) {
    const double edge = 1 / pi;
    EXPECT_NEAR(derivative(f, edge * (1 - 1e-12), order),
                derivative(f, edge * (1 + 1e-12), order), 1e-9)
        << order;
  }
}

TEST(SpecialPoints, BesselFunctionsAroundZero) {
  struct Row {
    const char* name;
    Function f;
    Numbers at_zero;  // derivatives of order 1 to 4
  };
  const Row rows[] = {
      {"i0", [](const Tensor& t) { return i0(t); }, {0, 0.5, 0, 0.375}},
      {"i1", [](const Tensor& t) { return special_i1(t); }, {0.5, 0, 0.375, 0}},
      {"j0",
       [](const Tensor& t) { return special_bessel_j0(t); },
       {0, -0.5, 0, 0.375}},
      {"j1",
       [](const Tensor& t) { return special_bessel_j1(t); },
       {0.5, 0, -0.375, 0}},
  };
  for (const Row& r : rows) {
    for (int order = 1; order <= 4; ++order) {
      for (const double at : {0.0, 1e-300, 1e-9}) {
        EXPECT_NEAR(derivative(r.f, at, order), r.at_zero[size_t(order - 1)],
                    1e-8)
            << r.name << " of order " << order << " at " << at;
      }
      EXPECT_NEAR(derivative(r.f, 1 - 1e-13, order),
                  derivative(r.f, 1 + 1e-13, order), 1e-10)
          << r.name << " of order " << order;
    }
  }
  // A kink at 0, of which the mean is taken.
  const Function i0e = [](const Tensor& t) { return special_i0e(t); };
  const Function i1e = [](const Tensor& t) { return special_i1e(t); };
  EXPECT_EQ(derivative(i1e, 0, 1), 0.5);
  EXPECT_EQ(derivative(i1e, 0, 2), 0);
  EXPECT_EQ(derivative(i0e, 0, 3), 0);
}

TEST(SpecialPoints, FarOut) {
  struct Row {
    const char* name;
    Function f;
  };
  const Row flat[] = {
      {"log_ndtr", [](const Tensor& t) { return special_log_ndtr(t); }},
      {"elu", [](const Tensor& t) { return elu(t); }},
      {"celu", [](const Tensor& t) { return celu(t); }},
      {"selu", [](const Tensor& t) { return selu(t); }},
      {"softplus", [](const Tensor& t) { return softplus(t, 1, 1e5); }},
      {"mish", [](const Tensor& t) { return mish(t); }},
      {"logaddexp", [](const Tensor& t) { return logaddexp(t, t * 0); }},
      {"logaddexp2", [](const Tensor& t) { return logaddexp2(t, t * 0); }},
      {"log_sigmoid", [](const Tensor& t) { return log_sigmoid(t); }},
  };
  for (const Row& r : flat) {
    for (int order = 2; order <= 3; ++order) {
      for (const double at : {90.0, 800.0, 1e5}) {
        EXPECT_NEAR(derivative(r.f, at, order), 0, 1e-12)
            << r.name << " of order " << order << " at " << at;
        EXPECT_NEAR(derivative(r.f, at, order, kFloat), 0, 1e-12)
            << r.name << " of order " << order << " at " << at;
      }
    }
  }
  const Function log_ndtr = [](const Tensor& t) { return special_log_ndtr(t); };
  EXPECT_NEAR(derivative(log_ndtr, 14, 2, kFloat), 0, 1e-40);
  EXPECT_NEAR(derivative(log_ndtr, 0, 1), std::sqrt(2 / std::numbers::pi),
              1e-14);
  EXPECT_NEAR(derivative(log_ndtr, -1 - 1e-13, 2),
              derivative(log_ndtr, -1 + 1e-13, 2), 1e-11);
}

TEST(SpecialPoints, SmoothL1WithoutASmoothPart) {
  const Tensor zero = zeros({1}, kDouble);
  const auto f = [&](const Tensor& t) { return smooth_l1_loss(t, zero, 2, 0); };
  EXPECT_EQ(derivative(f, 0, 1), 0);
  EXPECT_EQ(derivative(f, 2, 1), 1);
  EXPECT_EQ(derivative(f, -2, 1), -1);
  for (const double at : {0.0, 2.0}) {
    const Tensor x = tensor({at}, kDouble).requires_grad_();
    const Tensor g = autograd::grad({f(x)}, {x}, {}, true, true)[0];
    const Tensor second =
        autograd::grad({(g * g).sum() + (x * 0).sum()}, {x}, {}, true, true)[0];
    EXPECT_EQ(second.item<double>(), 0) << at;
  }
}

TEST(SpecialPoints, FactorsOfZeroStayInTheGraph) {
  const Tensor a = ones({1, 2, 2}), b = ones({1, 2, 2});
  const Tensor s = full({1, 2, 2}, NAN).requires_grad_();
  const Tensor y = baddbmm(s, a, b, 0, 1);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(y.detach().equal(full({1, 2, 2}, 2.0)));
  y.sum().backward();
  EXPECT_TRUE(s.grad().equal(zeros({1, 2, 2})));
  const Tensor batch = a.clone().requires_grad_();
  const Tensor own = ones({2}).requires_grad_();
  baddbmm(own, batch, b, 0, 3).sum().backward();
  EXPECT_TRUE(own.grad().equal(zeros({2})));
  EXPECT_TRUE(batch.grad().equal(full({1, 2, 2}, 6.0)));
}

TEST(SpecialPoints, SourcesLargerThanTheirIndices) {
  const Tensor index = tensor({0, 1, 1}, kLong).reshape({1, 3});
  const Tensor self0 = tensor(Numbers{1, 2, 3, 4}, kDouble).reshape({2, 2});
  const Tensor src0 =
      tensor(Numbers{5, 0, 7, 8, 9, 10, 11, 12}, kDouble).reshape({2, 4});
  const Tensor part = src0.narrow(0, 0, 1).narrow(1, 0, 3);
  using Join = std::function<Tensor(const Tensor&, const Tensor&)>;
  const Join joins[] = {
      [&](const Tensor& a, const Tensor& s) { return a.scatter(1, index, s); },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter_add(1, index, s);
      },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter(1, index, s, "add");
      },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter(1, index, s, "multiply");
      },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter_reduce(1, index, s, "sum");
      },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter_reduce(1, index, s, "mean");
      },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter_reduce(1, index, s, "prod");
      },
      [&](const Tensor& a, const Tensor& s) {
        return a.scatter_reduce(1, index, s, "amax", false);
      },
  };
  for (size_t k = 0; k < std::size(joins); ++k) {
    for (const bool create_graph : {false, true}) {
      SCOPED_TRACE(k);
      const auto gradients = [&](const Tensor& source) {
        const Tensor a = self0.detach().requires_grad_();
        const Tensor s = source.detach().requires_grad_();
        const Tensor c =
            tensor(Numbers{1, -2, 3, 0.5}, kDouble).reshape({2, 2});
        return autograd::grad({(joins[k](a, s) * c).sum()}, {a, s}, {}, true,
                              create_graph);
      };
      const auto whole = gradients(src0), fit = gradients(part);
      EXPECT_TRUE(whole[0].detach().equal(fit[0].detach()));
      Tensor wanted = zeros({2, 4}, kDouble);
      wanted.narrow(0, 0, 1).narrow(1, 0, 3).copy_(fit[1].detach());
      EXPECT_TRUE(whole[1].detach().equal(wanted));
    }
  }
}

}  // namespace
}  // namespace sy
