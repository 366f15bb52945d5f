#include <gtest/gtest.h>

#include <sstream>

#include "frontend/nn/container/module_list.h"
#include "frontend/nn/container/parameter_list.h"
#include "frontend/nn/container/sequential.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/samples.h"

namespace sy::test {
namespace {

struct SplitImpl : nn::Module {
  std::tuple<Tensor, Tensor> forward(Tensor x, double scale = 2) {
    return {x, x * scale};
  }
};
SY_MODULE(Split);
struct AddImpl : nn::Module {
  Tensor forward(std::tuple<Tensor, Tensor> both) {
    return std::get<0>(both) + std::get<1>(both);
  }
};
SY_MODULE(Add);

TEST(Sequential, RunsOneAfterTheOther) {
  nn::Sequential net(Layer(4, 3), nn::Functional(sy::relu), Layer(3, 2));
  const Tensor x = randn({5, 4});
  const Tensor by_hand =
      net->at<LayerImpl>(2).forward(net->at<LayerImpl>(0).forward(x).relu());
  EXPECT_TRUE(equal(net->forward(x), by_hand));
  EXPECT_TRUE(equal(net(x), by_hand));
  EXPECT_EQ(net->size(), 3u);
  EXPECT_EQ(net->parameters().size(), 4u);
  EXPECT_EQ(net->ptr(0), net[0]);
}

TEST(Sequential, HasNames) {
  nn::Sequential net(
      {{"hidden", Layer(4, 3)}, {"relu", nn::Functional(sy::relu)}});
  net->push_back("last", Layer(3, 1));
  net->push_back(Layer(1, 1));
  EXPECT_EQ(net->named_children().keys(),
            (std::vector<std::string>{"hidden", "relu", "last", "3"}));
  std::ostringstream text;
  text << net;
  EXPECT_EQ(text.str(),
            "Sequential(\n"
            "  (hidden): Layer(in=4, out=3)\n"
            "  (relu): Functional()\n"
            "  (last): Layer(in=3, out=1)\n"
            "  (3): Layer(in=1, out=1)\n"
            ")");
}

TEST(Sequential, PassesOtherTypesOn) {
  nn::Sequential net{Split(), Add()};
  const Tensor x = randn({3});
  EXPECT_TRUE(allclose(net->forward(x), x * 3));
  EXPECT_TRUE(allclose(net->forward(x, 4.0), x * 5));
  const auto [a, b] =
      nn::Sequential(Split())->forward<std::tuple<Tensor, Tensor>>(x);
  EXPECT_TRUE(equal(b, x * 2));
}

TEST(Sequential, NamesTheModuleThatDoesNotFit) {
  nn::Sequential net{Split(), Add()};
  const Tensor x = randn({3});
  SY_EXPECT_ERROR(net->forward(x, 4), TypeError,
                  "[AnyModule] Split: argument 1: expected double, got int");
  SY_EXPECT_ERROR(net->forward(x, 4.0, 5), TypeError,
                  "Split: expected 2 arguments, or fewer if the last ones "
                  "have defaults; got 3");
  SY_EXPECT_ERROR(nn::Sequential(Split())->forward(x), TypeError,
                  "[AnyValue] expected sy::Tensor, got std::tuple");
  SY_EXPECT_ERROR(nn::Sequential()->forward(x), ValueError,
                  "[Sequential] forward: it has no modules");
  SY_EXPECT_ERROR(net->ptr(2), IndexError, "expected at most 1, got 2");
  SY_EXPECT_ERROR(net->at<LayerImpl>(0), TypeError,
                  "expected sy::test::LayerImpl, got sy::test::");
  SY_EXPECT_ERROR(nn::Sequential(Layer(4, 3))(ones({1, 5})), ValueError,
                  "in Sequential\nin 0 (Layer)\n");
}

TEST(Functional, BindsArguments) {
  nn::Functional f([](const Tensor& x, double scale) { return x * scale; },
                   3.0);
  EXPECT_TRUE(equal(f(ones({2})), full({2}, 3.)));
}

TEST(ModuleList, KeepsModulesByPlace) {
  nn::ModuleList list(Layer(1, 1), Layer(2, 2));
  list->push_back(Layer(3, 3));
  list->insert(0, Layer(4, 4));
  ASSERT_EQ(list->size(), 4u);
  EXPECT_EQ(list->at<LayerImpl>(0).weight.size(0), 4);
  EXPECT_EQ(list->get_submodule("3")->as<Layer>()->weight.size(0), 3);
  int64_t sum = 0;
  for (const auto& m : *list) sum += m->as<Layer>()->weight.size(0);
  EXPECT_EQ(sum, 10);
  SY_EXPECT_ERROR(list->ptr(4), IndexError, "expected at most 3, got 4");
  SY_EXPECT_ERROR(list->at<SplitImpl>(1), TypeError, "SplitImpl, got Layer");
  SY_EXPECT_ERROR(list->insert(9, Layer(1, 1)), IndexError,
                  "expected a place up to 4, got 9");
}

TEST(ModuleDict, KeepsModulesByKey) {
  nn::ModuleDict dict;
  dict->insert("a", Layer(1, 1));
  dict->insert("b", Layer(2, 2));
  dict->insert("a", Layer(3, 3));
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(dict->at<LayerImpl>("a").weight.size(0), 3);
  EXPECT_TRUE(dict->contains("b"));
  const auto popped = dict->pop("b");
  EXPECT_NE(popped->as<Layer>(), nullptr);
  EXPECT_EQ(dict->size(), 1u);
  SY_EXPECT_ERROR(dict["b"], IndexError, "expected one of 1 names, got 'b'");
  SY_EXPECT_ERROR(dict->pop("b"), ValueError, "has no module 'b'");
  dict->clear();
  EXPECT_TRUE(dict->empty());
}

TEST(ParameterList, KeepsParameters) {
  nn::ParameterList list(randn({2}).requires_grad_(), randn({3}));
  EXPECT_EQ(list->size(), 2u);
  EXPECT_TRUE(list[0].requires_grad());
  EXPECT_FALSE(list[1].requires_grad());
  EXPECT_EQ(list->parameters().size(), 2u);
  SY_EXPECT_ERROR(list->at(2), IndexError, "expected at most 1, got 2");
}

TEST(ParameterDict, KeepsParametersByKey) {
  nn::ParameterDict dict;
  dict->insert("a", randn({2}));
  dict->insert("b", randn({3}));
  dict->insert("a", randn({4}));
  EXPECT_EQ(dict->size(), 2u);
  EXPECT_EQ(dict["a"].size(0), 4);
  EXPECT_EQ(dict->pop("b").size(0), 3);
  SY_EXPECT_ERROR(dict["b"], IndexError, "got 'b'");
  std::ostringstream text;
  text << dict;
  EXPECT_EQ(text.str(),
            "ParameterDict(\n  (a): Parameter of float32 [4] on cpu\n)");
}

}  // namespace
}  // namespace sy::test
