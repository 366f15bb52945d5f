#include "frontend/nn/module.h"

#include <gtest/gtest.h>

#include <sstream>

#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

std::vector<std::string> names(const NamedTensors& tensors) {
  std::vector<std::string> all;
  for (const auto& [name, t] : tensors) all.push_back(name);
  return all;
}
using Names = std::vector<std::string>;

TEST(Module, ListsParametersBuffersAndModulesByPath) {
  const auto net = std::make_shared<Net>();
  EXPECT_EQ(
      names(net->named_parameters()),
      (Names{"first.weight", "first.bias", "second.weight", "second.bias"}));
  EXPECT_EQ(net->named_parameters(/*recurse=*/false).size(), 0u);
  EXPECT_EQ(names(net->named_buffers()), (Names{"scale", "scratch"}));
  EXPECT_EQ(net->parameters().size(), 4u);
  EXPECT_EQ(net->modules().size(), 3u);
  EXPECT_EQ(net->modules(/*include_self=*/false).size(), 2u);
  EXPECT_EQ(net->named_modules("net").keys(),
            (Names{"net", "net.first", "net.second"}));
  EXPECT_EQ(net->children().size(), 2u);
  EXPECT_EQ(net->named_children().keys(), (Names{"first", "second"}));
}

TEST(Module, FindsByPath) {
  const auto net = std::make_shared<Net>();
  EXPECT_TRUE(net->get_parameter("second.weight").is_same(net->second->weight));
  EXPECT_TRUE(net->get_buffer("scale").is_same(net->scale));
  EXPECT_EQ(net->get_submodule("first"), net->first.ptr());
  EXPECT_EQ(net->get_submodule("").get(), net.get());
  SY_EXPECT_ERROR(net->get_parameter("third.weight"), ValueError,
                  "[get_parameter] 'third.weight': Net has no module 'third'; "
                  "it has 'first', 'second'");
  SY_EXPECT_ERROR(net->get_parameter("first.a.b"), ValueError,
                  "'first' has no module 'a'; it has none");
  SY_EXPECT_ERROR(net->get_parameter("first.weigth"), ValueError,
                  "Layer has no parameter 'weigth'; it has 'weight', 'bias'");
  SY_EXPECT_ERROR(net->get_buffer("scala"), ValueError,
                  "Net has no buffer 'scala'; it has 'scale', 'scratch'");
  SY_EXPECT_ERROR(net->get_submodule("first.x"), ValueError,
                  "Layer has no module 'x'; it has none");
}

TEST(Module, SharedTensorsAndModulesAreListedOnce) {
  struct Tied : nn::Module {
    Tied() {
      const Layer layer(2, 2);
      register_module("a", layer);
      register_module("b", layer);
      register_parameter("again", layer->weight);
    }
  };
  const auto tied = std::make_shared<Tied>();
  EXPECT_EQ(tied->parameters().size(), 2u);
  EXPECT_EQ(tied->modules().size(), 2u);
  // A state dict has all names, as PyTorch's has.
  EXPECT_EQ(tied->state_dict().size(), 5u);
}

TEST(Module, RefusesNames) {
  const auto net = std::make_shared<Net>();
  SY_EXPECT_ERROR(net->register_parameter("", ones({1})), ValueError,
                  "[register_parameter] name: expected a name that Net does "
                  "not have yet, got '', an empty one");
  SY_EXPECT_ERROR(net->register_buffer("a.b", ones({1})), ValueError,
                  "got 'a.b', one with a dot");
  SY_EXPECT_ERROR(net->register_buffer("first", ones({1})), ValueError,
                  "got 'first', that of a module");
  SY_EXPECT_ERROR(net->register_module("scale", Layer(1, 1)), ValueError,
                  "got 'scale', that of a buffer");
  SY_EXPECT_ERROR(net->first->register_parameter("bias", ones({1})), ValueError,
                  "got 'bias', that of a parameter");
  SY_EXPECT_ERROR(net->register_module("x", Layer(nullptr)), ValueError,
                  "expected a sy::test::LayerImpl, got an empty holder");
  SY_EXPECT_ERROR(net->register_module("x", std::shared_ptr<Net>()), ValueError,
                  "'x': expected a module, got an empty pointer");
}

TEST(Module, RefusesToContainItself) {
  const auto net = std::make_shared<Net>();
  SY_EXPECT_ERROR(net->register_module("x", net), ValueError,
                  "'x': expected a module that does not contain Net");
  SY_EXPECT_ERROR(net->first->register_module("x", net), ValueError,
                  "expected a module that does not contain Layer, which "
                  "registers it; it does at 'first'");
  SY_EXPECT_ERROR(net->first->replace_module("x", net), ValueError,
                  "[replace_module] name: expected one of none, got 'x'");
}

TEST(Module, RefusesResultsAsParameters) {
  nn::Module m;
  const Tensor w = ones({2}).requires_grad_();
  SY_EXPECT_ERROR(m.register_parameter("w", w * 2), ValueError,
                  "'w': expected a leaf, got the result of a recorded "
                  "operation");
}

TEST(Module, ModulesAreReplacedAndTakenOut) {
  const auto net = std::make_shared<Net>();
  const Layer other(3, 2);
  net->second = net->replace_module("second", other);
  EXPECT_TRUE(net->get_parameter("second.weight").is_same(other->weight));
  const Tensor x = randn({1, 4});
  EXPECT_TRUE(equal(net->forward(x),
                    other->forward(net->first->forward(x).tanh()) * 0.5));
  net->unregister_module("first");
  net->unregister_buffer("scratch");
  other->unregister_parameter("bias");
  EXPECT_EQ(net->state_dict().size(), 2u);
  SY_EXPECT_ERROR(net->unregister_module("first"), ValueError,
                  "[unregister_module] name: expected one of 'second', got "
                  "'first'");
  SY_EXPECT_ERROR(other->unregister_parameter("bias"), ValueError,
                  "expected one of 'weight', got 'bias'");
  SY_EXPECT_ERROR(net->unregister_buffer("scratch"), ValueError,
                  "expected one of 'scale', got 'scratch'");
}

TEST(Module, TensorsAreMadeAnewInTheirPlace) {
  nn::Module m;
  m.set_parameter("a", ones({1}));
  m.set_parameter("b", ones({2}));
  m.set_buffer("c", ones({3}));
  m.set_parameter("a", ones({4}), /*requires_grad=*/false);
  m.set_buffer("c", ones({5}), /*persistent=*/false);
  EXPECT_EQ(names(m.named_parameters()), (Names{"a", "b"}));
  EXPECT_EQ(m.get_parameter("a").size(0), 4);
  EXPECT_FALSE(m.get_parameter("a").requires_grad());
  EXPECT_EQ(m.get_buffer("c").size(0), 5);
  EXPECT_FALSE(m.state_dict().contains("c"));
  SY_EXPECT_ERROR(m.set_parameter("c", ones({1})), ValueError,
                  "got 'c', that of a buffer");
  SY_EXPECT_ERROR(m.set_parameter("a", ones({1}).requires_grad_() * 2),
                  ValueError, "'a': expected a leaf");
}

TEST(Module, Undefined) {
  nn::Module m;
  m.register_parameter("bias", Tensor());
  EXPECT_EQ(m.parameters().size(), 0u);
  EXPECT_EQ(m.state_dict().size(), 0u);
  EXPECT_FALSE(m.get_parameter("bias").defined());
}

TEST(Module, TrainsAndEvaluates) {
  const auto net = std::make_shared<Net>();
  EXPECT_TRUE(net->is_training());
  net->eval();
  EXPECT_FALSE(net->first->is_training());
  net->train();
  EXPECT_TRUE(net->first->is_training());
}

TEST(Module, DropsGradients) {
  const auto net = std::make_shared<Net>();
  net->forward(ones({1, 4})).sum().backward();
  ASSERT_TRUE(net->first->weight.grad().defined());
  net->zero_grad(/*set_to_none=*/false);
  EXPECT_EQ(net->first->weight.grad().abs().sum().item<float>(), 0);
  net->zero_grad();
  EXPECT_FALSE(net->first->weight.grad().defined());
  net->requires_grad_(false);
  EXPECT_FALSE(net->forward(ones({1, 4})).requires_grad());
}

TEST(Module, AppliesToChildrenFirst) {
  const auto net = std::make_shared<Net>();
  Names order;
  net->apply([&](const std::string& path, nn::Module& m) {
    order.push_back(path + ":" + m.name());
  });
  EXPECT_EQ(order, (Names{"first:Layer", "second:Layer", ":Net"}));
}

TEST(Module, MovesToADtypeAndStaysTheSame) {
  const auto net = std::make_shared<Net>();
  net->register_buffer("steps", zeros({}, kLong));
  const Tensor weight = net->first->weight;
  const Tensor before = weight.detach().clone();
  net->forward(ones({1, 4})).sum().backward();
  net->to(kDouble);
  EXPECT_EQ(weight.scalar_type(), kDouble);
  EXPECT_EQ(weight.grad().scalar_type(), kDouble);
  EXPECT_TRUE(weight.is_same(net->get_parameter("first.weight")));
  EXPECT_TRUE(equal(weight.detach(), before.to(kDouble)));
  EXPECT_EQ(net->get_buffer("steps").scalar_type(), kLong);
  EXPECT_EQ(net->scale.scalar_type(), kDouble);
  // Gradients arrive in the new dtype, those that are there included.
  net->forward(ones({1, 4}, kDouble)).sum().backward();
  EXPECT_EQ(weight.grad().scalar_type(), kDouble);
  net->zero_grad();
  net->half();
  net->bfloat16();
  net->to(Device(kCPU), kFloat);
  EXPECT_EQ(weight.scalar_type(), kFloat);
  SY_EXPECT_ERROR(net->to(kInt), TypeError,
                  "[Module::to] dtype: expected a floating dtype, got int32");
}

TEST(Module, MovesToAnotherDevice) {
  const auto net = std::make_shared<Net>();
  net->to(Device(kMeta));
  EXPECT_TRUE(net->first->weight.is_meta());
  EXPECT_EQ(net->forward(empty({7, 4}, Device(kMeta))).sizes(),
            (IntArrayRef{7, 2}));
}

TEST(Module, PrintsATree) {
  std::ostringstream text;
  text << Net();
  EXPECT_EQ(text.str(),
            "Net(\n"
            "  (first): Layer(in=4, out=3)\n"
            "  (second): Layer(in=3, out=2)\n"
            ")");
  text.str("");
  text << Layer(1, 2) << nn::Module("thing");
  EXPECT_EQ(text.str(), "Layer(in=1, out=2)thing()");
}

TEST(Module, ErrorsNameThePath) {
  const auto net = std::make_shared<Net>();
  try {
    const nn::ModuleHolder<Net> holder = net;
    holder(ones({1, 5}));
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_TRUE(
        std::string(e.what()).starts_with("in Net\nin first (Layer)\n["))
        << e.what();
  }
}

TEST(Module, IsOneOfATypeOrNot) {
  const std::shared_ptr<nn::Module> layer = Layer(1, 2).ptr();
  EXPECT_NE(layer->as<Layer>(), nullptr);
  EXPECT_NE(layer->as<LayerImpl>(), nullptr);
  EXPECT_EQ(layer->as<Net>(), nullptr);
}

}  // namespace
}  // namespace sy::test
