#include "frontend/nn/modules/normalization.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/normalization.h"
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

test::NnCases modules() {
  return {
      {"LayerNorm",
       module_case(+[] { return LayerNorm(std::vector<int64_t>{4}); })},
      {"LayerNorm_options", module_case(+[] {
         return LayerNorm(
             LayerNormOptions({2, 3}).eps(0.5).elementwise_affine(false));
       })},
      {"LayerNorm_shape", module_case(+[] {
         return LayerNorm(LayerNormOptions({2, 2}));
       })},
      {"LayerNorm_no_bias", module_case(+[] {
         return LayerNorm(LayerNormOptions({2, 2}).eps(0.5).bias(false));
       })},
      {"RMSNorm",
       module_case(+[] { return RMSNorm(std::vector<int64_t>{4}); })},
      {"RMSNorm_options", module_case(+[] {
         return RMSNorm(
             RMSNormOptions({2, 3}).eps(0.5).elementwise_affine(false));
       })},
      {"GroupNorm", module_case(+[] { return GroupNorm(2, 4); })},
      {"GroupNorm_options", module_case(+[] {
         return GroupNorm(GroupNormOptions(3, 6).eps(0.5).affine(false));
       })},
      {"LocalResponseNorm", module_case(+[] { return LocalResponseNorm(2); })},
      {"LocalResponseNorm_options", module_case(+[] {
         return LocalResponseNorm(
             LocalResponseNormOptions(3).alpha(0.5).beta(0.25).k(2));
       })},
      {"LocalResponseNorm_5d", module_case(+[] {
         return LocalResponseNorm(LocalResponseNormOptions(3).alpha(0.5));
       })},
      {"CrossMapLRN2d", module_case(+[] { return CrossMapLRN2d(3); })},
      {"CrossMapLRN2d_options", module_case(+[] {
         return CrossMapLRN2d(
             CrossMapLRN2dOptions(4).alpha(0.5).beta(0.25).k(2));
       })},
      {"CrossMapLRN2d_one", module_case(+[] {
         return CrossMapLRN2d(CrossMapLRN2dOptions(5).alpha(0.5));
       })},
  };
}

test::NnCases functions() {
  return {
      {"layer_norm", function_case([](In x) {
         return F::layer_norm(x[0], F::LayerNormFuncOptions({3}));
       })},
      {"layer_norm_options", function_case([](In x) {
         return F::layer_norm(
             x[0],
             F::LayerNormFuncOptions({2, 2}).weight(x[1]).bias(x[2]).eps(0.5));
       })},
      {"rms_norm", function_case([](In x) {
         return F::rms_norm(x[0], F::RMSNormFuncOptions({3}));
       })},
      {"rms_norm_options", function_case([](In x) {
         return F::rms_norm(
             x[0], F::RMSNormFuncOptions({2, 2}).weight(x[1]).eps(0.5));
       })},
      {"group_norm", function_case([](In x) {
         return F::group_norm(x[0], F::GroupNormFuncOptions(2));
       })},
      {"group_norm_options", function_case([](In x) {
         return F::group_norm(
             x[0], F::GroupNormFuncOptions(2).weight(x[1]).bias(x[2]).eps(0.5));
       })},
      {"local_response_norm", function_case([](In x) {
         return F::local_response_norm(
             x[0],
             F::LocalResponseNormFuncOptions(3).alpha(0.5).beta(0.25).k(2));
       })},
      {"normalize", function_case([](In x) { return F::normalize(x[0]); })},
      {"normalize_options", function_case([](In x) {
         return F::normalize(x[0],
                             F::NormalizeFuncOptions().p(3).dim(0).eps(1.5));
       })},
  };
}

TEST(Normalization, GivesWhatPyTorchGives) {
  test::NnCases all = modules();
  all.merge(functions());
  test::check_recorded("normalization.safetensors", all);
}

TEST(Normalization, WritesToOut) {
  const Tensor x = randn({2, 3}), out = empty({2, 3});
  const Tensor y = F::normalize(x, F::NormalizeFuncOptions().out(out));
  EXPECT_TRUE(y.is_same(out));
  EXPECT_TRUE(equal(out, F::normalize(x)));
}

TEST(Normalization, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(LayerNorm(LayerNormOptions({2, 3}))),
            "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=True)");
  EXPECT_EQ(
      printed(LayerNorm(LayerNormOptions({2, 3}).bias(false))),
      "LayerNorm((2, 3), eps=1e-05, elementwise_affine=True, bias=False)");
  EXPECT_EQ(printed(LayerNorm(LayerNormOptions({3}).elementwise_affine(false))),
            "LayerNorm((3,), eps=1e-05, elementwise_affine=False, bias=False)");
  EXPECT_EQ(printed(RMSNorm(std::vector<int64_t>{4})),
            "RMSNorm((4,), eps=None, elementwise_affine=True)");
  EXPECT_EQ(printed(GroupNorm(2, 4)),
            "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)");
  EXPECT_EQ(printed(LocalResponseNorm(2)),
            "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)");
  EXPECT_EQ(printed(CrossMapLRN2d(2)),
            "CrossMapLRN2d(2, alpha=0.0001, beta=0.75, k=1)");
}

TEST(Normalization, StartsWithOnesAndZeros) {
  LayerNorm layer(LayerNormOptions({2, 3}));
  GroupNorm group(2, 4);
  RMSNorm rms(std::vector<int64_t>{4});
  const auto check = [&] {
    EXPECT_TRUE(equal(layer->weight, ones({2, 3})));
    EXPECT_TRUE(equal(layer->bias, zeros({2, 3})));
    EXPECT_TRUE(equal(group->weight, ones({4})));
    EXPECT_TRUE(equal(group->bias, zeros({4})));
    EXPECT_TRUE(equal(rms->weight, ones({4})));
  };
  check();
  for (Module* m :
       {static_cast<Module*>(layer.get()), static_cast<Module*>(group.get()),
        static_cast<Module*>(rms.get())}) {
    NoGradGuard no_grad;
    for (const Tensor& t : m->parameters()) t.fill_(7);
  }
  layer->reset_parameters();
  group->reset_parameters();
  rms->reset_parameters();
  check();
  EXPECT_EQ(clone(rms.ptr())->parameters().size(), 1);
}

TEST(Normalization, LayersWithoutABiasHaveAWeightOnly) {
  LayerNorm layer(LayerNormOptions({4}).bias(false));
  EXPECT_EQ(layer->state_dict().keys(), std::vector<std::string>{"weight"});
  EXPECT_FALSE(layer->bias.defined());
  layer->reset_parameters();
  EXPECT_EQ(clone(layer.ptr())->parameters().size(), 1u);
  const LayerNorm none(LayerNormOptions({4}).elementwise_affine(false));
  EXPECT_TRUE(none->parameters().empty());
}

TEST(Normalization, NamesWrongOptionsAndInputs) {
  EXPECT_EQ(value_error([] { LayerNorm(std::vector<int64_t>{}); }),
            "[LayerNorm] normalized_shape: expected at least one size, got []");
  EXPECT_EQ(value_error([] { GroupNorm(0, 4); }),
            "[GroupNorm] num_groups: expected at least 1, got 0");
  EXPECT_EQ(value_error([] { GroupNorm(3, 4); }),
            "[GroupNorm] num_channels: expected a multiple of the 3 groups, "
            "got 4");
  EXPECT_EQ(value_error([] {
              LocalResponseNorm(3)->forward(ones({2, 2}));
            }),
            "[local_response_norm] input: expected at least 3 dimensions, "
            "got 2");
  EXPECT_EQ(value_error([] {
              CrossMapLRN2d(3)->forward(ones({2, 2, 2}));
            }),
            "[CrossMapLRN2d] input: expected 4 dimensions, got 3");
  EXPECT_EQ(value_error([] {
              CrossMapLRN2d(0)->forward(ones({1, 2, 1, 1}));
            }),
            "[CrossMapLRN2d] size: expected at least 1, got 0");
}

}  // namespace
}  // namespace sy::nn
