#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "autograd/api.h"
#include "autograd/generated_support.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Runs over graphs: depth, memory, threads, runs within runs.

namespace sy::sample {
namespace {

using autograd::Node;
using V = std::vector<double>;

TEST(Engine, AChainOfAMillionNodes) {
  const int64_t before = Node::live_count();
  const Tensor a = tensor({1}, {1}), one = tensor({1}, {1});
  a.requires_grad_();
  {
    Tensor x = a;
    for (int i = 0; i < 1000000; ++i) x = mul(x, one);
    EXPECT_GE(Node::live_count() - before, 1000000);
    x.backward();
  }
  EXPECT_EQ(values(a.grad()), V({1}));
  EXPECT_EQ(Node::live_count() - before, 1) << "the accumulator";
  Tensor x = a;  // taken down without having run
  for (int i = 0; i < 1000000; ++i) x = mul(x, one);
}

TEST(Engine, AChainOfAMillionViews) {
  const Tensor a = numbers({2});
  Tensor x = a;
  for (int i = 0; i < 1000000; ++i) x = view(x, {2});
  sum(x).backward();
  EXPECT_EQ(values(a.grad()), V({1, 1}));
}

TEST(Engine, ADeepGraphOfOtherInputsIsCutByGrad) {
  const Tensor a = numbers({1}), b = numbers({1});
  Tensor x = a;
  for (int i = 0; i < 100000; ++i) x = mul(x, b);
  EXPECT_TRUE(autograd::grad(x, {a})[0].defined());
}

TEST(Engine, SharedNodesRunOnce) {
  // 2^40 paths.
  const Tensor a = tensor({1}, {1});
  a.requires_grad_();
  Tensor x = a;
  for (int i = 0; i < 40; ++i) x = add(x, x);
  x.backward();
  EXPECT_EQ(values(a.grad()), V({std::ldexp(1.0, 40)}));
}

TEST(Engine, NothingLeaks) {
  const int64_t before = Node::live_count();
  {
    const Tensor a = numbers({3, 2}), w = numbers({2});
    for (int i = 0; i < 3; ++i) {
      Tensor base = clone(a);
      Tensor v = slice(base, 0, 0, 2);
      const Tensor other = view(base, {6});
      mul_(v, w);
      ops::exp_::call(v);
      const Tensor e = exp(mul(base, base));
      const auto [s, c] = ops::sincos::call(e);
      const auto [best, at] = ops::max_dim::call(e, 1, true);
      const Tensor y = sum(add(mul(sum(s), sum(c)), mul(sum(other), best)));
      if (i == 1) y.backward();
      if (i == 2) y.backward({}, false, /*create_graph=*/true);
      a.mutable_grad().reset();  // a gradient with a graph refers to its leaf
      w.mutable_grad().reset();
    }
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Engine, SavedTensorsAreFreedAsItRuns) {
  const Tensor a = numbers({8});
  const Tensor e = exp(a);
  const Tensor y = mul(e, e);
  const auto owners = [&] { return e.storage().use_count(); };
  EXPECT_GT(owners(), 1u);
  sum(y).backward();
  EXPECT_EQ(owners(), 1u);
}

TEST(Engine, AFailedRunLeavesTheGraphUsable) {
  const Tensor a = numbers({2}), b = numbers({2});
  const Tensor good = mul(a, b);
  const Tensor bad = sum(mul(ops::round::call(good), good));
  for (int i = 0; i < 3; ++i) {
    SY_EXPECT_ERROR(bad.backward({}, true), NotImplementedError, "round");
    SY_EXPECT_ERROR(autograd::grad(bad, {a}, {}, true), NotImplementedError,
                    "round");
  }
  EXPECT_FALSE(a.grad().defined());
  sum(good).backward();
  EXPECT_EQ(values(a.grad()), values(b));
}

TEST(Engine, LeavesThatAreGoneAreSkipped) {
  const Tensor a = numbers({1});
  Tensor y = a;
  {
    const Tensor b = numbers({1});
    y = add(a, b);
  }
  y.backward();
  EXPECT_EQ(values(a.grad()), V({1}));
}

// A node whose gradient is computed by a backward of its own.
struct Reentrant final : autograd::NodeOf<1> {
  explicit Reentrant(int depth) : depth_(depth) {}
  void apply(autograd::GradFrame& f) override {
    const AutoGradMode on(true);
    const Tensor x = tensor({3}, {1});
    x.requires_grad_();
    Tensor y = mul(x, x);
    if (depth_ > 0) wrap(y, depth_ - 1);
    y.backward();
    f.set(0, mul(f.grad(), x.grad()));
  }
  static void wrap(Tensor& y, int depth) {
    autograd::Edge e = autograd::gradient_edge(*y.impl());
    auto node = make_intrusive<Reentrant>(depth);
    node->edge_slot(0) = e;
    y = Tensor(y.impl()->alias());
    autograd::set_history(y, std::move(node));
  }
  std::string name() const override { return "Reentrant"; }
  int depth_;
};

TEST(Engine, BackwardWithinBackward) {
  const Tensor a = tensor({1}, {1});
  a.requires_grad_();
  Tensor y = add(a, a);
  Reentrant::wrap(y, 3);
  y.backward();
  EXPECT_EQ(values(a.grad()), V({2 * 6 * 6 * 6 * 6}));
}

// A node whose gradient runs the very graph that it is part of.
struct SelfReentrant final : autograd::NodeOf<1> {
  void apply(autograd::GradFrame& f) override {
    if (!entered_) {
      entered_ = true;
      inner_ = autograd::grad(*output_, *input_, {}, true)[0];
    }
    f.set(0, f.grad());
  }
  std::string name() const override { return "SelfReentrant"; }
  bool entered_ = false;
  Tensor inner_;
  const Tensor *output_ = nullptr, *input_ = nullptr;
};

TEST(Engine, ARunWithinARunOfTheSameGraph) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  Tensor y = mul(a, a);
  auto node = make_intrusive<SelfReentrant>();
  SelfReentrant* n = node.get();
  node->edge_slot(0) = autograd::gradient_edge(*y.impl());
  y = Tensor(y.impl()->alias());
  autograd::set_history(y, std::move(node));
  n->output_ = &y;
  n->input_ = &a;
  y.backward();
  EXPECT_EQ(values(a.grad()), V({6}));
  EXPECT_EQ(values(n->inner_), V({6}));
}

TEST(Engine, FormulasOfWrongSizeAreNamed) {
  struct Wrong final : autograd::NodeOf<1> {
    void apply(autograd::GradFrame& f) override {
      f.set(0, tensor({1, 2, 3}, {3}));
    }
    std::string name() const override { return "Wrong"; }
  };
  const Tensor a = numbers({2});
  Tensor y(numbers({2}, false));
  auto node = make_intrusive<Wrong>();
  node->edge_slot(0) = autograd::gradient_edge(*a.impl());
  autograd::set_history(y, std::move(node));
  SY_EXPECT_ERROR(sum(y).backward(), ValueError,
                  "[Wrong backward] expected a gradient of size [2], got "
                  "float64[3]");
}

void run_threads(int n, void (*body)(int, const Tensor&), const Tensor& t) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(body, i, t);
  for (std::thread& th : threads) th.join();
}

TEST(Threads, DisjointGraphs) {
  run_threads(
      8,
      [](int i, const Tensor&) {
        const Tensor a = tensor({double(i)}, {1});
        a.requires_grad_();
        for (int k = 0; k < 50; ++k) {
          Tensor x = a;
          for (int j = 0; j < 20; ++j) x = add(mul(x, tensor({1}, {1})), a);
          x.backward();
        }
        EXPECT_EQ(values(a.grad()), V({21 * 50}));
      },
      Tensor());
}

TEST(Threads, SharedLeaves) {
  const Tensor a = tensor({1, 1}, {2});
  a.requires_grad_();
  run_threads(
      8,
      [](int, const Tensor& leaf) {
        for (int k = 0; k < 100; ++k)
          sum(mul(leaf, tensor({2, 3}, {2}))).backward();
      },
      a);
  EXPECT_EQ(values(a.grad()), V({1600, 2400}));
}

TEST(Threads, OneGraph) {
  const Tensor a = tensor({2}, {1});
  a.requires_grad_();
  Tensor x = a;
  for (int i = 0; i < 30; ++i) x = mul(exp(mul(x, tensor({0}, {1}))), a);
  const auto [s, c] = ops::sincos::call(x);
  const Tensor y = add(s, c);
  run_threads(
      8,
      [](int, const Tensor& root) {
        for (int k = 0; k < 20; ++k) root.backward({}, /*retain_graph=*/true);
      },
      y);
  EXPECT_NEAR(get(a.grad(), 0), 160 * (std::cos(2.0) - std::sin(2.0)), 1e-9);
}

TEST(Threads, FreeingAGraphThatOthersRunIsAnErrorAtMost) {
  for (int round = 0; round < 20; ++round) {
    const Tensor a = numbers({1});
    Tensor x = a;
    for (int i = 0; i < 50; ++i) x = mul(x, x);
    run_threads(
        4,
        [](int, const Tensor& root) {
          try {
            root.backward();
          } catch (const Error& e) {
            EXPECT_NE(e.message().find("second time"), std::string::npos);
          }
        },
        x);
  }
}

TEST(Threads, ViewsFindTheirNewHistoryInParallel) {
  const Tensor a = numbers({4});
  for (int round = 0; round < 50; ++round) {
    Tensor base = clone(a);
    const Tensor old = view(base, {2, 2});  // has a history, outdated
    Tensor plain = numbers({4}, false);
    const Tensor first = view(plain, {2, 2});  // has none yet
    mul_(base, a);
    mul_(plain, a);
    run_threads(
        4,
        [](int, const Tensor& v) {
          EXPECT_TRUE(v.requires_grad());
          EXPECT_EQ(autograd::grad_fn_name(v), "AsStridedView");
          EXPECT_TRUE(mul(v, v).requires_grad());
        },
        round % 2 == 0 ? old : first);
  }
}

TEST(Threads, AGraphMayBeTakenDownElsewhere) {
  const int64_t before = Node::live_count();
  {
    Tensor x = numbers({1});
    for (int i = 0; i < 1000; ++i) x = mul(x, x);
    std::thread([y = std::move(x)] { y.backward(); }).join();
  }
  EXPECT_EQ(Node::live_count(), before);
}

}  // namespace
}  // namespace sy::sample
