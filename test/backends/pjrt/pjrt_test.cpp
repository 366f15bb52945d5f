#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/lazy.h>
#include <sy/sy.h>

#include <cstdlib>

#include "test/frontend/compile/samples.h"

// Graphs as programs of XLA. The tests need a PJRT plugin of the CPU, whose
// path is SWITCHYARD_PJRT_PLUGIN; without one they are skipped.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

// XLA rounds otherwise.
constexpr double kTolerance = 2e-5;

using Function = std::function<Tensor(const Tensor&)>;

class Pjrt : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("SWITCHYARD_PJRT_PLUGIN") == nullptr) {
      GTEST_SKIP() << "SWITCHYARD_PJRT_PLUGIN names no PJRT plugin";
    }
  }

  // `kernels`: how many calls XLA has nothing for.
  static void expect_agrees(const Function& f, const Tensor& x, int kernels) {
    auto g = compile(f, {.fullgraph = true, .backend = "pjrt"});
    for (int i = 0; i < 3; ++i) {
      const Tensor ours = x.clone(), theirs = x.clone();
      manual_seed(3);
      const Tensor want = f(theirs);
      manual_seed(3);
      expect_same(g(ours), want, kTolerance);
      expect_same(ours, theirs, kTolerance);
    }
    const std::string text = g.explain();
    EXPECT_EQ(text.find("not taken"), std::string::npos) << text;
    EXPECT_NE(text.find(str(", {} of them our kernels", kernels)),
              std::string::npos)
        << text;
  }
};

TEST_F(Pjrt, Programs) {
  const Tensor x = sample({5, 7});
  expect_agrees([](const Tensor& t) { return ((t + 1) * 2).tanh(); }, x, 0);
  expect_agrees([](const Tensor& t) { return where(t > 0, t, t.exp()); }, x, 0);
  expect_agrees([](const Tensor& t) { return t.to(kInt).remainder(3); }, x, 1);
  // A number that does not fit becomes the least integer.
  expect_agrees([](const Tensor& t) { return (t * 1e12).to(kInt); }, x, 0);
  expect_agrees([](const Tensor& t) { return (t * 100).to(kByte); }, x, 0);
  expect_agrees([](const Tensor& t) { return t.to(kBFloat16).sigmoid(); }, x,
                0);
  expect_agrees([](const Tensor& t) { return gelu(t, "tanh"); }, x, 0);
  expect_agrees([](const Tensor& t) { return t.to(kDouble).erfinv(); }, x * 0.2,
                0);
  expect_agrees([](const Tensor& t) { return special_airy_ai(t); }, x, 1);
}

// On tensors of some and of many elements, by XLA's own functions but for atan.
TEST_F(Pjrt, ElementFunctions) {
  using Method = Tensor (*)(const Tensor&);
  const Method all[] = {sin,   cos,   tan, asin, acos,   sinh,  cosh,  tanh,
                        asinh, atanh, erf, erfc, lgamma, log1p, expm1, exp,
                        rsqrt, exp2,  log, log2, log10,  sqrt};
  for (const ScalarType dtype : {kFloat, kDouble}) {
    for (const int64_t n : {7, 5000}) {
      const Tensor x = linspace(0.01, 0.99, n, TensorOptions(dtype));
      for (size_t i = 0; i < std::size(all); ++i) {
        SCOPED_TRACE(str("function {} of {} elements", i, n));
        expect_agrees([&](const Tensor& t) { return all[i](t); }, x, 0);
      }
      expect_agrees([](const Tensor& t) { return acosh(t + 1); }, x, 0);
      expect_agrees([](const Tensor& t) { return atan(t * 8 - 4); }, x, 1);
      expect_agrees([](const Tensor& t) { return atan2(t - 0.5, t); }, x, 1);
    }
  }
}

TEST_F(Pjrt, Reductions) {
  const Tensor x = sample({5, 7, 3});
  expect_agrees([](const Tensor& t) { return t.sum(1); }, x, 0);
  expect_agrees([](const Tensor& t) { return t.mean({0, 2}, true); }, x, 0);
  expect_agrees([](const Tensor& t) { return t.amax(2); }, x, 0);
  expect_agrees([](const Tensor& t) { return t.var(true); }, x, 0);
  expect_agrees([](const Tensor& t) { return (t > 1).any(0); }, x, 0);
  expect_agrees(
      [](const Tensor& t) { return (t - t.logsumexp(1, true)).exp(); }, x, 0);
}

TEST_F(Pjrt, Views) {
  const Tensor x = sample({6, 8, 4});
  const std::vector<Function> views = {
      [](const Tensor& t) { return t.transpose(0, 2); },
      [](const Tensor& t) { return t.slice(1, 1, 7, 3); },
      [](const Tensor& t) { return t.select(1, 5); },
      [](const Tensor& t) {
        return t.view({48, 4});
      },
      [](const Tensor& t) {
        return t.permute({2, 0, 1}).unsqueeze(1);
      },
      [](const Tensor& t) { return t.select(2, 1).diagonal(); },
      [](const Tensor& t) { return t.unfold(1, 3, 2); },
      [](const Tensor& t) {
        return t.slice(0, 2, 4).view({2, 32});
      },
      [](const Tensor& t) {
        return t.select(0, 1).unsqueeze(0).expand({3, 8, 4});
      },
      [](const Tensor& t) {
        return t.as_strided({3, 5}, {7, 2}, 9);
      },
  };
  for (const Function& view : views) {
    expect_agrees([&](const Tensor& t) { return view(t) + 1; }, x, 0);
    expect_agrees(
        [&](const Tensor& t) {
          const Tensor copy = t * 2;
          return view(copy) * 3;
        },
        x, 0);
  }
}

TEST_F(Pjrt, Writes) {
  const Tensor x = sample({6, 8, 4});
  const std::vector<Function> writes = {
      [](const Tensor& t) { return t.add_(1); },
      [](const Tensor& t) { return t.select(1, 2).zero_(); },
      [](const Tensor& t) { return t.slice(2, 1, 3).mul_(2); },
      [](const Tensor& t) { return t.slice(0, 0, 6, 2).copy_(t.select(0, 1)); },
      [](const Tensor& t) { return t.select(0, 3).diagonal().fill_(9); },
      [](const Tensor& t) { return t.transpose(0, 2).select(0, 1).neg_(); },
  };
  for (const Function& write : writes) {
    expect_agrees(
        [&](const Tensor& t) {
          write(t);
          return t + 0;
        },
        x, 0);
  }
}

// The new elements of a part are made of others of the same memory, also of
// some that the write changes.
TEST_F(Pjrt, WritesOfWhatTheyRead) {
  for (int64_t row = 0; row < 6; ++row) {
    const auto code = [row](const Tensor& x) {
      const Tensor v = x * 1, part = v.select(0, row);
      v.unsqueeze(2).mul_(2);
      const Tensor half = v * 0.5, wide = v.to(kDouble);
      const std::vector<Tensor> others = {half, wide + half, wide.sigmoid()};
      v.slice(0, 1, 6).add_(part.clone());
      return std::vector<Tensor>{v, others[0], wide, others[1], others[2]};
    };
    auto f = compile(code, {.fullgraph = true, .backend = "pjrt"});
    for (int i = 0; i < 3; ++i) {
      const Tensor x = sample({6, 4}, i);
      const std::vector<Tensor> got = f(x), want = code(x);
      for (size_t k = 0; k < want.size(); ++k) {
        expect_same(got[k], want[k], kTolerance);
      }
    }
  }
}

TEST_F(Pjrt, Products) {
  const Tensor w = sample({9, 7}, 0.1), b = sample({9});
  expect_agrees([&](const Tensor& t) { return linear(t, w, b); },
                sample({5, 7}), 0);
  expect_agrees([](const Tensor& t) { return matmul(t, t.transpose(1, 2)); },
                sample({3, 4, 5}), 0);
  const Tensor k = sample({6, 2, 3, 3}, 0.3), c = sample({6});
  expect_agrees(
      [&](const Tensor& t) {
        return conv2d(t, k, c, {2, 1}, {1, 0}, 1, 2);
      },
      sample({2, 4, 9, 8}), 0);
  expect_agrees(
      [](const Tensor& t) {
        return cat({t, t * 2}, 1);
      },
      sample({3, 4}), 0);
}

TEST_F(Pjrt, OurKernelsAreCalledWithin) {
  expect_agrees(
      [](const Tensor& t) { return std::get<0>((t * 2).sort(1)) + 1; },
      sample({5, 7}), 1);
  // Random numbers are drawn in order, needed or not.
  expect_agrees(
      [](const Tensor& t) {
        const Tensor first = rand({4}), second = randn({4}), third = rand({4});
        return t + third - first * second;
      },
      sample({4}), 3);
}

TEST_F(Pjrt, AKernelFailsAsTheCallDoes) {
  const Tensor w = sample({5, 3});
  auto f = compile([&](const Tensor& at) { return w.index_select(0, at) * 2; },
                   {.backend = "pjrt"});
  const Tensor good = tensor({1, 2}), bad = tensor({1, 7});
  expect_same(f(good), w.index_select(0, good) * 2);
  EXPECT_THROW(f(bad), IndexError);
  expect_same(f(good), w.index_select(0, good) * 2);
}

TEST_F(Pjrt, NumbersThatChangeCompileNothing) {
  load_library("lazy").keep();
  lazy::set_engine("pjrt");
  Tensor w = sample({64}).to("lazy");
  const Tensor g = sample({64}, 0.5).to("lazy");
  Tensor want = w.to(kCPU);
  for (int i = 1; i <= 20; ++i) {
    w = w - g * (0.1 / i);
    lazy::sync(lazy::kWait);
    want = want - g.to(kCPU) * (0.1 / i);
  }
  expect_same(w.to(kCPU), want);
  const std::string plan = lazy::plan_text();
  const size_t first = plan.find("of them our kernels");
  EXPECT_NE(first, std::string::npos) << plan;
  EXPECT_EQ(plan.find("of them our kernels", first + 1), std::string::npos)
      << plan;
  lazy::set_engine("jit");
}

TEST_F(Pjrt, ATrainingStep) {
  const auto train = [](const std::string& backend) {
    manual_seed(1);
    std::vector<Tensor> p = {sample({16, 8}).requires_grad_(),
                             sample({16}).requires_grad_(),
                             sample({4, 16}, 0.4).requires_grad_()};
    auto step = compile(
        [&](const Tensor& x, const Tensor& y) {
          const Tensor h = linear(x, p[0], p[1]).relu();
          const Tensor loss = cross_entropy_loss(linear(h, p[2]), y);
          loss.backward();
          const NoGradGuard guard;
          for (Tensor& t : p) {
            t.sub_(t.grad() * 0.05);
            t.mutable_grad().reset();
          }
          return loss.detach();
        },
        {.backend = backend});
    std::vector<Tensor> losses;
    for (int i = 0; i < 8; ++i) {
      losses.push_back(step(sample({10, 8}, i), arange(10) % 4));
    }
    return stack(losses);
  };
  expect_same(train("pjrt"), train("jit"), kTolerance);
}

TEST(PjrtErrors, TellWhatIsWrong) {
  const Tensor x = sample({3});
  const auto error_of = [&](const std::string& backend) {
    auto f =
        compile([](const Tensor& t) { return t * 2; }, {.backend = backend});
    try {
      f(x);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(error_of("pjrt:/no/such/plugin.so").find("/no/such/plugin.so"),
            std::string::npos)
      << error_of("pjrt:/no/such/plugin.so");
}

}  // namespace

}  // namespace sy
