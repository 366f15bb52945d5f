#include "frontend/nn/clone.h"

#include <gtest/gtest.h>

#include "frontend/nn/container/module_list.h"
#include "frontend/nn/container/parameter_list.h"
#include "frontend/nn/container/sequential.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

void expect_same_and_apart(const std::vector<Tensor>& a,
                           const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(equal(a[i], b[i]));
    EXPECT_FALSE(a[i].is_same(b[i]));
    EXPECT_FALSE(a[i].is_alias_of(b[i]));
    EXPECT_EQ(a[i].requires_grad(), b[i].requires_grad());
  }
}

TEST(Clone, HasItsOwnTensorsInItsMembers) {
  const auto net = std::make_shared<Net>();
  net->second->bias.requires_grad_(false);
  const std::shared_ptr<Net> copy = nn::clone(net);
  expect_same_and_apart(net->parameters(), copy->parameters());
  expect_same_and_apart(net->buffers(), copy->buffers());
  EXPECT_TRUE(copy->first->weight.is_same(copy->get_parameter("first.weight")));
  EXPECT_TRUE(copy->scale.is_same(copy->get_buffer("scale")));
  const Tensor x = randn({5, 4});
  EXPECT_TRUE(equal(copy->forward(x), net->forward(x)));
  {
    const NoGradGuard no_grad;
    copy->second->weight.zero_();
    copy->second->bias.zero_();
  }
  EXPECT_EQ(copy->forward(x).abs().sum().item<float>(), 0);
  EXPECT_GT(net->forward(x).abs().sum().item<float>(), 0);
}

TEST(Clone, KeepsTheTypeBehindABase) {
  const std::shared_ptr<nn::Module> layer = Layer(2, 3).ptr();
  EXPECT_NE(layer->clone()->as<Layer>(), nullptr);
}

TEST(Clone, SharedPartsStayShared) {
  struct Tied : nn::Module {
    Tied() {
      a = register_module("a", Layer(2, 2));
      b = register_module("b", a);
      weight = register_parameter("weight", a->weight);
    }
    Layer a{nullptr}, b{nullptr};
    nn::Parameter weight;
  };
  const auto tied = std::make_shared<Tied>();
  const auto copy = nn::clone(tied);
  EXPECT_EQ(copy->a.get(), copy->b.get());
  EXPECT_NE(copy->a.get(), tied->a.get());
  EXPECT_TRUE(copy->weight.is_same(copy->a->weight));
}

TEST(Clone, ContainersFollow) {
  nn::Sequential net(Layer(4, 3), nn::Functional(sy::relu), Layer(3, 2));
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
  ASSERT_NE(copy, nullptr);
  expect_same_and_apart(net->parameters(), copy->parameters());
  {
    const NoGradGuard no_grad;
    for (const Tensor& p : copy->parameters()) p.zero_();
  }
  const Tensor x = randn({5, 4});
  EXPECT_EQ(copy->forward(x).abs().sum().item<float>(), 0);

  nn::ModuleList list(Layer(1, 2), Layer(2, 3));
  const auto list2 =
      std::dynamic_pointer_cast<nn::ModuleListImpl>(list->clone());
  EXPECT_EQ(list2->ptr(1), list2->get_submodule("1"));
  nn::ParameterList parameters(randn({2}), randn({3}));
  const auto p2 =
      std::dynamic_pointer_cast<nn::ParameterListImpl>(parameters->clone());
  EXPECT_TRUE(p2->at(1).is_same(p2->get_parameter("1")));
  EXPECT_FALSE(p2->at(1).is_same(parameters->at(1)));
}

TEST(Clone, GoesToADevice) {
  const auto net = std::make_shared<Net>();
  EXPECT_TRUE(nn::clone(net, Device(kMeta))->first->weight.is_meta());
  EXPECT_FALSE(net->first->weight.is_meta());
}

TEST(Clone, TakesHooksAlong) {
  const auto net = std::make_shared<Net>();
  int calls = 0;
  net->first->register_forward_hook(
      [&](nn::Module&, TensorList, std::vector<Tensor>&) { ++calls; });
  nn::clone(net)->forward(ones({1, 4}));
  EXPECT_EQ(calls, 1);
}

TEST(Clone, RefusesMembersThatDoNotFollow) {
  struct Plain : nn::Module {
    Plain() { w = register_parameter("w", ones({2})); }
    Tensor w;
  };
  SY_EXPECT_ERROR(nn::clone(std::make_shared<Plain>()), NotImplementedError,
                  "[clone] 'w': the module keeps it in a member that does not "
                  "follow the copy: expected a sy::nn::Parameter");
  struct Pointer : nn::Module {
    Pointer() { layer = register_module("layer", Layer(1, 1)); }
    std::shared_ptr<LayerImpl> layer;
  };
  SY_EXPECT_ERROR(nn::clone(std::make_shared<Pointer>()), NotImplementedError,
                  "[clone] 'layer' (Layer): a module keeps it in a member");
}

TEST(Clone, RefusesTypesThatItDoesNotKnow) {
  const auto net = std::make_shared<Net>();
  SY_EXPECT_ERROR(net->clone(), NotImplementedError,
                  "[clone] Net: clone() does not know its type");
  struct NoCopy : nn::Module {
    NoCopy() = default;
    NoCopy(const NoCopy&) = delete;
  };
  SY_EXPECT_ERROR(nn::clone(std::make_shared<NoCopy>()), NotImplementedError,
                  "[clone] NoCopy: its type has no copy constructor");
}

TEST(Clone, ACopyIsNoClone) {
  const Layer layer(2, 2);
  const Layer same = layer;
  EXPECT_EQ(layer.get(), same.get());
  const nn::Parameter weight = layer->weight;
  EXPECT_TRUE(weight.is_same(layer->weight));
}

}  // namespace
}  // namespace sy::test
