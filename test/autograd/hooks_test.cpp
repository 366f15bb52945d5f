#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "autograd/api.h"
#include "autograd/hooks.h"
#include "c10/memory/allocator.h"
#include "test/autograd/sample_ops.h"
#include "test/c10/expect_error.h"

// Hooks of tensors and nodes: when they run, what they may change, what is said
// when they fail, and that nothing stays behind.

namespace sy::sample {
namespace {

using namespace sy::autograd;  // NOLINT
using sy::autograd::Node;
using V = std::vector<double>;

Tensor scaled(const Tensor& t, double by) { return mul(t, tensor({by}, {})); }

// The innermost error's text among nested ones.
std::string nested_text(const std::exception& e) {
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception& inner) {
    return inner.what();
  }
  return "";
}

TEST(TensorHooks, SeeAndReplaceTheGradient) {
  const Tensor a = tensor({1, 2}, {2}), b = tensor({3, 4}, {2});
  a.requires_grad_();
  const Tensor y = mul(a, b);
  V seen;
  y.register_hook([&](const Tensor& g) { seen = values(g); });
  y.register_hook([](const Tensor& g) { return scaled(g, 10); });
  a.register_hook([](const Tensor& g) { return scaled(g, 2); });
  a.register_hook([](const Tensor&) { return Tensor(); });  // no change
  sum(y).backward();
  EXPECT_EQ(seen, V({1, 1}));
  EXPECT_EQ(values(a.grad()), V({60, 80}));
}

TEST(TensorHooks, RunOnceOnTheWholeGradient) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  const Tensor m = mul(a, a);
  int calls = 0;
  V seen;
  m.register_hook([&](const Tensor& g) {
    ++calls;
    seen = values(g);
  });
  add(mul(m, m), m).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(seen, V({2 * 9 + 1}));
}

TEST(TensorHooks, RunBeforeWhatIsKeptAndWhatGradReturns) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  const Tensor m = mul(a, a);
  m.retain_grad();
  m.register_hook([](const Tensor& g) { return scaled(g, 5); });
  a.register_hook([](const Tensor& g) { return scaled(g, 7); });
  EXPECT_EQ(values(grad(m, {m, a}, {}, true)[0]), V({5}));
  EXPECT_EQ(values(grad(m, {m, a}, {}, true)[1]), V({5 * 6 * 7}));
  m.backward();
  EXPECT_EQ(values(m.grad()), V({5}));
}

TEST(TensorHooks, RunOnEachOutputOfANode) {
  const Tensor a = numbers({2});
  const auto [s, c] = ops::sincos::call(a);
  int sines = 0, cosines = 0;
  s.register_hook([&](const Tensor&) { ++sines; });
  c.register_hook([&](const Tensor&) { ++cosines; });
  sum(c).backward();
  EXPECT_EQ(sines, 0) << "nothing flows there";
  EXPECT_EQ(cosines, 1);
}

TEST(TensorHooks, StayWithTheValueBeforeAWrite) {
  const Tensor a = tensor({3}, {1}), two = tensor({2}, {1});
  a.requires_grad_();
  Tensor y = mul(a, two);
  V before, after;
  y.register_hook([&](const Tensor& g) { before = values(g); });
  mul_(y, two);
  y.register_hook([&](const Tensor& g) { after = values(g); });
  y.backward();
  EXPECT_EQ(before, V({2}));
  EXPECT_EQ(after, V({1}));
}

TEST(TensorHooks, OnViewsWhoseHistoryIsMadeAnew) {
  const Tensor a = numbers({4});
  Tensor base = clone(a);
  const Tensor v = view(base, {2, 2});
  mul_(base, a);  // v's own history is outdated now
  int calls = 0;
  v.register_hook([&](const Tensor&) { ++calls; });
  sum(v).backward();
  EXPECT_EQ(calls, 1);
}

TEST(TensorHooks, AreRecordedUnderCreateGraph) {
  const Tensor x = tensor({3}, {1});
  x.requires_grad_();
  x.register_hook([&](const Tensor& g) { return mul(g, g); });
  const Tensor g = grad(mul(x, x), x, {}, {}, /*create_graph=*/true)[0];
  EXPECT_EQ(values(g), V({36}));
  // d (2x)^2 / dx = 8x, which the hook squares again
  EXPECT_EQ(values(grad(g, x)[0]), V({24 * 24}));
}

TEST(TensorHooks, RemovedByTheirHandle) {
  const Tensor a = numbers({1});
  int calls = 0;
  HookHandle first = a.register_hook([&](const Tensor&) { ++calls; });
  const HookHandle second = a.register_hook([&](const Tensor&) { ++calls; });
  EXPECT_TRUE(first.active());
  first.remove();
  first.remove();
  EXPECT_FALSE(first.active());
  mul(a, a).backward();
  EXPECT_EQ(calls, 1);
  a.remove_hook(second);
  mul(a, a).backward();
  EXPECT_EQ(calls, 1);
  HookHandle().remove();
}

TEST(TensorHooks, MayRemoveThemselvesAndRegisterOthers) {
  const Tensor a = numbers({1});
  int first = 0, second = 0;
  HookHandle handle;
  handle = a.register_hook([&](const Tensor&) {
    ++first;
    handle.remove();
    a.register_hook([&](const Tensor&) { ++second; });
  });
  mul(a, a).backward();
  mul(a, a).backward();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(TensorHooks, NeedAGradient) {
  SY_EXPECT_ERROR(numbers({1}, false).register_hook([](const Tensor&) {}),
                  ValueError,
                  "[register_hook] self: expected a tensor that requires a "
                  "gradient, got float64[1]");
  SY_EXPECT_ERROR(Tensor().register_hook([](const Tensor&) {}), ValueError,
                  "got undefined");
}

TEST(HookErrors, WrongResultsAreNamed) {
  const Tensor a = numbers({2});
  const Tensor y = mul(a, a), z = sum(y);
  const auto expect = [&](Tensor wrong, const char* text) {
    HookHandle h = y.register_hook([wrong](const Tensor&) { return wrong; });
    SY_EXPECT_ERROR(z.backward({}, true), ValueError, text);
    SY_EXPECT_ERROR(z.backward({}, true), ValueError,
                    "[sample::mul backward] the hook registered at ");
    SY_EXPECT_ERROR(z.backward({}, true), ValueError, "hooks_test.cpp:");
    h.remove();
  };
  expect(tensor({1, 2, 3}, {3}),
         "should give float64[2] on cpu for output 0 of sample::mul.Tensor, "
         "gave float64[3] on cpu");
  expect(numbers({2}, false, kFloat), "gave float32[2] on cpu");
  expect(Tensor(make_tensor({2}, kDouble, Device(kMeta))),
         "gave float64[2] on meta");
  EXPECT_FALSE(a.grad().defined());
  z.backward();  // the graph is as it was
  EXPECT_TRUE(a.grad().defined());
}

TEST(HookErrors, WhatAHookThrowsNamesNodeAndPlace) {
  const Tensor a = numbers({1});
  const Tensor y = mul(a, a);
  HookHandle h = y.register_hook(
      [](const Tensor&) { fail(ErrorKind::Index, "[mine] out of range"); });
  SY_EXPECT_ERROR(y.backward({}, true), IndexError, "[mine] out of range");
  SY_EXPECT_ERROR(y.backward({}, true), IndexError,
                  "in the gradient of sample::mul.Tensor");
  h.remove();
  h = y.register_hook(
      [](const Tensor&) { throw std::runtime_error("not ours"); });
  try {
    y.backward({}, true);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("not ours"), std::string::npos);
    EXPECT_NE(e.message().find("hooks_test.cpp:"), std::string::npos);
    EXPECT_EQ(nested_text(e), "not ours");
  }
  h.remove();
  y.backward();
  EXPECT_TRUE(a.grad().defined());
}

TEST(LeafHooks, RunAfterTheSum) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  std::vector<V> seen;
  HookHandle h = a.register_post_accumulate_grad_hook(
      [&](const Tensor& leaf) { seen.push_back(values(leaf.grad())); });
  mul(a, a).backward();
  mul(a, a).backward();
  EXPECT_EQ(seen, (std::vector<V>{{6}, {12}}));
  h.remove();
  mul(a, a).backward();
  EXPECT_EQ(seen.size(), 2u);
  grad(mul(a, a), a);
  EXPECT_EQ(seen.size(), 2u) << "grad() adds to no leaf";
}

TEST(LeafHooks, MayStepAndFreeTheGradient) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  a.register_post_accumulate_grad_hook([](const Tensor& leaf) {
    const NoGradGuard guard;
    Tensor w = leaf;
    add_(w, leaf.grad(), -0.5);
    leaf.mutable_grad().reset();
  });
  mul(a, a).backward();
  EXPECT_EQ(values(a), V({0}));
  EXPECT_FALSE(a.grad().defined());
}

TEST(LeafHooks, MayRunBackwardToTheSameLeaf) {
  const Tensor a = tensor({3}, {1});
  a.requires_grad_();
  int depth = 0;
  a.register_post_accumulate_grad_hook([&](const Tensor& leaf) {
    if (depth++ > 0) return;
    const AutoGradMode on(true);
    mul(leaf, leaf).backward();
  });
  mul(a, a).backward();
  EXPECT_EQ(depth, 2);
  EXPECT_EQ(values(a.grad()), V({12}));
}

TEST(LeafHooks, AreForLeaves) {
  const Tensor a = numbers({1}), y = mul(a, a);
  SY_EXPECT_ERROR(y.register_post_accumulate_grad_hook([](const Tensor&) {}),
                  ValueError,
                  "[register_post_accumulate_grad_hook] self: expected a leaf, "
                  "got the result of sample::mul.Tensor");
  a.register_post_accumulate_grad_hook(
      [](const Tensor&) { fail(ErrorKind::Value, "[step] no"); });
  SY_EXPECT_ERROR(y.backward(), ValueError, "hooks_test.cpp:");
}

TEST(LeafHooks, OutliveAChangeOfTheLeafsSize) {
  Tensor a = numbers({2});
  int calls = 0;
  a.register_post_accumulate_grad_hook([&](const Tensor&) { ++calls; });
  sum(a).backward();
  a.mutable_grad().reset();
  a.impl()->set_sizes_contiguous({1});
  sum(a).backward();
  EXPECT_EQ(calls, 2);
}

TEST(NodeHooks, GradFnIsAHandle) {
  const Tensor a = numbers({2}), b = numbers({2});
  EXPECT_EQ(a.grad_fn(), nullptr);
  EXPECT_EQ(Tensor().grad_fn(), nullptr);
  const Tensor y = mul(exp(a), b);
  const auto node = y.grad_fn();
  EXPECT_EQ(node->name(), "sample::mul.Tensor");
  ASSERT_EQ(node->num_edges(), 2u);
  EXPECT_EQ(node->edge(0).node->name(), "sample::exp");
  EXPECT_EQ(node->edge(1).node->name(), "AccumulateGrad");
}

TEST(NodeHooks, BeforeAndAfter) {
  const Tensor a = tensor({2}, {1}), b = tensor({3}, {1});
  a.requires_grad_();
  b.requires_grad_();
  const Tensor y = mul(a, b);
  const auto node = y.grad_fn();
  std::vector<V> in, out;
  node->register_pre_hook([](const std::vector<Tensor>& grads) {
    return std::vector<Tensor>{scaled(grads[0], 10)};
  });
  node->register_pre_hook([&](const std::vector<Tensor>& grads) {
    in.push_back(values(grads[0]));
  });
  HookHandle post = node->register_post_hook(
      [&](const std::vector<Tensor>& grads, const std::vector<Tensor>& given) {
        EXPECT_EQ(values(given[0]), V({10}));
        out = {values(grads[0]), values(grads[1])};
        return std::vector<Tensor>{grads[0], scaled(grads[1], 100)};
      });
  y.backward({}, /*retain_graph=*/true);
  EXPECT_EQ(in, (std::vector<V>{{10}}));
  EXPECT_EQ(out, (std::vector<V>{{30}, {20}}));
  EXPECT_EQ(values(a.grad()), V({30}));
  EXPECT_EQ(values(b.grad()), V({2000}));
  post.remove();
  EXPECT_EQ(values(grad(y, b)[0]), V({20}));
}

TEST(NodeHooks, WrongResultsAreNamed) {
  const Tensor a = numbers({2}), y = mul(a, a), z = sum(y);
  HookHandle h =
      y.grad_fn()->register_pre_hook([](const std::vector<Tensor>& g) {
        return std::vector<Tensor>{g[0], g[0]};
      });
  SY_EXPECT_ERROR(z.backward({}, true), ValueError,
                  "expected 1 gradients, got 2");
  SY_EXPECT_ERROR(z.backward({}, true), ValueError,
                  "in the gradient of sample::mul.Tensor");
  h.remove();
  h = y.grad_fn()->register_post_hook(
      [](const std::vector<Tensor>& g, const std::vector<Tensor>&) {
        return std::vector<Tensor>{g[0], tensor({1}, {1})};
      });
  SY_EXPECT_ERROR(z.backward({}, true), ValueError,
                  "should give float64[2] on cpu for input 1 of "
                  "sample::mul.Tensor, gave float64[1] on cpu");
  h.remove();
  z.backward();
}

TEST(HookMemory, GraphsAndHooksComeAndGo) {
  const int64_t before = Node::live_count();
  {
    const Tensor a = numbers({2});
    for (int i = 0; i < 1000; ++i) {
      const Tensor y = mul(a, a);
      y.register_hook([](const Tensor& g) { return g; });
      a.register_hook([](const Tensor&) {}).remove();
      y.grad_fn()->register_post_hook(
          [](const std::vector<Tensor>&, const std::vector<Tensor>&) {});
      sum(y).backward();
    }
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(HookMemory, RemoveBreaksACycle) {
  const int64_t before = Node::live_count();
  {
    const Tensor a = numbers({2});
    const Tensor y = mul(a, a);
    HookHandle h = y.register_hook([y](const Tensor& g) { return mul(g, y); });
    h.remove();
  }
  EXPECT_EQ(Node::live_count(), before);
}

// Every kind of hook that holds what it belongs to, run and removed: neither a
// node nor a tensor is left, whether backward ran to its end or a hook threw.
TEST(HookMemory, CyclesLeaveNothingOnceRemoved) {
  const int64_t nodes = Node::live_count();
  const int64_t bytes = memory_stats().allocated;
  for (int i = 0; i < 200; ++i) {
    const bool fails = i % 3 == 2;
    const Tensor a = numbers({1000});
    const Tensor y = mul(a, a), z = sum(y);
    y.retain_grad();
    std::vector<HookHandle> handles;
    handles.push_back(
        y.register_hook([y](const Tensor& g) { return mul(g, y.detach()); }));
    handles.push_back(a.register_post_accumulate_grad_hook(
        [a, z](const Tensor& leaf) { EXPECT_TRUE(leaf.is_same(a)); }));
    handles.push_back(
        y.grad_fn()->register_pre_hook([y, fails](const std::vector<Tensor>&) {
          if (fails) fail(ErrorKind::Value, "[mine] no");
        }));
    handles.push_back(y.grad_fn()->register_post_hook(
        [y](const std::vector<Tensor>&, const std::vector<Tensor>&) {}));
    if (fails) {
      SY_EXPECT_ERROR(z.backward({}, false, i % 2 == 0), ValueError, "no");
    } else {
      z.backward({}, false, /*create_graph=*/i % 2 == 0);
    }
    for (HookHandle& h : handles) h.remove();
    a.mutable_grad().reset();  // under create_graph it refers to its leaf
    y.mutable_grad().reset();
  }
  EXPECT_EQ(Node::live_count(), nodes);
  EXPECT_EQ(memory_stats().allocated, bytes);
}

TEST(HookThreads, RunForEachBackward) {
  const Tensor a = numbers({1});
  std::atomic<int> inner{0}, leaf{0};
  const Tensor y = mul(a, a);
  y.register_hook([&](const Tensor& g) {
    ++inner;
    return scaled(g, 1);
  });
  a.register_post_accumulate_grad_hook([&](const Tensor&) { ++leaf; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        y.backward({}, /*retain_graph=*/true);
        HookHandle h =
            a.register_post_accumulate_grad_hook([](const Tensor&) {});
        h.remove();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(inner, 160);
  EXPECT_EQ(leaf, 160);
}

}  // namespace
}  // namespace sy::sample
