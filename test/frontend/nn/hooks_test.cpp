#include <gtest/gtest.h>

#include "autograd/node.h"
#include "frontend/nn/module_hooks.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

using Grads = std::vector<Tensor>;

TEST(Hooks, SeeAndReplaceInputsAndOutputs) {
  const Layer layer(4, 3);
  const Tensor x = randn({2, 4});
  const Tensor plain = layer(x);
  auto before = layer->register_forward_pre_hook(
      [](nn::Module&, Grads& inputs) { inputs[0] = inputs[0] * 2; });
  Tensor seen;
  auto after = layer->register_forward_hook(
      [&](nn::Module& m, TensorList inputs, Grads& outputs) {
        EXPECT_EQ(&m, layer.get());
        seen = inputs[0];
        outputs[0] = outputs[0] + 1;
      });
  EXPECT_TRUE(equal(layer(x), layer->forward(x * 2) + 1));
  EXPECT_TRUE(equal(seen, x * 2));
  before.remove();
  after.remove();
  after.remove();
  EXPECT_TRUE(equal(layer(x), plain));
}

TEST(Hooks, OfBackwardSeeAllGradients) {
  struct PairImpl : nn::Module {
    std::tuple<Tensor, Tensor> forward(const Tensor& a, const Tensor& b,
                                       double scale) {
      return {a * b, a * scale};
    }
  };
  nn::ModuleHolder<PairImpl> pair;
  Grads in, out;
  int pre = 0, calls = 0;
  pair->register_full_backward_pre_hook([&](nn::Module&, Grads& grads) {
    ++pre;
    EXPECT_EQ(grads.size(), 2u);
  });
  pair->register_full_backward_hook(
      [&](nn::Module&, Grads& grad_inputs, TensorList grad_outputs) {
        ++calls;
        in = grad_inputs;
        out.assign(grad_outputs.begin(), grad_outputs.end());
        grad_inputs[0] = grad_inputs[0] * 10;
      });
  const Tensor a = full({2}, 3.).requires_grad_();
  const Tensor b = full({2}, 5.).requires_grad_();
  const auto [product, scaled] = pair(a, b, 7.0);
  (product.sum() + scaled.sum() * 2).backward();
  EXPECT_EQ(pre, 1);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(in.size(), 2u);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(equal(in[0], full({2}, 5. + 2 * 7)));
  EXPECT_TRUE(equal(in[1], full({2}, 3.)));
  EXPECT_TRUE(equal(out[1], full({2}, 2.)));
  EXPECT_TRUE(equal(a.grad(), in[0] * 10));
  EXPECT_TRUE(equal(b.grad(), in[1]));
}

TEST(Hooks, OfBackwardReplaceGradientsOfOutputs) {
  const Layer layer(4, 3);
  layer->register_full_backward_pre_hook(
      [](nn::Module&, Grads& grads) { grads[0] = grads[0] * 3; });
  const Tensor x = randn({2, 4});
  layer->forward(x).sum().backward();
  const Tensor plain = layer->bias.grad().clone();
  layer->zero_grad();
  layer(x).sum().backward();
  EXPECT_TRUE(equal(layer->bias.grad(), plain * 3));
}

TEST(Hooks, OfBackwardRunWithoutGradientsOfInputs) {
  const Layer layer(4, 3);
  Grads in;
  Tensor out;
  layer->register_full_backward_hook(
      [&](nn::Module&, Grads& grad_inputs, TensorList grad_outputs) {
        in = grad_inputs;
        out = grad_outputs[0];
      });
  layer(randn({2, 4})).sum().backward();
  ASSERT_EQ(in.size(), 1u);
  EXPECT_FALSE(in[0].defined());
  EXPECT_TRUE(equal(out, ones({2, 3})));
}

TEST(Hooks, HoldNoGraph) {
  const int64_t before = autograd::Node::live_count();
  {
    const Layer layer(4, 3);
    layer->register_full_backward_hook([](nn::Module&, Grads&, TensorList) {});
    const Tensor x = randn({2, 4}).requires_grad_();
    layer(x).sum().backward();
    layer(x);
  }
  EXPECT_EQ(autograd::Node::live_count(), before);
}

TEST(Hooks, OfAllModulesRunFirst) {
  const Layer layer(4, 3);
  std::string order;
  layer->register_forward_pre_hook(
      [&](nn::Module&, Grads&) { order += "own "; });
  auto handle = nn::register_module_forward_pre_hook(
      [&](nn::Module& m, Grads&) { order += "all:" + m.name() + " "; });
  auto after = nn::register_module_forward_hook(
      [&](nn::Module&, TensorList, Grads&) { order += "after "; });
  EXPECT_TRUE(nn::any_global_hooks());
  layer(randn({2, 4}));
  handle.remove();
  after.remove();
  EXPECT_FALSE(nn::any_global_hooks());
  layer(randn({2, 4}));
  EXPECT_EQ(order, "all:Layer own after own ");
}

TEST(Hooks, SeeTensorsInOptionalTuples) {
  struct StatefulImpl : nn::Module {
    using State = std::optional<std::tuple<Tensor, Tensor>>;
    std::pair<Tensor, State> forward(const Tensor& x, State state) {
      return {x, state};
    }
  };
  nn::ModuleHolder<StatefulImpl> m;
  size_t in = 0, out = 0;
  m->register_forward_hook([&](nn::Module&, TensorList inputs, Grads& outputs) {
    in = inputs.size();
    out = outputs.size();
  });
  m(ones({1}), StatefulImpl::State({ones({1}), ones({1})}));
  EXPECT_EQ(in, 3u);
  EXPECT_EQ(out, 3u);
  m(ones({1}), std::nullopt);
  EXPECT_EQ(in, 1u);
}

TEST(Hooks, ErrorsReachTheCaller) {
  const Layer layer(4, 3);
  layer->register_forward_hook(
      [](nn::Module&, TensorList, Grads& outputs) { outputs.clear(); });
  SY_EXPECT_ERROR(layer(randn({2, 4})), ValueError,
                  "[module hook] outputs: expected 1 tensors, got 0");
  layer->register_forward_pre_hook(
      [](nn::Module&, Grads&) { fail(ErrorKind::Type, "from a hook"); });
  SY_EXPECT_ERROR(layer(randn({2, 4})), TypeError, "in Layer\nfrom a hook");
}

TEST(Hooks, MayRemoveThemselves) {
  const Layer layer(4, 3);
  int calls = 0;
  nn::HookHandle handle;
  handle = layer->register_forward_pre_hook([&](nn::Module&, Grads&) {
    ++calls;
    handle.remove();
  });
  layer(randn({2, 4}));
  layer(randn({2, 4}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sy::test
