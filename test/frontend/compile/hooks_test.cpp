#include <gtest/gtest.h>
#include <sy/compile.h>
#include <sy/nn.h>
#include <sy/sy.h>

#include <functional>

#include "test/frontend/compile/samples.h"

// Functions of the user that run with gradients: what they see has elements,
// and they run as often as without sy::compile, whenever they come and go.
// Writes to tensors that have a history. Sizes and dtypes never vary.

namespace sy {

namespace {

using test::expect_same;
using test::sample;

TEST(CompiledHooks, OnAnArgumentWithin) {
  auto f = compile([](const Tensor& x) {
    x.register_hook([](const Tensor& g) { return g * 10; });
    return (x * x).sum();
  });
  for (int k = 0; k < 4; ++k) {
    const Tensor x = ones({1}).requires_grad_();
    f(x).backward();
    expect_same(x.grad(), full({1}, 20.0f));
  }
  EXPECT_NE(f.explain().find("a hook is registered"), std::string::npos)
      << f.explain();
}

TEST(CompiledHooks, OnAnIntermediateWithin) {
  std::vector<float> seen;
  auto f = compile([&](const Tensor& x) {
    const Tensor y = x * 2;
    y.register_hook([&](const Tensor& g) {
      seen.push_back(g.sum().item<float>());
      return g * 2;
    });
    return y * 3;
  });
  for (int k = 0; k < 4; ++k) {
    const Tensor x = ones({2}).requires_grad_();
    f(x).sum().backward();
    expect_same(x.grad(), full({2}, 12.0f));
  }
  EXPECT_EQ(seen, std::vector<float>(4, 6.0f));
}

// Registered before, after some calls, removed, and registered again.
TEST(CompiledHooks, ThatComeAndGo) {
  for (const bool outside : {false, true}) {
    Tensor w = ones({1}).requires_grad_();
    auto f = compile([&](const Tensor& x) {
      const Tensor loss = (x * w).sum();
      if (!outside) loss.backward();
      return loss;
    });
    int ran = 0, after = 0;
    autograd::HookHandle hook, post;
    for (int k = 0; k < 60; ++k) {
      if (k % 20 == 5) {
        hook = w.register_hook([&](const Tensor& g) {
          ++ran;
          return g.clamp(-1, 1);
        });
        post = w.register_post_accumulate_grad_hook(
            [&](const Tensor&) { ++after; });
      }
      if (k % 20 == 15) {
        hook.remove();
        post.remove();
      }
      w.mutable_grad().reset();
      ran = after = 0;
      const Tensor loss = f(full({1}, 3.0f));
      if (outside) loss.backward();
      const bool on = k % 20 >= 5 && k % 20 < 15;
      expect_same(w.grad(), full({1}, on ? 1.0f : 3.0f));
      EXPECT_EQ(ran, int{on}) << k;
      EXPECT_EQ(after, int{on}) << k;
      if (HasFailure()) return;
    }
    EXPECT_GT(f.counters().replays, 15) << f.explain();
  }
}

TEST(CompiledHooks, OfSomeArguments) {
  auto f = compile([](const Tensor& x) { (x * x).sum().backward(); });
  for (int k = 0; k < 12; ++k) {
    const Tensor x = ones({1}).requires_grad_();
    if (k % 3 == 0) x.register_hook([](const Tensor& g) { return g * 10; });
    f(x);
    expect_same(x.grad(), full({1}, k % 3 == 0 ? 20.0f : 2.0f));
  }
}

TEST(CompiledHooks, OfModules) {
  nn::Linear l(2, 2);
  nn::Sequential net(l, nn::Tanh());
  auto f = compile([&](const Tensor& x) { return net(x); });
  int ran = 0;
  nn::HookHandle hook;
  for (int k = 0; k < 60; ++k) {
    if (k == 20) {
      hook = l->register_forward_hook(
          [&](nn::Module&, TensorList, std::vector<Tensor>& out) {
            ++ran;
            out[0] = out[0] * 2;
          });
    }
    if (k == 40) hook.remove();
    const Tensor x = sample({3, 2}, k);
    const Tensor got = f(x).detach();
    EXPECT_EQ(ran, int{k >= 20 && k < 40}) << k;
    expect_same(got, net(x).detach());
    ran = 0;
  }
  EXPECT_GT(f.counters().replays, 15) << f.explain();
}

TEST(CompiledHooks, OfAllModules) {
  nn::Linear l(2, 2);
  auto f = compile([&](const Tensor& x) { return l(x); });
  const Tensor x = sample({3, 2});
  int ran = 0;
  for (int k = 0; k < 6; ++k) f(x);
  auto hook = nn::register_module_forward_pre_hook(
      [&](nn::Module&, std::vector<Tensor>& in) {
        ++ran;
        in[0] = in[0] * 0;
      });
  for (int k = 0; k < 4; ++k) expect_same(f(x).detach(), l(x * 0).detach());
  EXPECT_EQ(ran, 8);
  hook.remove();
  expect_same(f(x).detach(), l(x).detach());
}

TEST(CompiledHooks, BackwardHooksOfModules) {
  nn::Linear l(2, 2);
  auto f = compile([&](const Tensor& x) { return l(x); });
  for (int k = 0; k < 6; ++k) f(sample({3, 2}));
  std::vector<float> seen;
  l->register_full_backward_hook(
      [&](nn::Module&, std::vector<Tensor>&, TensorList g) {
        seen.push_back(g[0].sum().item<float>());
      });
  for (int k = 0; k < 3; ++k) f(sample({3, 2})).sum().backward();
  EXPECT_EQ(seen, std::vector<float>(3, 6.0f));
}

TEST(CompiledHooks, OfSavedTensors) {
  const Tensor w = sample({3}).requires_grad_();
  auto f = compile([&](const Tensor& x) { return (x * w).exp().sum(); });
  int packed = 0, unpacked = 0;
  for (int k = 0; k < 12; ++k) {
    w.mutable_grad().reset();
    const Tensor x = sample({3}, k);
    Tensor loss;
    if (k % 4 == 3) {
      const autograd::SavedTensorHooks hooks(
          [&](const Tensor& t) -> std::any {
            ++packed;
            EXPECT_NE(t.sum().item<float>(), 0);
            return t.clone();
          },
          [&](const std::any& a) {
            ++unpacked;
            return std::any_cast<Tensor>(a);
          });
      loss = f(x);
    } else {
      loss = f(x);
    }
    loss.backward();
    expect_same(w.grad(), (x * w).exp().detach() * x);
  }
  EXPECT_EQ(packed, unpacked);
  EXPECT_GT(packed, 0);
  EXPECT_EQ(packed % 3, 0);
}

TEST(CompiledHooks, RetainGrad) {
  std::vector<float> seen;
  auto f = compile([&](const Tensor& x) {
    const Tensor y = x * 2;
    y.retain_grad();
    (y * y).sum().backward();
    return y.grad().detach() * 1;
  });
  for (int k = 0; k < 4; ++k) {
    const Tensor x = sample({3}, k).requires_grad_();
    expect_same(f(x), x.detach() * 4);
    expect_same(x.grad(), x.detach() * 8);
  }
}

int ran_backward = 0;

struct PassOn : autograd::Function<PassOn> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) {
    return x;
  }
  static autograd::variable_list backward(autograd::AutogradContext*,
                                          autograd::variable_list g) {
    ++ran_backward;
    return {g[0] * (g[0].sum().item<float>() > 0 ? 5 : 7)};
  }
};

TEST(CompiledHooks, AFunctionThatReturnsItsInput) {
  auto f = compile([](const Tensor& x) { return PassOn::apply(x); });
  auto g = compile([](const Tensor& x) { return PassOn::apply(x * 2) * 1; });
  ran_backward = 0;
  for (int k = 0; k < 4; ++k) {
    const Tensor x = sample({3}, k).requires_grad_();
    f(x).sum().backward();
    expect_same(x.grad(), full({3}, 5.0f));
    g(x).sum().backward();
    expect_same(x.grad(), full({3}, 15.0f));
  }
  EXPECT_EQ(ran_backward, 8);
}

// ---- writes to what has a history

TEST(CompiledHooks, WritesToAnArgumentWithAHistory) {
  auto f = compile([](const Tensor& a) {
    a.mul_(2);
    return a * 1;
  });
  for (int k = 0; k < 6; ++k) {
    const Tensor x = ones({1}).requires_grad_();
    const Tensor a = x * 10;
    f(a).sum().backward();
    expect_same(x.grad(), full({1}, 20.0f));
    x.mutable_grad().reset();
    const Tensor b = x * 10;
    f(b);
    (b * b).sum().backward();
    expect_same(x.grad(), full({1}, 800.0f));
  }
}

TEST(CompiledHooks, WritesToAViewOfWhatHasAHistory) {
  auto f = compile([](const Tensor& a) { a.mul_(2); });
  for (int k = 0; k < 6; ++k) {
    const Tensor x = ones({2, 2}).requires_grad_();
    const Tensor a = x * 3;
    f(a.select(0, 0));
    a.sum().backward();
    expect_same(x.grad(), tensor({6.0f, 6.0f, 3.0f, 3.0f}).view({2, 2}));
  }
}

TEST(CompiledHooks, WritesToACapturedTensorThatGetsAHistory) {
  for (int k = 0; k < 3; ++k) {
    const Tensor w = ones({2}).requires_grad_();
    const Tensor sum = zeros({2});
    auto f = compile([&](const Tensor& x) { sum.add_(x * w); });
    for (int i = 0; i < 4; ++i) f(full({2}, 3.0f));
    sum.sum().backward();
    expect_same(w.grad(), full({2}, 12.0f));
  }
}

// Gradients that leave the call by a history from before.
TEST(CompiledHooks, BackwardThroughAnOlderHistory) {
  const Tensor v = ones({2}).requires_grad_(), w = ones({2}).requires_grad_();
  auto f = compile([](const Tensor& x) { (x * x).sum().backward(); });
  for (int k = 0; k < 6; ++k) {
    const Tensor& leaf = k % 2 == 0 ? v : w;
    leaf.mutable_grad().reset();
    f(leaf * (k + 1));
    expect_same(leaf.grad(), full({2}, 2.0f * float(k + 1) * float(k + 1)));
  }
}

// The source of an argument is captured too: its gradient has two ways.
TEST(CompiledHooks, AnArgumentMadeOfWhatIsCaptured) {
  const Tensor w = sample({2, 2}).requires_grad_();
  const auto body = [&](const Tensor& x) { return x.mm(w).square().mean(); };
  auto f = compile(body);
  for (int k = 0; k < 12; ++k) {
    expect_same(autograd::grad({f(w * k + 1)}, {w})[0],
                autograd::grad({body(w * k + 1)}, {w})[0]);
  }
}

TEST(CompiledHooks, RequiresGradIsChangedWithin) {
  Tensor w = sample({3}).requires_grad_();
  auto f = compile([&](const Tensor& x) {
    w.requires_grad_(false);
    const Tensor y = x * w;
    w.requires_grad_(true);
    return y + (x * w).detach();
  });
  for (int k = 0; k < 4; ++k) {
    EXPECT_FALSE(f(sample({3})).requires_grad());
    EXPECT_TRUE(w.requires_grad());
  }
}

}  // namespace

}  // namespace sy
