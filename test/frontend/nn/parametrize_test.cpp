#include "frontend/nn/utils/parametrize.h"

#include <gtest/gtest.h>
#include <sy/sy.h>

#include "frontend/nn/modules/conv.h"
#include "frontend/nn/modules/linear.h"
#include "test/c10/expect_error.h"
#include "test/frontend/nn/recorded.h"

namespace sy::test {
namespace {

namespace parametrize = nn::utils::parametrize;
using parametrize::Parametrization;

struct Symmetric : Parametrization {
  Tensor compute(TensorList x) override {
    return x[0].triu() + x[0].triu(1).transpose(0, 1);
  }
};
struct Doubled : Parametrization {
  Tensor compute(TensorList x) override { return x[0] * 2; }
  std::vector<Tensor> right_inverse(const Tensor& value) override {
    return {value / 2};
  }
};

TEST(Parametrize, ComputesTheParameterAtEachCall) {
  nn::Linear layer(3, 3);
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Symmetric>());
  EXPECT_TRUE(parametrize::is_parametrized(*layer));
  EXPECT_TRUE(parametrize::is_parametrized(*layer, "weight"));
  EXPECT_FALSE(parametrize::is_parametrized(*layer, "bias"));
  EXPECT_TRUE(equal(layer->weight, layer->weight.t()));
  const Tensor original =
      layer->get_parameter("parametrizations.weight.original");
  const Tensor x = randn({2, 3});
  layer(x).sum().backward();
  ASSERT_TRUE(original.grad().defined());
  EXPECT_EQ(original.grad().tril(-1).abs().sum().item<float>(), 0);
  EXPECT_GT(original.grad().abs().sum().item<float>(), 0);
  {
    const NoGradGuard no_grad;
    original.add_(1);
    layer->bias.zero_();
    EXPECT_TRUE(
        allclose(layer(x), x.mm(original.triu() + original.triu(1).t())));
  }
  EXPECT_EQ(layer->named_parameters().size(), 2u);
}

TEST(Parametrize, SeveralCallsBeforeOneBackward) {
  nn::Linear layer(3, 3);
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Doubled>());
  const Tensor x = randn({2, 3});
  (layer(x) + layer(x)).sum().backward();
  const Tensor grad =
      layer->get_parameter("parametrizations.weight.original").grad();
  EXPECT_TRUE(allclose(grad, (ones({3, 2}).mm(x) * 4)));
}

TEST(Parametrize, Chains) {
  nn::Linear layer(3, 3);
  const Tensor before = layer->weight.detach().clone();
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Doubled>());
  EXPECT_TRUE(allclose(layer->weight, before));
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Doubled>());
  EXPECT_TRUE(allclose(layer->weight, before));
  EXPECT_TRUE(allclose(layer->get_parameter("parametrizations.weight.original"),
                       before / 4));
}

TEST(Parametrize, IsRemoved) {
  nn::Linear layer(3, 3);
  const Tensor object = layer->weight;
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Symmetric>());
  const Tensor value = layer->weight.detach().clone();
  parametrize::remove_parametrizations(*layer, "weight");
  EXPECT_FALSE(parametrize::is_parametrized(*layer));
  EXPECT_TRUE(layer->weight.is_same(object));
  EXPECT_TRUE(layer->weight.is_leaf());
  EXPECT_TRUE(layer->weight.requires_grad());
  EXPECT_TRUE(equal(layer->weight.detach(), value));
  EXPECT_EQ(layer->state_dict().size(), 2u);
  layer(randn({2, 3})).sum().backward();
  EXPECT_TRUE(layer->weight.grad().defined());
}

TEST(Parametrize, GoesAlongWithClonesAndMoves) {
  nn::Linear layer(3, 3);
  nn::utils::weight_norm(*layer);
  const nn::Linear copy = nn::clone(layer.ptr());
  {
    const NoGradGuard no_grad;
    copy->get_parameter("parametrizations.weight.original0").zero_();
  }
  const Tensor x = randn({2, 3});
  EXPECT_TRUE(allclose(copy(x), copy->bias.expand({2, 3})));
  EXPECT_FALSE(allclose(layer(x), layer->bias.expand({2, 3})));
  layer->to(kDouble);
  EXPECT_EQ(layer(x.to(kDouble)).scalar_type(), kDouble);
}

TEST(Parametrize, RefusesWhatDoesNotFit) {
  struct Wrong : Parametrization {
    Tensor compute(TensorList x) override { return x[0].sum(0); }
  };
  nn::Linear layer(3, 3);
  SY_EXPECT_ERROR(parametrize::register_parametrization(
                      *layer, "weight", std::make_shared<Wrong>()),
                  ValueError,
                  "[register_parametrization] Wrong: expected a result of "
                  "float32 [3, 3], as the parameter is, got float32 [3]");
  EXPECT_TRUE(layer->weight.requires_grad());
  EXPECT_EQ(layer->parameters().size(), 2u);
  SY_EXPECT_ERROR(nn::utils::weight_norm(*layer, "w"), ValueError,
                  "Linear has no parameter 'w'; it has 'weight', 'bias'");
  SY_EXPECT_ERROR(parametrize::remove_parametrizations(*layer, "weight"),
                  ValueError, "that is computed, got 'weight'");
  SY_EXPECT_ERROR(nn::utils::spectral_norm(*layer, "weight", 0), ValueError,
                  "n_power_iterations: expected at least 1, got 0");
  SY_EXPECT_ERROR(nn::utils::spectral_norm(*layer, "weight", 1, 1e-12, 2),
                  ValueError, "dim: expected from 0 to 1, got 2");
  parametrize::register_parametrization(*layer, "weight",
                                        std::make_shared<Doubled>());
  SY_EXPECT_ERROR(nn::utils::weight_norm(*layer), ValueError,
                  "expected one original of a parametrization that is not the "
                  "first, got 2");
}

template <class Holder>
NnCase with_norm(Holder (*make)(), void (*norm)(nn::Module&)) {
  NnCase c = module_case(make);
  c.make = [make, norm]() -> std::shared_ptr<nn::Module> {
    const Holder m = make();
    norm(*m);
    return m.ptr();
  };
  c.run = [](nn::Module* m, const std::vector<Tensor>& in) {
    parametrize::refresh(*m);
    return std::vector<Tensor>{m->as<Holder>()->forward(in[0])};
  };
  return c;
}

TEST(Parametrize, NormsGiveWhatPyTorchGives) {
  const auto linear = [] { return nn::Linear(4, 3); };
  const auto conv = [] { return nn::Conv1d(nn::Conv1dOptions(2, 3, 3)); };
  check_recorded(
      "parametrize.safetensors",
      {{"weight_norm",
        with_norm<nn::Linear>(
            linear, [](nn::Module& m) { nn::utils::weight_norm(m); })},
       {"weight_norm_dim", with_norm<nn::Linear>(linear,
                                                 [](nn::Module& m) {
                                                   nn::utils::weight_norm(
                                                       m, "weight", 1);
                                                 })},
       {"spectral_norm",
        with_norm<nn::Linear>(
            linear, [](nn::Module& m) { nn::utils::spectral_norm(m); })},
       {"spectral_norm_eval",
        with_norm<nn::Linear>(
            linear, [](nn::Module& m) { nn::utils::spectral_norm(m); })},
       {"spectral_norm_conv", with_norm<nn::Conv1d>(conv, [](nn::Module& m) {
          nn::utils::spectral_norm(m, "weight", 3, 1e-12, 1);
        })}});
}

}  // namespace
}  // namespace sy::test
