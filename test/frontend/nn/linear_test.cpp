#include "frontend/nn/modules/linear.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/linear.h"
#include "sy/sy.h"
#include "test/frontend/nn/recorded.h"
#include "test/frontend/nn/text.h"

namespace sy::nn {
namespace {

namespace F = functional;
using test::function_case;
using test::module_case;
using test::printed;
using test::value_error;
using In = const std::vector<Tensor>&;

TEST(Linear, GivesWhatPyTorchGives) {
  test::check_recorded(
      "linear.safetensors",
      {{"Linear", module_case(+[] { return Linear(4, 3); })},
       {"Linear_no_bias",
        module_case(+[] { return Linear(LinearOptions(4, 3).bias(false)); })},
       {"Linear_vector", module_case(+[] { return Linear(4, 3); })},
       {"Bilinear", module_case(+[] { return Bilinear(2, 3, 4); })},
       {"Bilinear_no_bias", module_case(+[] {
          return Bilinear(BilinearOptions(2, 3, 2).bias(false));
        })},
       {"Identity", module_case(+[] { return Identity(); })},
       {"Flatten", module_case(+[] { return Flatten(); })},
       {"Flatten_dims", module_case(+[] {
          return Flatten(FlattenOptions().start_dim(0).end_dim(1));
        })},
       {"Unflatten", module_case(+[] {
          return Unflatten(UnflattenOptions(1, {2, -1}));
        })},
       {"linear", function_case([](In x) { return F::linear(x[0], x[1]); })},
       {"linear_bias",
        function_case([](In x) { return F::linear(x[0], x[1], x[2]); })},
       {"bilinear",
        function_case([](In x) { return F::bilinear(x[0], x[1], x[2]); })},
       {"bilinear_bias", function_case([](In x) {
          return F::bilinear(x[0], x[1], x[2], x[3]);
        })}});
}

TEST(Linear, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(Linear(4, 3)),
            "Linear(in_features=4, out_features=3, bias=True)");
  EXPECT_EQ(printed(Linear(LinearOptions(4, 3).bias(false))),
            "Linear(in_features=4, out_features=3, bias=False)");
  EXPECT_EQ(printed(Bilinear(2, 3, 4)),
            "Bilinear(in1_features=2, in2_features=3, out_features=4, "
            "bias=True)");
  EXPECT_EQ(printed(Identity()), "Identity()");
  EXPECT_EQ(printed(Flatten()), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_EQ(printed(Unflatten(1, std::vector<int64_t>{2, 3})),
            "Unflatten(dim=1, unflattened_size=(2, 3))");
}

TEST(Linear, StartsWithinOneOverTheRootOfFanIn) {
  const Linear m(25, 400);
  for (const Tensor& t : {m->weight, m->bias}) {
    EXPECT_LE(t.abs().max().item<float>(), 0.2f);
    EXPECT_GT(t.max().item<float>(), 0.18f);
    EXPECT_LT(t.min().item<float>(), -0.18f);
    EXPECT_TRUE(t.requires_grad() && t.is_leaf());
  }
  const Bilinear b(16, 4, 400);
  EXPECT_LE(b->weight.abs().max().item<float>(), 0.25f);
  EXPECT_GT(b->weight.abs().max().item<float>(), 0.24f);
  EXPECT_LE(b->bias.abs().max().item<float>(), 0.25f);
  EXPECT_GT(b->bias.abs().max().item<float>(), 0.23f);
}

TEST(Linear, ResetMakesParametersByTheOptions) {
  Linear m(4, 3);
  const Tensor old = m->weight;
  m->options.out_features(5).bias(false);
  m->reset();
  EXPECT_EQ(m->weight.sizes(), IntArrayRef({5, 4}));
  EXPECT_FALSE(m->bias.defined());
  EXPECT_EQ(m->parameters().size(), 1);
  EXPECT_FALSE(m->weight.is_same(old));
}

TEST(Linear, ClonesHaveTheirOwnParameters) {
  const Linear m(4, 3);
  const auto copy = clone(m.ptr());
  EXPECT_TRUE(equal(copy->weight, m->weight));
  {
    NoGradGuard no_grad;
    copy->weight.zero_();
    copy->bias.zero_();
  }
  EXPECT_EQ(copy->forward(ones({4})).abs().sum().item<float>(), 0);
  EXPECT_NE(m->forward(ones({4})).abs().sum().item<float>(), 0);
  EXPECT_TRUE(copy->get_parameter("weight").is_same(copy->weight));
  EXPECT_EQ(copy->options.out_features(), 3);
}

TEST(Linear, NamesWrongOptions) {
  EXPECT_EQ(value_error([] { Linear(-1, 3); }),
            "[Linear] in_features: expected at least 0, got -1");
  EXPECT_EQ(value_error([] { Bilinear(0, 3, 4); }),
            "[Bilinear] in1_features: expected at least 1, got 0");
}

}  // namespace
}  // namespace sy::nn
