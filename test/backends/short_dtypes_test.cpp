#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "aten/operators.h"
#include "aten/ops/all.h"
#include "autograd/api.h"
#include "test/backends/device.h"

// Results of float16 and bfloat16 are rounded once, at the end: sums of more
// terms than the dtype counts, and formulas of several steps. The tests vary
// the operator, the dtype and how many places are added to. The right values
// are those of float32, rounded. They never vary the device.

namespace sy::families {
namespace {

constexpr ScalarType kShort[] = {kHalf, kBFloat16};

using Numbers = std::vector<double>;

void expect_all(const Tensor& t, double value, const char* what) {
  EXPECT_TRUE(t.detach().to(kDouble).eq(value).all().item<bool>())
      << what << ": " << t.scalar_type() << ", "
      << t.detach().to(kDouble).flatten()[0].item<double>();
}

TEST(ShortDtypes, SumsAtOnePlace) {
  const Tensor i = zeros({4096}, kLong);
  for (const ScalarType d : kShort) {
    const Tensor one = ones({4096}, d), none = zeros({1}, d);
    const Tensor two = ones({4096, 2}, d);
    expect_all(none.index_add(0, i, one), 4096, "index_add");
    expect_all(zeros({1, 2}, d).index_add(0, i, two), 4096, "index_add of 2-d");
    expect_all(zeros({2, 1}, d).index_add(1, i, ones({2, 4096}, d)), 4096,
               "index_add of columns");
    expect_all(none.index_add(0, i, one, 0.5), 2048, "index_add with alpha");
    expect_all(none.index_add(0, i.to(kInt), one), 4096, "index_add by int32");
    expect_all(none.index_put({i}, one, true), 4096, "index_put");
    expect_all(zeros({1, 2}, d).index_put({i}, two, true), 4096,
               "index_put of rows");
    expect_all(
        zeros({2, 1}, d).index_put({std::nullopt, i}, ones({1}, d), true), 4096,
        "index_put of columns");
    expect_all(none.put(i, one, true), 4096, "put");
    expect_all(none.scatter_add(0, i, one), 4096, "scatter_add");
    expect_all(none.scatter(0, i, one, "add"), 4096, "scatter with add");
    expect_all(none.scatter(0, i, 1, "add"), 4096, "scatter of a value");
    expect_all(none.scatter_reduce(0, i, one * 4096, "mean", false), 4096,
               "scatter_reduce");
    Tensor own = zeros({1}, d);
    own.index_add_(0, i, one);
    expect_all(own, 4096, "index_add_");
    // A part of a larger tensor: the rest stays.
    Tensor whole = zeros({8}, d);
    whole.slice(0, 1, 8, 3).index_add_(0, i, one);
    EXPECT_EQ(whole[1].item<double>(), 4096);
    EXPECT_EQ(whole.to(kDouble).sum().item<double>(), 4096);
  }
}

TEST(ShortDtypes, SumsAtSeveralPlacesAreThoseOfFloat32) {
  manual_seed(1);
  const Tensor i = randint(0, 7, {900}, kLong);
  for (const ScalarType d : kShort) {
    const Tensor x = randn({7, 5}, kFloat).to(d);
    const Tensor y = randn({900, 5}, kFloat).to(d);
    const auto same = [&](const Tensor& a, const Tensor& wide) {
      EXPECT_EQ(a.scalar_type(), d);
      EXPECT_TRUE(a.equal(wide.to(d)));
    };
    const Tensor xw = x.to(kFloat), yw = y.to(kFloat);
    same(x.index_add(0, i, y), xw.index_add(0, i, yw));
    same(x.index_add(0, i, y, -2), xw.index_add(0, i, yw, -2));
    same(x.index_put({i}, y, true), xw.index_put({i}, yw, true));
    same(x.t().index_add(1, i, y.t()), xw.t().index_add(1, i, yw.t()));
    same(x.flatten().put(i, y.select(1, 0), true),
         xw.flatten().put(i, yw.select(1, 0), true));
  }
}

TEST(ShortDtypes, GradientsThatAreSums) {
  const Tensor i = zeros({4096}, kLong);
  using F = std::function<Tensor(const Tensor&)>;
  const std::pair<const char*, F> functions[] = {
      {"index_select", [&](const Tensor& x) { return x.index_select(0, i); }},
      {"embedding", [&](const Tensor& x) { return embedding(x, i); }},
      {"index", [&](const Tensor& x) { return x.index({i}); }},
      {"take", [&](const Tensor& x) { return x.take(i) + x.take(i + 1); }},
      {"gather",
       [&](const Tensor& x) {
         return x.gather(0, i.unsqueeze(1).expand({4096, 2}));
       }},
      {"expand",
       [&](const Tensor& x) {
         return x.expand({4096, 2});
       }},
      {"repeat",
       [&](const Tensor& x) {
         return x.repeat({4096, 1});
       }},
      {"repeat_interleave",
       [&](const Tensor& x) { return x.repeat_interleave(4096, 0); }},
  };
  for (const ScalarType d : kShort) {
    for (const auto& [name, f] : functions) {
      const Tensor x = ones({1, 2}, d).requires_grad_();
      f(x).sum().backward();
      expect_all(x.grad(), 4096, name);
    }
    const Tensor u = ones({8191}, d).requires_grad_();
    u.unfold(0, 4096, 1).sum().backward();
    EXPECT_EQ(u.grad()[4095].item<double>(), 4096) << d;
    const Tensor w = ones({1, 2}, d).requires_grad_();
    embedding(w, i, -1, true).sum().backward();
    expect_all(w.grad(), 1, "embedding by frequency");
  }
}

// The share of numbers for which something holds.
double share(const Tensor& holds) {
  return holds.to(kDouble).mean().item<double>();
}

TEST(ShortDtypes, RandomNumbersHaveTheirTails) {
  manual_seed(1);
  const int64_t n = 500000;
  for (const ScalarType d : kShort) {
    const Tensor e = exponential(empty({n}, d)).to(kDouble);
    EXPECT_EQ(share(e.eq(0)), 0) << d;
    EXPECT_NEAR(share(e < 1e-3), 1e-3, 3e-4) << d;
    EXPECT_NEAR(share(e > 8), std::exp(-8), 1e-4) << d;
    const Tensor few = exponential(empty({n}, d), 1e7).to(kDouble);
    EXPECT_EQ(share(few.eq(0)), 0) << d;
    Tensor c = empty({n}, d);
    c.copy_(cauchy(c, 0, 1));
    for (const double sign : {1.0, -1.0}) {
      EXPECT_NEAR(share(c.to(kDouble) * sign > 500), 6.37e-4, 2e-4) << d;
    }
    const Tensor l = log_normal(empty({n}, d), 0, 1).to(kDouble).log();
    EXPECT_NEAR(l.mean().item<double>(), 0, 0.01) << d;
    EXPECT_NEAR(l.std().item<double>(), 1, 0.01) << d;
    EXPECT_NEAR(share(l < -3), 1.35e-3, 4e-4) << d;
    Tensor g = empty({n}, d);
    g = geometric(g, 0.01);
    EXPECT_NEAR(g.to(kDouble).mean().item<double>(), 100, 1) << d;
    const Tensor about = normal(full({n}, 1000.0, kFloat).to(d), 1.0);
    EXPECT_NEAR(about.to(kDouble).mean().item<double>(),
                full({}, 1000.0, kFloat).to(d).item<double>(), 0.1)
        << d;
  }
}

TEST(ShortDtypes, WindowsAreThoseOfFloat32) {
  for (const ScalarType d : kShort) {
    for (const int64_t n : {1, 2, 5, 300, 4097}) {
      const auto same = [&](const char* name, const Tensor& a,
                            const Tensor& wide) {
        EXPECT_EQ(a.scalar_type(), d);
        EXPECT_TRUE(a.equal(wide.to(d))) << name << " of " << n;
      };
      same("kaiser", kaiser_window(n, false, 12.0, d),
           kaiser_window(n, false, 12.0, kFloat));
      same("hann", hann_window(n, d), hann_window(n, kFloat));
      same("hamming", hamming_window(n, d), hamming_window(n, kFloat));
      same("blackman", blackman_window(n, d), blackman_window(n, kFloat));
      same("bartlett", bartlett_window(n, d), bartlett_window(n, kFloat));
    }
  }
}

}  // namespace
}  // namespace sy::families
