#include "frontend/nn/modules/conv.h"

#include <gtest/gtest.h>

#include "frontend/nn/functional/conv.h"
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

test::NnCases plain_modules() {
  return {
      {"Conv1d", module_case(+[] { return Conv1d(2, 3, 2); })},
      {"Conv1d_options", module_case(+[] {
         return Conv1d(Conv1dOptions(4, 2, 3)
                           .stride(2)
                           .padding(1)
                           .dilation(2)
                           .groups(2)
                           .bias(false));
       })},
      {"Conv1d_same", module_case(+[] {
         return Conv1d(Conv1dOptions(2, 2, 4).padding(kSame));
       })},
      {"Conv1d_circular", module_case(+[] {
         return Conv1d(
             Conv1dOptions(2, 2, 3).padding(2).padding_mode(kCircular));
       })},
      {"Conv2d", module_case(+[] { return Conv2d(2, 3, 2); })},
      {"Conv2d_options", module_case(+[] {
         return Conv2d(Conv2dOptions(2, 4, {1, 3})
                           .stride({2, 1})
                           .padding({0, 2})
                           .dilation({1, 2})
                           .groups(2)
                           .bias(false));
       })},
      {"Conv2d_valid", module_case(+[] {
         return Conv2d(Conv2dOptions(1, 2, 2).stride(2).padding(kValid));
       })},
      {"Conv2d_same", module_case(+[] {
         return Conv2d(
             Conv2dOptions(1, 2, {2, 3}).padding(kSame).dilation({1, 2}));
       })},
      {"Conv2d_reflect", module_case(+[] {
         return Conv2d(
             Conv2dOptions(1, 2, 3).padding({1, 2}).padding_mode(kReflect));
       })},
      {"Conv2d_replicate", module_case(+[] {
         return Conv2d(
             Conv2dOptions(1, 2, 3).padding({2, 1}).stride(2).padding_mode(
                 kReplicate));
       })},
      {"Conv2d_same_circular", module_case(+[] {
         return Conv2d(Conv2dOptions(1, 2, {2, 3})
                           .padding(kSame)
                           .padding_mode(kCircular)
                           .dilation({1, 2}));
       })},
      {"Conv3d", module_case(+[] { return Conv3d(1, 2, 2); })},
      {"Conv3d_options", module_case(+[] {
         return Conv3d(Conv3dOptions(2, 2, {1, 2, 1})
                           .stride({1, 1, 2})
                           .padding({0, 1, 0})
                           .dilation({1, 2, 1})
                           .groups(2)
                           .bias(false));
       })},
      {"Conv3d_replicate", module_case(+[] {
         return Conv3d(Conv3dOptions(1, 1, 2).padding({0, 1, 2}).padding_mode(
             kReplicate));
       })},
  };
}

test::NnCases transposed_modules() {
  return {
      {"ConvTranspose1d",
       module_case(+[] { return ConvTranspose1d(2, 3, 2); })},
      {"ConvTranspose1d_options", module_case(+[] {
         return ConvTranspose1d(ConvTranspose1dOptions(4, 2, 3)
                                    .stride(3)
                                    .padding(1)
                                    .output_padding(2)
                                    .groups(2)
                                    .bias(false)
                                    .dilation(2));
       })},
      {"ConvTranspose2d",
       module_case(+[] { return ConvTranspose2d(2, 1, 2); })},
      {"ConvTranspose2d_options", module_case(+[] {
         return ConvTranspose2d(ConvTranspose2dOptions(2, 2, {2, 3})
                                    .stride({2, 1})
                                    .padding({1, 0})
                                    .output_padding({1, 0})
                                    .groups(2)
                                    .bias(false)
                                    .dilation({1, 2}));
       })},
      {"ConvTranspose2d_size",
       {[] {
          return ConvTranspose2d(ConvTranspose2dOptions(1, 1, {2, 3})
                                     .stride({3, 2})
                                     .padding({1, 0})
                                     .dilation({2, 1}))
              .ptr();
        },
        [](Module* m, In x) {
          auto* const conv = m->as<ConvTranspose2d>();
          return std::vector<Tensor>{
              conv->forward(x[0], IntArrayRef({6, 6})),
              conv->forward(x[0], IntArrayRef({1, 1, 4, 5}))};
        }}},
      {"ConvTranspose3d",
       module_case(+[] { return ConvTranspose3d(1, 2, 2); })},
      {"ConvTranspose3d_options", module_case(+[] {
         return ConvTranspose3d(ConvTranspose3dOptions(2, 2, {1, 2, 1})
                                    .stride({1, 1, 2})
                                    .padding({0, 1, 0})
                                    .output_padding({0, 0, 1})
                                    .groups(2)
                                    .bias(false)
                                    .dilation({1, 2, 1}));
       })},
  };
}

test::NnCases functions() {
  return {
      {"conv1d", function_case([](In x) { return F::conv1d(x[0], x[1]); })},
      {"conv1d_options", function_case([](In x) {
         return F::conv1d(x[0], x[1],
                          F::Conv1dFuncOptions()
                              .bias(x[2])
                              .stride(2)
                              .padding(1)
                              .dilation(2)
                              .groups(2));
       })},
      {"conv1d_same", function_case([](In x) {
         return F::conv1d(x[0], x[1], F::Conv1dFuncOptions().padding(kSame));
       })},
      {"conv2d", function_case([](In x) { return F::conv2d(x[0], x[1]); })},
      {"conv2d_options", function_case([](In x) {
         return F::conv2d(x[0], x[1],
                          F::Conv2dFuncOptions()
                              .bias(x[2])
                              .stride({2, 1})
                              .padding({1, 0})
                              .dilation({1, 2})
                              .groups(2));
       })},
      {"conv3d", function_case([](In x) { return F::conv3d(x[0], x[1]); })},
      {"conv3d_options", function_case([](In x) {
         return F::conv3d(x[0], x[1],
                          F::Conv3dFuncOptions()
                              .bias(x[2])
                              .stride({2, 1, 1})
                              .padding({1, 0, 0})
                              .dilation({1, 1, 2})
                              .groups(2));
       })},
      {"conv_transpose1d",
       function_case([](In x) { return F::conv_transpose1d(x[0], x[1]); })},
      {"conv_transpose1d_options", function_case([](In x) {
         return F::conv_transpose1d(x[0], x[1],
                                    F::ConvTranspose1dFuncOptions()
                                        .bias(x[2])
                                        .stride(3)
                                        .padding(1)
                                        .output_padding(2)
                                        .groups(2)
                                        .dilation(2));
       })},
      {"conv_transpose2d",
       function_case([](In x) { return F::conv_transpose2d(x[0], x[1]); })},
      {"conv_transpose2d_options", function_case([](In x) {
         return F::conv_transpose2d(x[0], x[1],
                                    F::ConvTranspose2dFuncOptions()
                                        .bias(x[2])
                                        .stride({2, 1})
                                        .padding({0, 1})
                                        .output_padding({1, 0})
                                        .groups(2)
                                        .dilation({1, 2}));
       })},
      {"conv_transpose3d",
       function_case([](In x) { return F::conv_transpose3d(x[0], x[1]); })},
      {"conv_transpose3d_options", function_case([](In x) {
         return F::conv_transpose3d(x[0], x[1],
                                    F::ConvTranspose3dFuncOptions()
                                        .bias(x[2])
                                        .stride({2, 1, 1})
                                        .padding({0, 1, 0})
                                        .output_padding({1, 0, 0})
                                        .groups(2)
                                        .dilation({1, 2, 1}));
       })},
  };
}

TEST(Conv, GivesWhatPyTorchGives) {
  test::NnCases all = plain_modules();
  all.merge(transposed_modules());
  all.merge(functions());
  test::check_recorded("conv.safetensors", all);
}

TEST(Conv, PrintsWhatPythonPrints) {
  EXPECT_EQ(printed(Conv1d(2, 3, 2)),
            "Conv1d(2, 3, kernel_size=(2,), stride=(1,))");
  EXPECT_EQ(printed(Conv2d(Conv2dOptions(2, 4, {1, 3})
                               .stride({2, 1})
                               .padding({0, 2})
                               .dilation({1, 2})
                               .groups(2)
                               .bias(false)
                               .padding_mode(kReflect))),
            "Conv2d(2, 4, kernel_size=(1, 3), stride=(2, 1), padding=(0, 2), "
            "dilation=(1, 2), groups=2, bias=False, padding_mode=reflect)");
  EXPECT_EQ(printed(Conv2d(Conv2dOptions(1, 1, 3).padding(kSame))),
            "Conv2d(1, 1, kernel_size=(3, 3), stride=(1, 1), padding=same)");
  EXPECT_EQ(printed(ConvTranspose3d(
                ConvTranspose3dOptions(1, 2, 2).stride(2).output_padding(1))),
            "ConvTranspose3d(1, 2, kernel_size=(2, 2, 2), stride=(2, 2, 2), "
            "output_padding=(1, 1, 1))");
}

TEST(Conv, StartsWithinOneOverTheRootOfFanIn) {
  const Conv2d m(Conv2dOptions(8, 200, {2, 2}).groups(2));  // fan_in is 16
  for (const Tensor& t : {m->weight, m->bias}) {
    EXPECT_LE(t.abs().max().item<float>(), 0.25f);
    EXPECT_GT(t.abs().max().item<float>(), 0.235f);
  }
}

TEST(Conv, ClonesHaveTheirOwnParameters) {
  const Conv2d m(1, 2, 3);
  const auto copy = clone(m.ptr());
  EXPECT_TRUE(equal(copy->weight, m->weight));
  EXPECT_TRUE(copy->get_parameter("weight").is_same(copy->weight));
  EXPECT_FALSE(copy->weight.is_same(m->weight));
}

TEST(Conv, NamesWrongOptions) {
  EXPECT_EQ(value_error([] { Conv2d(0, 3, 2); }),
            "[Conv2d] in_channels: expected at least 1, got 0");
  EXPECT_EQ(value_error([] { Conv1d(Conv1dOptions(2, 2, 2).groups(0)); }),
            "[Conv1d] groups: expected at least 1, got 0");
  EXPECT_EQ(value_error([] { Conv2d(Conv2dOptions(4, 3, 2).groups(2)); }),
            "[Conv2d] out_channels: expected a multiple of the 2 groups, "
            "got 3");
  EXPECT_EQ(value_error([] { Conv3d(Conv3dOptions(3, 4, 2).groups(2)); }),
            "[Conv3d] in_channels: expected a multiple of the 2 groups, got 3");
  EXPECT_EQ(value_error([] {
              Conv2d(Conv2dOptions(1, 1, 2).padding(kSame).stride({1, 2}));
            }),
            "[Conv2d] padding: 'same' expects a stride of 1, got [1, 2]");
  EXPECT_EQ(
      value_error([] {
        ConvTranspose2d(ConvTranspose2dOptions(1, 1, 2).padding_mode(kReflect));
      }),
      "[ConvTranspose2d] padding_mode: expected 'zeros', got 'reflect'");
  EXPECT_EQ(value_error([] {
              Conv2dOptions(1, 1, {1, 2, 3});
            }),
            "[ExpandingArray] expected one value or 2, got 3");
}

TEST(Conv, NamesAWrongOutputSize) {
  ConvTranspose2d m(ConvTranspose2dOptions(1, 1, 2).stride(2));
  const Tensor x = ones({1, 1, 2, 2});
  EXPECT_EQ(m->forward(x, IntArrayRef({5, 4})).sizes(),
            IntArrayRef({1, 1, 5, 4}));
  EXPECT_EQ(value_error([&] {
              m->forward(x, IntArrayRef({6, 4}));
            }),
            "[ConvTranspose2d] output_size: expected 4 to 5 in dimension 0, "
            "got 6");
  EXPECT_EQ(value_error([&] {
              m->forward(x, IntArrayRef({4, 4, 4}));
            }),
            "[ConvTranspose2d] output_size: expected 2 or 4 values, got "
            "[4, 4, 4]");
}

}  // namespace
}  // namespace sy::nn
